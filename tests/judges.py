"""The ``judge(name, ...)`` marker: which tests ask a real program, whether it is here, and what the run proved.

A missing program skips its tests and says how to get it. Under IACGEN_REQUIRE_JUDGES=1 it fails them, and the session fails
too when a judge's test was skipped for any reason or, in a run of the whole suite, when a judge has no test that ran.
``conftest.py`` loads this file by its path: the tests are no package.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from iacgen.verify import programs

_PROPERTY = "judge"  # carries the names from an xdist worker to the controller, inside each report


def load_defaults(file: Path) -> None:
    """Take the variables of ``.judges/env`` (KEY=VALUE lines, as install.sh writes them) that the environment does not set."""
    if not file.is_file():
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        key, separator, value = line.partition("=")
        if separator:
            os.environ.setdefault(key.strip(), value)


def required() -> bool:
    return os.environ.get("IACGEN_REQUIRE_JUDGES") == "1"


def names_of(item: pytest.Item) -> list[str]:
    """The judges that a test asks, in the order of its markers; UsageError for a name that is no judge."""
    names = [name for marker in item.iter_markers("judge") for name in marker.args or (None,)]
    for name in names:
        if name not in programs.JUDGES:
            raise pytest.UsageError(f"{item.nodeid}: no judge {name!r}; the judges are {', '.join(programs.JUDGES)}")
    return list(dict.fromkeys(names))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.user_properties += [(_PROPERTY, name) for name in names_of(item)]


@pytest.hookimpl(tryfirst=True)  # before any fixture starts a server for a program that is not there
def pytest_runtest_setup(item: pytest.Item) -> None:
    for name in names_of(item):
        why = _why_not(name)
        if why and required():
            pytest.fail(f"IACGEN_REQUIRE_JUDGES=1, but {why}", pytrace=False)
        if why:
            pytest.skip(why)


def _why_not(judge: str) -> str | None:
    found = programs.find(judge)
    if isinstance(found, programs.Missing):
        return f"{judge}: {found}"
    if judge.startswith("slurm-") and os.geteuid() != 0:
        return f"{judge}: needs root, for munged, chroot and device files"
    return None


@dataclass
class Tally:
    """What one judge's tests did; seconds cover set-up, call and tear-down."""

    ran: int = 0
    skipped: int = 0
    seconds: float = 0.0


@dataclass(eq=False)  # pytest puts its plugins into sets
class Judges:
    """Counts the reports of all workers; registered in the controller only."""

    config: pytest.Config
    tallies: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in programs.JUDGES})
    complaints: list[str] = field(default_factory=list)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for key, name in report.user_properties:
            if key != _PROPERTY or name not in self.tallies:
                continue
            tally = self.tallies[name]
            tally.seconds += report.duration
            expected_failure = hasattr(report, "wasxfail")
            if report.skipped and not expected_failure:
                tally.skipped += 1
            elif report.when == "call":
                tally.ran += 1

    @pytest.hookimpl(tryfirst=True)  # before the terminal reporter's wrapper ends with the summary
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if not required() or self.config.option.collectonly:
            return
        self.complaints = list(self._complaints())
        if self.complaints and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _complaints(self) -> Iterator[str]:
        whole = whole_suite(self.config)
        for name, tally in self.tallies.items():
            if tally.skipped:
                yield f"{name}: {tally.skipped} skipped"
            if whole and not tally.ran:
                yield f"{name}: no test ran"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        asked = {name: t for name, t in self.tallies.items() if t.ran or t.skipped}
        if not asked and not self.complaints:
            return
        terminalreporter.section("judges")
        for name, tally in asked.items():
            terminalreporter.line(f"{name:<12} {tally.ran:>4} ran {tally.skipped:>4} skipped {tally.seconds:>8.1f} s")
        for complaint in self.complaints:
            terminalreporter.line(f"judge required: {complaint}", red=True, bold=True)


# Options that leave tests out, by the name under which pytest keeps them.
_NARROWING = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise", "maxfail")


def whole_suite(config: pytest.Config) -> bool:
    """True when nothing narrowed the run: no option of the tuple above, and no path but the root or a whole test folder."""
    if any(getattr(config.option, name, None) for name in _NARROWING):
        return False
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return True
    whole = {config.rootpath, *(config.rootpath / p for p in config.getini("testpaths"))}
    given = {(config.invocation_params.dir / argument).resolve() for argument in config.args}
    return bool(given & whole)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "judge(name, ...): asks the real programs of these names")
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Judges(config), "judge-tallies")
