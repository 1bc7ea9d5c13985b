"""What no program of Ansible's sees before a real run: missing files, dead names, actions that a rehearsal must not do.

Each rule takes the parsed files of one site and says what is wrong. They follow the faults that syntax check and lint of
ansible-core 2.19 let pass when they were seeded on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from iacgen.diagnostics.model import Diagnostic

from ..findings import finding

_BUILTIN = "ansible.builtin."
# Names that Ansible and Jinja define by themselves, and those that a vault of the user's own may.
_GIVEN = re.compile(r"ansible_facts|inventory_hostname|groups|group_names|hostvars|playbook_dir|item|lookup|range|namespace|omit|vault_[a-z0-9_]+")
# Variables of Ansible itself that an inventory may set.
_CONNECTION = {"ansible_host"}
_SECRET_NAME = re.compile(r"(password|passwd|secret|token|_key|_key_b64)$")
_CHANGES_THE_SYSTEM = ("state", "daemon_reload", "daemon_reexec")


@dataclass(frozen=True)
class Parsed:
    """One site: paths below it, paths below the cluster's folder, YAML documents, and the names that Jinja asks for."""

    site: str
    files: frozenset[str]
    beside: frozenset[str]
    documents: Mapping[str, Any]
    names: Mapping[str, Mapping[str, list[str]]]

    @cached_property
    def roles(self) -> list[str]:
        """Names of the roles that have tasks."""
        return sorted({path.split("/")[1] for path in self.files if path.startswith("roles/") and "/tasks/" in path})

    def variables(self, role: str) -> dict[str, Any]:
        """Defaults and fixed variables of a role."""
        return {k: v for part in ("defaults", "vars") for k, v in (self.documents.get(f"roles/{role}/{part}/main.yml") or {}).items()}

    def tasks(self, role: str, part: str = "tasks") -> Iterator[tuple[str, dict[str, Any]]]:
        """(file, task) of a role, blocks opened; a task carries the conditions of the blocks around it."""
        for path, document in self.documents.items():
            if path.startswith(f"roles/{role}/{part}/"):
                yield from ((path, task) for task in _flat(document))

    @cached_property
    def groups(self) -> dict[str, Any]:
        """Groups of the inventory below ``all``."""
        return ((self.documents.get("inventory/hosts.yml") or {}).get("all") or {}).get("children") or {}

    @cached_property
    def inventory(self) -> dict[str, dict[str, Any]]:
        """Variable files of the inventory."""
        return {path: document or {} for path, document in self.documents.items() if path.startswith("inventory/group_vars/")}


def judge_files(parsed: Parsed) -> list[Diagnostic]:
    """All findings of all rules."""
    rules = (_files, _shipped, _handlers, _groups, _used, _names, _gates, _secrets)
    out: list[Diagnostic] = []
    for rule in rules:
        try:
            out += [finding(slug, f"{parsed.site}/{message}") for slug, message in rule(parsed)]
        except (AttributeError, KeyError, TypeError, ValueError) as error:  # YAML may hold anything
            out.append(finding("ansible-refused", f"{parsed.site}: a file of another form than Ansible's, {rule.__name__[1:]} cannot be told: {type(error).__name__}: {error}"))
    return out


