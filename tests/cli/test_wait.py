"""What is shown while something takes long: on a terminal alone, and not at once."""

import io
import time

from iacgen.cli import wait


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, seconds):
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(wait, "PATIENCE_S", 0.02)
    with wait.waiting("asking somebody ..."):
        time.sleep(seconds)
    return stream.getvalue()


def test_a_terminal_is_told_and_cleared(monkeypatch):
    text = shown(monkeypatch, Terminal(), 0.5)
    assert text.startswith("\rasking somebody ...") and text.endswith("\r\033[K")


def test_what_is_quick_is_not_announced(monkeypatch):
    assert "asking" not in shown(monkeypatch, Terminal(), 0)


def test_a_pipe_gets_nothing(monkeypatch):
    assert shown(monkeypatch, io.StringIO(), 0.2) == ""
