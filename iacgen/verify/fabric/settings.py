"""opensm's settings: as the tree has them, or from a few parameters; and the same made runnable in a scratch folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .plan import Plan

# Files that opensm reads and that only these keys name; each is laid beside the settings under its own base name.
_FILES = ("root_guid_file", "cn_guid_file", "io_guid_file", "guid_routing_order_file", "partition_config_file", "qos_policy_file", "torus_config")
# What names a port, a file or a habit of the real machine. All other keys reach opensm as they stand.
_MACHINE = frozenset(("guid", "log_file", "log_flags", "force_log_flush", "dump_files_dir", "sweep_interval", "daemon", "accum_log_file", *_FILES))
ROUTES = "0x43"  # log flags: errors, information, and the dumps of the routes


@dataclass(frozen=True)
class Script:
    """guids.sh and the plan that it reads names from: it writes files of GUIDs whose paths begin with ``prefix``."""

    text: str
    names: str
    prefix: str


@dataclass(frozen=True)
class Settings:
    """``keys`` of opensm.conf, in order, and the text of each file that one of them names (by the path that is written there).

    With a ``script`` the files of GUIDs are what it reads off the fabric before opensm starts.
    """

    keys: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    script: Script | None = None

    @property
    def engines(self) -> tuple[str, ...]:
        """The routing engines in the order in which they are tried, without the word ``no_fallback``."""
        return tuple(engine for engine in self._engines if engine != "no_fallback")

    @property
    def may_fall_back(self) -> bool:
        """True when opensm takes minhop without being asked, should no engine of the list work."""
        return "no_fallback" not in self._engines and "minhop" not in self.engines

    @property
    def _engines(self) -> list[str]:
        return [engine.strip() for engine in self.keys.get("routing_engine", "").split(",") if engine.strip()]

    @property
    def lanes(self) -> bool:
        """Whether service levels are mapped to lanes, so that an engine may break cycles by them."""
        return self.keys.get("qos", "FALSE").upper() == "TRUE"

    @property
    def absent(self) -> tuple[str, ...]:
        """Keys that name a file which the tree has not, and its script does not write."""
        made = self.script.prefix if self.script else None
        named = [key for key in _FILES if key in self.keys and self.keys[key] not in self.files]
        return tuple(key for key in named if not (made and self.keys[key].startswith(f"{made}-") and key.endswith("guid_file")))

    @property
    def relative(self) -> tuple[str, ...]:
        """Keys that name a file by a relative path, which opensm loses when it changes its folder."""
        return tuple(key for key in _FILES if key in self.keys and not self.keys[key].startswith("/"))


def parse(text: str) -> dict[str, str]:
    """The keys of an opensm.conf. A key that stands twice has its last value, as for opensm."""
    found = (re.match(r"\s*([a-z][a-z0-9_]*)\s+(\S.*?)\s*$", line) for line in text.splitlines() if not line.lstrip().startswith("#"))
    return {match[1]: match[2] for match in found if match}


def guids(values: list[int]) -> str:
    """A file of GUIDs, one a line."""
    return "".join(f"{value:#018x}\n" for value in values)


def planned(plan: Plan, engine: str, partitions: str | None = None, lanes: bool = False, computes: bool = False) -> Settings:
    """Settings from parameters: the engine alone (no fallback), the roots of a tree, the partitions; every lane that there is with ``lanes``,
    and with ``computes`` the ports that carry ranks, where there are others: ftree balances its routes for those alone."""
    keys = {"routing_engine": f"{engine},no_fallback", "lmc": "0", "max_wire_smps": "64", "transaction_timeout": "1000"}
    keys |= {"qos": "TRUE"} if lanes else {}
    files = {}
    if plan.roots and len(plan.tiers) > 1:
        keys["root_guid_file"] = "/etc/opensm/root-guid.conf"
        files[keys["root_guid_file"]] = guids([plan.guids[name] for name in plan.roots])
    if computes and plan.roots and len(plan.tiers) > 1 and len(plan.order) < len(plan.adapters):
        keys["cn_guid_file"] = "/etc/opensm/cn-guid.conf"
        files[keys["cn_guid_file"]] = guids([plan.port_guid(name) for name in plan.order])
    if partitions is not None:
        keys["partition_config_file"] = "/etc/opensm/partitions.conf"
        files[keys["partition_config_file"]] = partitions
    return Settings(keys, files)


def for_sandbox(settings: Settings, plan: Plan, folder: Path) -> Path:
    """Write opensm.conf and its files into ``folder``: paths there, the manager's port of the plan; a file that is missing stays so."""
    keys = {key: value for key, value in settings.keys.items() if key not in _MACHINE}
    for key in _FILES:
        if key not in settings.keys:
            continue
        place = folder / f"{key}.conf"
        if (text := settings.files.get(settings.keys[key])) is not None:
            place.write_text(text, encoding="utf-8")
        keys[key] = str(place)
    keys.setdefault("partition_config_file", str(folder / "none.conf"))  # opensm's default is a file of this machine
    keys |= {
        "guid": f"{plan.port_guid(plan.adapters[0]):#018x}",
        "log_file": str(folder / "osm.log"),
        "log_flags": ROUTES,
        "force_log_flush": "TRUE",  # else a watcher may never see the line that it waits for
        "dump_files_dir": str(folder),
        "sweep_interval": "0",
        "accum_log_file": "FALSE",
    }
    conf = folder / "opensm.conf"
    conf.write_text("".join(f"{key} {value}\n" for key, value in keys.items()), encoding="utf-8")
    return conf