def _flat(tasks: Any, when: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:
    for task in tasks or []:
        own = task.get("when", [])
        conditions = (*when, *(map(str, own) if isinstance(own, list) else (str(own),)))
        if "block" in task:
            for part in ("block", "rescue", "always"):
                yield from _flat(task.get(part), conditions)
        else:
            yield task | {"when": list(conditions)}


def _files(parsed: Parsed) -> Iterator[tuple[str, str]]:
    """Templates, files and task lists that a role names must be there."""
    for role in parsed.roles:
        for path, task in [*parsed.tasks(role), *parsed.tasks(role, "handlers")]:
            for module, folder in (("template", "templates"), ("copy", "files"), ("include_tasks", "tasks"), ("import_tasks", "tasks")):
                options = task.get(_BUILTIN + module) or {}
                name = options if isinstance(options, str) else options.get("src") or options.get("file") or ""
                if name and "{{" not in name and f"roles/{role}/{folder}/{name}" not in parsed.files:
                    yield "missing-role-file", f"{path}: {task.get('name')}: no {folder}/{name}"
            for name in re.findall(r"lookup\('ansible\.builtin\.template', '([^']+)'", str(task)):
                if f"roles/{role}/templates/{name}" not in parsed.files:
                    yield "missing-role-file", f"{path}: {task.get('name')}: no templates/{name}"


def _shipped(parsed: Parsed) -> Iterator[tuple[str, str]]:
    """Files of other targets that a role copies out of its folder ``<role>_source``; each GPU pool may have a folder of its own."""
    gpu_groups = (parsed.groups.get("gpu_hosts") or {}).get("children") or {}
    named = parsed.inventory.get("inventory/group_vars/all/cluster.yml", {}).get("cluster_pools") or []
    pools = [pool["name"] for pool in named if f"pool_{pool['name'].replace('-', '_')}" in gpu_groups]
    for role in sorted(_played(parsed)):
        variables = parsed.variables(role)
        source = re.fullmatch(r"\{\{ playbook_dir \}\}/\.\./\.\./([a-z]+)", str(variables.get(f"{role}_source", "")))
        for name in variables.get(f"{role}_files", []) if source else []:
            own = [f"{source[1]}/{pool}/{name}" for pool in pools]
            if f"{source[1]}/{name}" not in parsed.beside and (not own or not parsed.beside.issuperset(own)):
                yield "missing-role-file", f"roles/{role}: the tree has no {source[1]}/{name}"


def _played(parsed: Parsed) -> set[str]:
    """Roles of the plays that have a host."""

    def filled(name: str) -> bool:
        group = parsed.groups.get(name) or {}
        return "hosts" in group or any(child or filled(inner) for inner, child in (group.get("children") or {}).items())

    plays = [play for play in parsed.documents.get("site.yml") or [] if any(n == "all" or filled(n) for n in play["hosts"].split(":"))]
    return {role if isinstance(role, str) else role["role"] for play in plays for role in play.get("roles") or []}


def _handlers(parsed: Parsed) -> Iterator[tuple[str, str]]:
    """A task may notify a handler of its own role. Two of one name in a play: the last would win in silence."""
    seen: dict[str, str] = {}
    for role in parsed.roles:
        own = {name for _, handler in parsed.tasks(role, "handlers") for name in (handler.get("name"), handler.get("listen")) if name}
        for name in sorted(own):
            if name in seen:
                yield "unknown-handler-or-group", f"roles/{role}: role {seen[name]} has a handler of the same name, {name!r}"
            seen[name] = role
        for path, task in [*parsed.tasks(role), *parsed.tasks(role, "handlers")]:
            notified = task.get("notify") or []
            for name in [notified] if isinstance(notified, str) else notified:
                if name not in own:
                    yield "unknown-handler-or-group", f"{path}: {task.get('name')}: no handler {name!r}"


def _groups(parsed: Parsed) -> Iterator[tuple[str, str]]:
    """Groups and roles that the playbook names."""

    def below(node: dict[str, Any]) -> Iterator[str]:
        for name, child in (node.get("children") or {}).items():
            yield name
            yield from below(child or {})

    known = {"all", *below({"children": parsed.groups})}
    for play in parsed.documents.get("site.yml") or []:
        for name in re.split(r"[:,]", play.get("hosts", "")):
            if name.strip("&!") not in known:
                yield "unknown-handler-or-group", f"site.yml: {play.get('name')}: no group {name.strip('&!')}"
        for role in play.get("roles") or []:
            name = role if isinstance(role, str) else role["role"]
            if name not in parsed.roles:
                yield "missing-role-file", f"site.yml: {play.get('name')}: no role {name}"


def _used(parsed: Parsed) -> Iterator[tuple[str, str]]:
    """A variable of the inventory is a role's own, or one for all that something asks for. A misspelt one would be ignored."""
    defaults = {name for role in parsed.roles for name in parsed.documents.get(f"roles/{role}/defaults/main.yml") or {}}
    asked = {name for names in parsed.names.values() for name in names["variables"]}
    for path, document in parsed.inventory.items():
        for name in document:
            if name not in defaults | _CONNECTION and not (name.startswith("cluster_") and name in asked):
                yield "unused-variable", f"{path}: no role takes {name}"


def _names(parsed: Parsed) -> Iterator[tuple[str, str]]:
    """Filters and tests exist; a variable is the role's, its inventory's, registered, or Ansible's."""
    shared = {name for document in parsed.inventory.values() for name in document if name.startswith("cluster_")} | {"cluster_live"}
    for path, names in parsed.names.items():
        for kind in ("filters", "tests"):
            for name in names[kind]:
                yield "broken-expression", f"{path}: no {kind[:-1]} {name}"
        role = path.split("/")[1] if path.startswith("roles/") else ""
        known = shared | (set(parsed.variables(role)) | _registered(parsed, role) if role else {"cluster_pool"})
        for name in names["variables"]:
            if name not in known and not _GIVEN.fullmatch(name):
                yield "broken-expression", f"{path}: nothing defines {name}"


def _registered(parsed: Parsed, role: str) -> set[str]:
    tasks = [task for _, task in parsed.tasks(role)]
    loops = {task.get("loop_control", {}).get("loop_var") for task in tasks}
    return {task["register"] for task in tasks if "register" in task} | {name for name in loops if name}


def _gates(parsed: Parsed) -> Iterator[tuple[str, str]]:
    """What touches the running system stands behind ``cluster_live``, so that a rehearsal in a chroot cannot."""
    for role in parsed.roles:
        tasks = [*parsed.tasks(role), *parsed.tasks(role, "handlers")]
        gated_lists = {str(task[_BUILTIN + "include_tasks"]) for _, task in tasks if _BUILTIN + "include_tasks" in task and _gated(task)}
        for path, task in tasks:
            service, where = task.get(_BUILTIN + "systemd_service") or {}, f"{path}: {task.get('name')}"
            if _BUILTIN + "service" in task:
                yield "ungated-action", f"{where}: service falls back to init scripts; systemd_service does not"
            acts = any(key in service for key in _CHANGES_THE_SYSTEM) or _BUILTIN + "hostname" in task
            acts |= any(_BUILTIN + module in task for module in ("command", "shell")) and task.get("changed_when") is not False
            if acts and not _gated(task) and path.rsplit("/", 1)[1] not in gated_lists:
                yield "ungated-action", f"{where}: not behind cluster_live"


def _gated(task: dict[str, Any]) -> bool:
    return any("cluster_live" in condition for condition in task["when"])


def _secrets(parsed: Parsed) -> Iterator[tuple[str, str]]:
    """A secret is a reference, never a value."""

    def walk(value: Any, name: str) -> Iterator[str]:
        if isinstance(value, dict):
            for key, item in value.items():
                yield from walk(item, str(key))
        elif isinstance(value, list):
            for item in value:
                yield from walk(item, name)
        elif isinstance(value, str) and "PRIVATE KEY" in value or isinstance(value, str) and _SECRET_NAME.search(name) and value and "{{" not in value:
            yield name

    for path, document in parsed.documents.items():
        if "/meta/" not in path and "/tasks/" not in path and "/handlers/" not in path:
            for name in walk(document, ""):
                yield "secret-in-tree", f"{path}: {name} holds a value"
