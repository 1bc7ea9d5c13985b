"""The roles as text: each says what it takes, keeps to its own names, and uses nothing but Ansible's own modules."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from iacgen.verify import programs

STATIC = Path(__file__).parents[2] / "templates" / "ansible" / "static"
ROLES = sorted(path.name for path in (STATIC / "roles").iterdir())
KEYWORDS = {"name", "when", "loop", "loop_control", "register", "notify", "changed_when", "failed_when", "check_mode", "no_log", "block", "rescue", "vars"}


def load(role, part):
    path = STATIC / "roles" / role / part
    return yaml.safe_load(path.read_text()) if path.exists() else None


def flat(tasks):
    for task in tasks or []:
        yield task
        for part in ("block", "rescue", "always"):
            yield from flat(task.get(part))


def tasks_of(role):
    for path in sorted((STATIC / "roles" / role).glob("tasks/*.yml")):
        yield from flat(yaml.safe_load(path.read_text()))
    yield from flat(load(role, "handlers/main.yml"))


@pytest.mark.parametrize("role", ROLES)
def test_every_variable_has_a_default_and_a_description(role):
    defaults = load(role, "defaults/main.yml")
    options = load(role, "meta/argument_specs.yml")["argument_specs"]["main"]["options"]
    assert defaults.keys() == options.keys()
    assert all(option["description"] and option["type"] for option in options.values())


@pytest.mark.parametrize("role", ROLES)
def test_defaults_are_of_the_type_that_they_promise(role):
    types = {"str": str, "int": int, "bool": bool, "list": list, "dict": dict}
    options = load(role, "meta/argument_specs.yml")["argument_specs"]["main"]["options"]
    for name, value in load(role, "defaults/main.yml").items():
        assert type(value) is types[options[name]["type"]], name


@pytest.mark.parametrize("role", ROLES)
def test_names_carry_the_role(role):
    names = {*load(role, "defaults/main.yml"), *(load(role, "vars/main.yml") or {}), *(t["register"] for t in tasks_of(role) if "register" in t)}
    assert all(name.startswith(f"{role}_") for name in names), names


@pytest.mark.parametrize("role", ROLES)
def test_only_modules_of_ansible_itself(role):
    """Then the tree needs ansible-core alone: no collection has to be fetched before it runs."""
    used = {key for task in tasks_of(role) for key in task} - KEYWORDS
    assert used and all(re.fullmatch(r"ansible\.builtin\.[a-z0-9_]+", key) for key in used), used


@pytest.mark.parametrize("role", ROLES)
def test_a_refusal_says_what_to_do(role):
    for task in tasks_of(role):
        options = task.get("ansible.builtin.assert")
        assert options is None or len(options["fail_msg"]) > 40, task["name"]


@pytest.mark.parametrize("role", ROLES)
def test_files_have_an_owner_and_a_quoted_mode(role):
    """An unquoted 0644 is the number 420."""
    for task in tasks_of(role):
        for module in ("template", "copy", "file", "blockinfile"):
            options = task.get(f"ansible.builtin.{module}")
            if options:
                assert re.fullmatch("0[0-7]{3}", options["mode"]), task["name"]
                assert {"owner", "group"} <= options.keys(), task["name"]


def test_every_role_is_played_and_tagged():
    played = {role["role"]: role["tags"] for play in yaml.safe_load((STATIC / "site.yml").read_text()) for role in play["roles"]}
    assert sorted(played) == ROLES
    assert all(played.values())


def test_subnet_managers_change_one_at_a_time():
    plays = {role["role"]: play for play in yaml.safe_load((STATIC / "site.yml").read_text()) for role in play["roles"]}
    assert plays["opensm"]["serial"] == 1


def test_two_subnet_managers_on_a_host_share_no_file_of_lids():
    """OpenSM keeps guid2lid in OSM_CACHE_DIR and its dumps in OSM_TMP_DIR, by default the same for every one on a host (opensm(8))."""
    unit = (STATIC / "roles/opensm/files/opensm-fabric@.service").read_text()
    (variables,) = re.findall(r"^Environment=(.*)$", unit, re.MULTILINE)
    assert dict(word.split("=") for word in variables.split()) == {"OSM_CACHE_DIR": "/var/cache/opensm/%i/", "OSM_TMP_DIR": "/var/log/opensm/%i/"}
    assert "\nCacheDirectory=opensm/%i\n" in unit and "\nLogsDirectory=opensm/%i\n" in unit  # systemd makes them


@pytest.mark.judge("ansible")
def test_the_guid_of_a_port_is_read_off_its_device(tmp_path):
    """By Ansible itself, from what its module slurp gives of gids/0; a device that was not asked has none."""
    gid = "ZmU4MDowMDAwOjAwMDA6MDAwMTowYzQyOmExMDM6MDBhMTpiMmMzCg=="  # fe80:0000:0000:0001:0c42:a103:00a1:b2c3 and the end of a line
    results = [{"item": {"name": "compute.rail4"}, "content": gid}, {"item": {"name": "compute.rail5"}, "skipped": True}]
    given = tmp_path / "given.json"
    given.write_text(json.dumps({"opensm_gids": {"results": results}, "opensm_fabrics": []}))
    program = programs.find("ansible").path / "ansible"
    words = [program, "localhost", "-c", "local", "-m", "ansible.builtin.debug", "-a", "var=opensm_port_read", "-e", f"@{STATIC / 'roles/opensm/vars/main.yml'}", "-e", f"@{given}"]
    answer = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "ANSIBLE_NOCOLOR": "1", "LC_ALL": "C.UTF-8"})
    assert json.loads(answer.stdout.partition("=>")[2])["opensm_port_read"] == {"compute.rail4": "0x0c42a10300a1b2c3"}, answer.stdout + answer.stderr


def test_the_fabric_comes_before_the_storage_and_the_storage_before_slurm():
    order = [role["role"] for play in yaml.safe_load((STATIC / "site.yml").read_text()) for role in play["roles"]]
    wanted = ["preflight", "base", "doca_ofed", "ib_host", "opensm", "lnet", "lustre_server", "lustre_client", "munge", "slurm"]
    assert sorted(wanted, key=order.index) == wanted
    assert order.index("doca_ofed") < order.index("nvidia_driver") < order.index("slurm")  # nvidia_peermem builds against the RDMA stack


def test_formatting_is_off_unless_somebody_says_so():
    assert load("lustre_server", "defaults/main.yml")["lustre_server_format_allowed"] is False
    assert not [path for path in STATIC.rglob("*") if path.is_file() and "lustre_server_format_allowed: true" in path.read_text()]
