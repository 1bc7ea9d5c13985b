"""The judge marker: a run that did not ask a program must not look like one that did."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from iacgen.verify import programs

HERE = Path(__file__).parent

# Follows the real conftest: programs are absent when GONE names them, and the account is root unless told otherwise.
PRETENCE = """
import os
from iacgen.verify import programs

def find(judge):
    if judge in os.environ.get("GONE", "").split(","):
        return programs.Missing(judge, "frobnicator", "ask the smith")
    return programs.Found(judge, "frobnicator", "1.0", Path("frobnicator"))

programs.find = find
os.geteuid = lambda: int(os.environ.get("EFFECTIVE_USER", "0"))
"""

ONE_EACH = "import pytest\n" + "".join(
    f"@pytest.mark.judge({name!r})\ndef test_{i}(): pass\n" for i, name in enumerate(programs.JUDGES)
)
TERRAFORM = """
import pytest

@pytest.fixture
def server():
    print("server started")

@pytest.mark.judge("terraform")
def test_asks(server): pass

def test_plain(): pass
"""


@pytest.fixture(autouse=True)
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """An inner suite whose programs are pretended; the names it replaces come back afterwards."""
    monkeypatch.setattr(programs, "find", programs.find)
    monkeypatch.setattr(os, "geteuid", os.geteuid)
    monkeypatch.delenv("IACGEN_REQUIRE_JUDGES", raising=False)
    # The inner run is nobody's xdist worker, even when this one is.
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    pytester.makeconftest((HERE / "conftest.py").read_text(encoding="utf-8") + PRETENCE)
    (pytester.path / "judges.py").write_text((HERE / "judges.py").read_text(encoding="utf-8"), encoding="utf-8")
    pytester.makeini("[pytest]\naddopts = --strict-markers -rs -p no:cacheprovider -p no:hypothesispytest\n")
    return pytester


def test_a_missing_program_is_a_skip_that_says_how_to_get_it(suite, monkeypatch):
    monkeypatch.setenv("GONE", "terraform")
    suite.makepyfile(TERRAFORM)
    result = suite.runpytest("-s")
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*terraform: frobnicator is missing: ask the smith"])
    result.stdout.no_fnmatch_line("*server started*")
    assert result.ret == pytest.ExitCode.OK


def test_in_ci_a_missing_program_is_a_failure_that_says_how_to_get_it(suite, monkeypatch):
    monkeypatch.setenv("GONE", "terraform")
    monkeypatch.setenv("IACGEN_REQUIRE_JUDGES", "1")
    suite.makepyfile(TERRAFORM)
    result = suite.runpytest("-k", "asks")
    result.assert_outcomes(errors=1, deselected=1)
    result.stdout.fnmatch_lines(["*IACGEN_REQUIRE_JUDGES=1, but terraform: frobnicator is missing: ask the smith"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_slurm_without_a_root_account_is_a_skip(suite, monkeypatch):
    monkeypatch.setenv("EFFECTIVE_USER", "1000")
    suite.makepyfile(ONE_EACH)
    result = suite.runpytest()
    result.assert_outcomes(passed=len(programs.JUDGES) - 2, skipped=2)
    result.stdout.fnmatch_lines(["SKIPPED*slurm-22.05: needs root*"])


def test_the_summary_counts_tests_and_seconds_by_judge(suite):
    suite.makepyfile("""
        import time, pytest

        @pytest.mark.judge("moto")
        def test_slow(): time.sleep(0.25)

        @pytest.mark.judge("moto", "terraform")
        def test_both(): pass

        @pytest.mark.judge("moto")
        def test_gives_up(): pytest.skip("no mood")

        @pytest.mark.judge("moto")
        def test_fails(): assert False
    """)
    result = suite.runpytest()
    result.stdout.re_match_lines([r"=+ judges =+", r"terraform +1 ran +0 skipped +0\.\d s", r"moto +3 ran +1 skipped +0\.[2-9] s"])
    result.stdout.no_fnmatch_line("ansible*ran*")
    result.stdout.no_fnmatch_line("judge required*")


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_in_ci_a_judge_test_that_skips_itself_fails_the_session(suite, monkeypatch, workers):
    monkeypatch.setenv("IACGEN_REQUIRE_JUDGES", "1")
    skipping = "\n@pytest.mark.judge('nccl')\ndef test_gives_up(): pytest.skip('no mood')\n"
    suite.makepyfile(ONE_EACH + skipping)
    result = suite.runpytest_subprocess(*workers)
    result.assert_outcomes(passed=len(programs.JUDGES), skipped=1)
    result.stdout.fnmatch_lines(["nccl*1 ran*1 skipped*", "judge required: nccl: 1 skipped"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_in_ci_every_judge_needs_a_test_that_ran(suite, monkeypatch, workers):
    monkeypatch.setenv("IACGEN_REQUIRE_JUDGES", "1")
    suite.makepyfile(TERRAFORM)
    result = suite.runpytest_subprocess(*workers)
    result.assert_outcomes(passed=2)
    silent = [f"judge required: {name}: no test ran" for name in programs.JUDGES if name != "terraform"]
    result.stdout.fnmatch_lines(silent)
    result.stdout.no_fnmatch_line("judge required: terraform*")
    assert result.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
def test_in_ci_a_suite_that_asks_every_judge_passes(suite, monkeypatch, workers):
    monkeypatch.setenv("IACGEN_REQUIRE_JUDGES", "1")
    suite.makepyfile(ONE_EACH)
    result = suite.runpytest_subprocess(*workers)
    result.assert_outcomes(passed=len(programs.JUDGES))
    result.stdout.no_fnmatch_line("judge required*")
    assert result.ret == pytest.ExitCode.OK


@pytest.mark.parametrize("narrowed", [("-k", "plain"), ("test_only.py",), ("--deselect", "test_only.py::test_asks"), ("-m", "not judge")])
def test_in_ci_a_narrowed_run_may_leave_judges_out(suite, monkeypatch, narrowed):
    monkeypatch.setenv("IACGEN_REQUIRE_JUDGES", "1")
    suite.makepyfile(test_only=TERRAFORM)
    assert suite.runpytest(*narrowed).ret == pytest.ExitCode.OK


def test_folders_with_a_conftest_of_their_own_are_counted_too(suite):
    for folder in ("first", "second"):
        (suite.path / folder).mkdir()
        (suite.path / folder / "conftest.py").write_text("")
        (suite.path / folder / f"test_{folder}.py").write_text(TERRAFORM)
    result = suite.runpytest()
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["terraform*2 ran*"])


def test_in_ci_naming_the_whole_test_folder_narrows_nothing(suite, monkeypatch):
    monkeypatch.setenv("IACGEN_REQUIRE_JUDGES", "1")
    suite.makepyfile(TERRAFORM)
    result = suite.runpytest(".")
    result.stdout.fnmatch_lines(["judge required: moto: no test ran"])
    assert result.ret == pytest.ExitCode.TESTS_FAILED


def test_in_ci_an_empty_suite_fails(suite, monkeypatch):
    monkeypatch.setenv("IACGEN_REQUIRE_JUDGES", "1")
    assert suite.runpytest().ret == pytest.ExitCode.TESTS_FAILED


def test_listing_the_tests_asks_for_no_judge(suite, monkeypatch):
    monkeypatch.setenv("IACGEN_REQUIRE_JUDGES", "1")
    suite.makepyfile(TERRAFORM)
    assert suite.runpytest("--collect-only").ret == pytest.ExitCode.OK


@pytest.mark.parametrize("marker", ["judge('terrafrom')", "judge"])
def test_a_marker_without_a_known_judge_stops_the_run(suite, marker):
    suite.makepyfile(f"import pytest\n@pytest.mark.{marker}\ndef test_asks(): pass\n")
    result = suite.runpytest()
    result.stderr.fnmatch_lines(["ERROR:*test_asks: no judge*the judges are terraform, moto*"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_defaults_fill_gaps_and_yield_to_the_environment(suite, request, monkeypatch):
    monkeypatch.setenv("IACGEN_MOTO_PYTHON", "mine")
    monkeypatch.delenv("IACGEN_SLURM_TREES", raising=False)
    file = suite.path / "env"
    file.write_text("IACGEN_MOTO_PYTHON=theirs\n\nIACGEN_SLURM_TREES=a=b c\n", encoding="utf-8")
    plugin = request.config.pluginmanager.get_plugin("judges")
    plugin.load_defaults(file)
    plugin.load_defaults(suite.path / "absent")
    assert (os.environ["IACGEN_MOTO_PYTHON"], os.environ["IACGEN_SLURM_TREES"]) == ("mine", "a=b c")
