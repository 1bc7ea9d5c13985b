"""Ask a subnet manager, in one process, what its tools ask in one process each: P_Key tables, and the service level of each path.

    python subnet_probe.py FOLDER SM_LID SA_KEY

under LD_PRELOAD=libumad2sim.so. FOLDER has ``lids`` (of adapters) and may have ``pairs`` (from, to: two LIDs each), big-endian 16-bit
numbers. Writes ``pkeys`` (32 such numbers an adapter) and, of the pairs, ``levels`` (a byte each, 255 without a path) and ``again``
(rows of REPEATS bytes: the levels of some pair, asked that often). Prints one line: the word PROBE and a JSON object.

Records and their offsets: InfiniBand Architecture Specification, volume 1, chapter 15 (subnet administration).
"""

import ctypes
import json
import struct
import sys
import time
from pathlib import Path

CLASS, VERSION, GET, ANSWER = 3, 2, 0x01, 0x81
PATH_RECORD, PKEY_RECORD = 0x35, 0x33
TO_LID, FROM_LID, ONE_PATH = 1 << 4, 1 << 5, 1 << 12  # component mask of a PathRecord
LID, BLOCK, PORT = 1 << 0, 1 << 1, 1 << 2  # component mask of a P_KeyTableRecord
HEADER, SIZE = 56, 256
QKEY = 0x80010000
WINDOW = 64  # questions under way at once
PATIENCE_S = 30.0
SAMPLES, REPEATS = 64, 24
PORTION = 4096  # answers held in memory at once


class Administration:
    """The subnet administration at ``lid``, through libibumad."""

    def __init__(self, lid, key):
        self.umad = ctypes.CDLL("libibumad.so.3", use_errno=True)
        self.lid, self.key = lid, key
        self.umad.umad_init()
        self.port = self.umad.umad_open_port(None, 0)
        self.agent = self.umad.umad_register(self.port, CLASS, VERSION, 0, None) if self.port >= 0 else -1
        if self.agent < 0:
            sys.exit("no port to ask through: is libumad2sim.so preloaded, and a simulator running?")
        self.at = self.umad.umad_size()
        self.out, self.into = (bytearray(self.at + SIZE) for _ in range(2))
        self.sending, self.receiving = ((ctypes.c_char * len(b)).from_buffer(b) for b in (self.out, self.into))
        self.length = ctypes.c_int()

    def _address(self, attribute, mask):
        """What all questions of one kind share."""
        struct.pack_into(">BBBBHHQHHI12xQHHQ", self.out, self.at, 1, CLASS, VERSION, GET, 0, 0, 0, attribute, 0, 0, self.key, 0, 0, mask)
        self.umad.umad_set_addr(self.sending, self.lid, 1, 0, QKEY)

    def _send(self, number, record):
        struct.pack_into(">Q", self.out, self.at + 8, number)
        self.out[self.at + HEADER : self.at + HEADER + len(record)] = record
        if self.umad.umad_send(self.port, self.agent, self.sending, SIZE, 1000, 0):
            sys.exit(f"a question was not sent: errno {ctypes.get_errno()}")

    def _receive(self):
        """(number, record) of the next answer, record None for a refusal; None when none comes within a second."""
        self.length.value = SIZE
        if self.umad.umad_recv(self.port, self.receiving, ctypes.byref(self.length), 1000) < 0:
            return None
        method, status, number = struct.unpack_from(">3xBH6xI", self.into, self.at)
        good = method == ANSWER and not status
        return number, bytes(self.into[self.at + HEADER : self.at + SIZE]) if good else None

    def ask(self, attribute, mask, records):
        """The answer to each record, in order; None where the answer is a refusal."""
        answers, waiting, sent, last = {}, {}, 0, time.monotonic()
        total = len(records)
        self._address(attribute, mask)
        while len(answers) < total:
            while sent < total and len(waiting) < WINDOW:
                waiting[sent] = records[sent]
                self._send(sent, records[sent])
                sent += 1
            got = self._receive()
            if got is None:
                if time.monotonic() - last > PATIENCE_S:
                    sys.exit(f"{total - len(answers)} questions were not answered")
                for number, record in waiting.items():
                    self._send(number, record)
            elif waiting.pop(got[0], None) is not None:
                answers[got[0]] = got[1]
                last = time.monotonic()
        return [answers[number] for number in range(total)]

    def keys(self, lids):
        """The first block of the P_Key table of port 1 at each LID."""
        answers = self.ask(PKEY_RECORD, LID | BLOCK | PORT, [struct.pack(">HHB", lid, 0, 1) for lid in lids])
        return b"".join(bytes(64) if a is None else a[8:72] for a in answers)

    def levels(self, pairs):
        """The service level of the path of each (from, to) pair of LIDs; 255 where there is no path."""
        records = [struct.pack(">8x16x16xHH4xBB", far, near, 0, 1) for near, far in pairs]
        answers = self.ask(PATH_RECORD, TO_LID | FROM_LID | ONE_PATH, records)
        return bytes(255 if a is None else a[53] & 15 for a in answers)


def numbers(file):
    """Big-endian 16-bit numbers."""
    data = file.read_bytes()
    return struct.unpack(f">{len(data) // 2}H", data)


def main(folder, lid, key):
    folder, asked = Path(folder), Administration(int(lid), int(key))
    lids = numbers(folder / "lids")
    (folder / "pkeys").write_bytes(asked.keys(lids))
    if (folder / "pairs").exists():
        flat = numbers(folder / "pairs")
        pairs = list(zip(flat[::2], flat[1::2], strict=True))
        levels = b"".join(asked.levels(pairs[i : i + PORTION]) for i in range(0, len(pairs), PORTION))
        (folder / "levels").write_bytes(levels)
        again = []
        for level in sorted({*levels} - {255}):
            of_level = [i for i in range(len(levels)) if levels[i] == level]
            chosen = of_level[:: max(1, len(of_level) // SAMPLES)][:SAMPLES]
            again.append(asked.levels([pairs[i] for i in chosen for _ in range(REPEATS)]))
        (folder / "again").write_bytes(b"".join(again))
    print("PROBE", json.dumps({"adapters": len(lids)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
