"""Let libnccl read its configuration, then say what it read. Runs in the interpreter that has NCCL; stands alone.

    python nccl_probe.py LIBNCCL NAME...

NCCL_CONF_FILE and HOME in the environment say which files are read. ncclGetUniqueId loads them before anything else and needs
no GPU. Prints one line: the word PROBE and a JSON object with ``code`` (ncclResult_t), ``version`` (such as 23203), ``values``
(name → what the process environment then holds, or null) and, when names were asked for, ``strings`` (every NCCL_* name inside the library).
"""

import ctypes
import json
import mmap
import re
import sys


def strings(library):
    """Whole strings of the binary that look like a name: the compiler stores each name NCCL asks for as one."""
    with open(library, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as binary:
        return sorted({name.decode() for name in re.findall(rb"\0(NCCL_[A-Z0-9_]+)(?=\0)", binary)})


def main(library, *names):
    nccl, libc = ctypes.CDLL(library), ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_char_p
    version = ctypes.c_int()
    nccl.ncclGetVersion(ctypes.byref(version))
    code = nccl.ncclGetUniqueId(ctypes.create_string_buffer(128))
    values = {}
    for name in names:
        value = libc.getenv(name.encode())
        values[name] = None if value is None else value.decode("utf-8", "replace")
    print("PROBE", json.dumps({"code": code, "version": version.value, "values": values, "strings": strings(library) if names else []}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
