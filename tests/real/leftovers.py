"""What a test run left behind: daemons, marked processes, listening sockets.

    leftovers.py before > FILE          note what is there
    leftovers.py after FILE [SECONDS]   name what is new and stays so for 5 or so many seconds, exit 1 if anything is

Every process that inherits IACGEN_RUN with this process's value counts as started by the run, whatever its name; the judges'
daemons count by name too, should one be started with an environment of its own. Linux only, standard library only.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

MARK = "IACGEN_RUN"
DAEMONS = ("slurmctld", "slurmd", "slurmstepd", "munged", "terraform", "moto")
_PATIENCE_S = 5.0  # daemons that were told to stop may still be at it
_LISTEN = "0A"  # TCP_LISTEN in the kernel's include/net/tcp_states.h


def listeners() -> set[str]:
    """Local TCP addresses that listen, such as ``127.0.0.1:6817``."""
    found = set()
    for table in ("tcp", "tcp6"):
        file = Path("/proc/net", table)
        for line in file.read_text().splitlines()[1:] if file.exists() else ():
            _, local, _, state, *_ = line.split()
            if state == _LISTEN:
                found.add(_address(*local.split(":")))
    return found


def _address(words: str, port: str) -> str:
    """The kernel prints an address as 32-bit words, each in the machine's own byte order."""
    packed = b"".join(int(words[i : i + 8], 16).to_bytes(4, sys.byteorder) for i in range(0, len(words), 8))
    family = socket.AF_INET if len(packed) == 4 else socket.AF_INET6
    return f"{socket.inet_ntop(family, packed)}:{int(port, 16)}"


def processes() -> Iterator[tuple[int, str]]:
    """Process id and words of every process that runs: this one and its ancestors left out, and zombies too, which have no words."""
    ours = set(_ancestors(os.getpid()))
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except OSError:
            continue
        if words and int(folder.name) not in ours:
            yield int(folder.name), words


def _ancestors(pid: int) -> Iterator[int]:
    while pid > 0:
        yield pid
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def marked(pid: int) -> bool:
    mark = os.environ.get(MARK)
    try:
        return bool(mark) and f"{MARK}={mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def is_daemon(words: str) -> bool:
    """A judge's daemon, also one that an interpreter runs: ``python moto_server``."""
    return any(Path(word).name.startswith(DAEMONS) for word in words.split()[:4])


def left_behind(before: dict[str, list]) -> list[str]:
    """What is new against ``before``, one line each."""
    known = set(before["daemons"])
    running = [
        f"process {pid}: {words[:200]}"
        for pid, words in processes()
        if marked(pid) or (pid not in known and is_daemon(words))
    ]
    return sorted(running) + [f"listening on {a}" for a in sorted(listeners() - set(before["listeners"]))]


def main(argv: list[str]) -> int:
    if argv == ["before"]:
        json.dump({"daemons": [p for p, words in processes() if is_daemon(words)], "listeners": sorted(listeners())}, sys.stdout)
        return 0
    before = json.loads(Path(argv[1]).read_text())
    end = time.monotonic() + (float(argv[2]) if len(argv) > 2 else _PATIENCE_S)
    while (left := left_behind(before)) and time.monotonic() < end:
        time.sleep(0.2)
    for line in left:
        print(f"left behind: {line}", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
