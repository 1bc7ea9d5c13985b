"""Chromium without a window, on a profile of its own, behind a proxy that answers nothing and counts what was asked of it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from iacgen.verify import programs

# What a browser would ask of its maker on its own account.
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-default-apps", "--disable-extensions", "--disable-sync", "--metrics-recording-only", "--no-default-browser-check",
    "--disable-features=OptimizationHints,MediaRouter,Translate,AutofillServerCommunication,CertificateTransparencyComponentUpdater",
)  # fmt: skip
OF_ITS_MAKER = re.compile(r"(?:CONNECT |https?://)[a-z0-9.-]*\.(?:google|googleapis|gstatic|gvt1)\.com[:/]")
"""Asked on the browser's own account, whatever page it shows and whatever options it has; a test proves that the page names none of them."""
SCHEMES = {"dark": "0", "light": "1"}  # of Blink's preferredColorScheme


@dataclass(frozen=True)
class Shown:
    """A page as the browser has it once it is at rest: its elements, what the console says, and what was asked of the network."""

    dom: str
    console: list[str]
    asked: list[str]


@contextmanager
def counting_proxy() -> Iterator[tuple[int, list[str]]]:
    """A proxy's port on this machine, and the first words of each request."""
    asked: list[str] = []

    class Refuse(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            asked.append(self.rfile.readline(2000).decode("latin-1").strip())
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Refuse)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1], asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def show(page: Path, width: int, scheme: str) -> Shown:
    """``page`` in a window of ``width`` pixels, for a reader who prefers ``scheme``."""
    found = programs.find("chromium")
    assert isinstance(found, programs.Found)
    with counting_proxy() as (port, asked), tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        how = (f"--user-data-dir={profile}", f"--window-size={width},900", f"--blink-settings=preferredColorScheme={SCHEMES[scheme]}", f"--proxy-server=http://127.0.0.1:{port}", "--proxy-bypass-list=<-loopback>")
        command = (str(found.path), *QUIET, *how, "--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom", page.as_uri())
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace", start_new_session=True)
        try:
            dom, said = process.communicate(timeout=90)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # and what the browser started
            except ProcessLookupError:
                pass
            process.wait()
        assert process.returncode == 0, said
        return Shown(dom, re.findall(r":CONSOLE[:(].*", said), [line for line in asked if line and not OF_ITS_MAKER.search(line)])
