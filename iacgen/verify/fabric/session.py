"""A real opensm at work in ibsim: started in a scratch folder, asked while it runs, always stopped."""

from __future__ import annotations

import contextlib
import secrets
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..process import Completed, clean_environment, run
from .netlist import netlist, node_id, sizes
from .plan import Plan
from .settings import Script, Settings, for_sandbox

UP = "SUBNET UP"
_TICK_S = 0.05
_ATTACH_S = 30.0  # for ibsim to read a netlist of some thousand nodes
_SETTLE_S = 180.0  # for the dumps, which follow SUBNET UP
_STILL = 3  # looks without growth
_PORTION = 1 << 24
_GRACE_S = 15.0
DUMPS = ("opensm-subnet.lst", "opensm.fdbs", "opensm.mcfdbs", "opensm-lfts.dump")
LANES = "opensm-sl2vl.dump"  # written only where service levels are mapped to lanes


class SimulatorError(Exception):
    """ibsim does not take the netlist, or a program does not start: the message has its own words."""


@dataclass(frozen=True)
class Programs:
    """What a session runs: two daemons, the library by which a program attaches to ibsim, the tools that look and ask."""

    opensm: Path
    ibsim: Path
    umad2sim: Path
    ibnetdiscover: Path
    saquery: Path
    ibdmchk: Path


@dataclass(frozen=True)
class Live:
    """A running session. ``up`` says whether the log had SUBNET UP in time; ``seconds`` is how long that took, or was waited for."""

    folder: Path
    up: bool
    seconds: float
    environment: Mapping[str, str]

    @property
    def log(self) -> str:
        """What opensm has logged by now."""
        return _read(self.folder / "osm.log")

    def ask(self, *words: str | Path, timeout: float = 180.0) -> Completed:
        """Run a program that attaches to this simulator at the manager's adapter."""
        return run(words, cwd=self.folder, env=self.environment, timeout=timeout)


@contextlib.contextmanager
def session(plan: Plan, settings: Settings, folder: Path, programs: Programs, within_s: float = 120.0) -> Iterator[Live]:
    """opensm with ``settings`` on the wiring of ``plan``, in the empty ``folder``; given when the subnet is up or the time is over.

    The routes and lanes lie in ``folder`` as :data:`DUMPS` when the subnet is up. Leaving the block ends opensm and then ibsim.
    Raises SimulatorError.
    """
    folder = folder.resolve()  # opensm loses a relative path when it changes its folder
    (folder / "fabric.net").write_text(netlist(plan), encoding="utf-8")
    name = f"iacgen{secrets.token_hex(6)}"
    simulated = {"IBSIM_SOCKNAME": name, "OSM_TMP_DIR": f"{folder}/", "OSM_CACHE_DIR": f"{folder}/"}
    attached = simulated | {"LD_PRELOAD": str(programs.umad2sim), "SIM_HOST": node_id(plan, plan.adapters[0])}
    with contextlib.ExitStack() as stack:
        simulator = stack.enter_context(_daemon((programs.ibsim, "-s", "-n", *sizes(plan), folder / "fabric.net"), folder, simulated, "ibsim.out"))
        _await_socket(simulator, name, folder)
        if settings.script:
            settings = _with_guids(settings, settings.script, folder, attached, programs)
        conf = for_sandbox(settings, plan, folder)
        began = time.monotonic()
        manager = stack.enter_context(_daemon((programs.opensm, "-F", conf, "-e"), folder, attached, "osm.out"))
        up = _await_line(manager, folder / "osm.log", began + within_s)
        seconds = time.monotonic() - began
        if up:
            _await_dumps(folder, (*DUMPS, LANES) if settings.lanes else DUMPS)
        yield Live(folder, up, seconds, attached)


@contextlib.contextmanager
def _daemon(words: tuple[str | Path, ...], folder: Path, env: Mapping[str, str], out: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program in the background with its words in a file; on leaving it is asked to end, and made to."""
    with (folder / out).open("wb") as said:
        argv = [str(word) for word in words]
        process = subprocess.Popen(argv, cwd=folder, env=clean_environment(env), stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(_GRACE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _with_guids(settings: Settings, script: Script, folder: Path, env: Mapping[str, str], programs: Programs) -> Settings:
    """The settings with the GUIDs that the tree's own script reads off the fabric; it needs no subnet manager. Raises SimulatorError."""
    (folder / "guids.sh").write_text(script.text, encoding="utf-8")
    (folder / "plan.csv").write_text(script.names, encoding="utf-8")
    prefix = folder / Path(script.prefix).name
    scan = run((programs.ibnetdiscover,), cwd=folder, env=env, timeout=_SETTLE_S)
    (folder / "scan.txt").write_text(scan.out, encoding="utf-8")
    answer = run(("sh", "-c", 'sh guids.sh plan.csv "$0" <scan.txt', prefix), cwd=folder, timeout=_SETTLE_S)
    if not answer.ok:
        raise SimulatorError(f"guids.sh does not know the fabric: {'; '.join(answer.err.strip().splitlines()[:3])}")
    made = {f"{script.prefix}-{path.name.removeprefix(f'{prefix.name}-')}": path.read_text(encoding="utf-8") for path in folder.glob(f"{prefix.name}-*-guids")}
    for key, file in settings.keys.items():
        if key.endswith("_guid_file") and file.startswith(f"{script.prefix}-") and file not in made:
            raise SimulatorError(f"guids.sh does not write {file}, which {key} names")
    return replace(settings, files={**settings.files, **made})


def _await_socket(simulator: subprocess.Popen[bytes], name: str, folder: Path) -> None:
    end = time.monotonic() + _ATTACH_S
    while f"@{name}:ctl" not in _read(Path("/proc/net/unix")):
        if simulator.poll() is not None or time.monotonic() > end:
            raise SimulatorError(f"ibsim does not take the netlist: {_last_words(_read(folder / 'ibsim.out'))}")
        time.sleep(_TICK_S)


def _await_line(manager: subprocess.Popen[bytes], log: Path, end: float) -> bool:
    while time.monotonic() < end:
        ended = manager.poll() is not None
        if UP in _read(log):
            return True
        if ended:
            return False
        time.sleep(_TICK_S)
    return UP in _read(log)


def _await_dumps(folder: Path, names: Sequence[str]) -> None:
    """Wait until every dump is there, every switch's table has its last line, and nothing grows any more. Raises SimulatorError."""
    end, before, still = time.monotonic() + _SETTLE_S, [-1], 0
    while time.monotonic() < end:
        now = [path.stat().st_size if (path := folder / name).exists() else -1 for name in names]
        still = still + 1 if now == before and min(now) >= 0 else 0
        if still >= _STILL:
            tables = folder / "opensm-lfts.dump"
            if 0 < _count(tables, b"Unicast lids") == _count(tables, b" lids dumped"):
                return
        before = now
        time.sleep(2 * _TICK_S)
    raise SimulatorError(f"opensm wrote no complete routes within {_SETTLE_S:.0f} s")


def _count(path: Path, word: bytes) -> int:
    """How often a word stands in a file, which may be larger than what is good to hold."""
    with path.open("rb") as file:
        found, kept = 0, b""
        while portion := file.read(_PORTION):
            text = kept + portion
            found += text.count(word)
            kept = text[len(text) - len(word) + 1 :]
        return found


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _last_words(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join(lines[-3:]) or "it says nothing"
