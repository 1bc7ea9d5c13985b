"""Trees held against each other: counts by a second way, diffs that a real patch program takes."""

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iacgen.review.files import MOST_LINES, FileChange, diff, files

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=12).map(lambda lines: "".join(f"{line}\n" for line in lines))


def test_only_what_differs():
    old = {"slurm/slurm.conf": "a\nb\n", "README.md": "x\n", "gone.md": "1\n2\n", ".iacgen/resolved.yaml": "a\n"}
    new = {"slurm/slurm.conf": "a\nc\nd\n", "README.md": "x\n", "terraform/ohio/main.tf": "t\n", ".iacgen/resolved.yaml": "b\n"}
    assert files(old, new) == (FileChange("gone.md", "removed", 0, 2), FileChange("slurm/slurm.conf", "changed", 2, 1), FileChange("terraform/ohio/main.tf", "new", 1, 0))
    assert [f.target for f in files(old, new)] == ["gone.md", "slurm", "terraform/ohio"]


@given(LINES, LINES)
def test_added_less_removed_is_the_difference_of_length(old, new):
    for change in files({"f": old}, {"f": new}):
        assert change.added - change.removed == len(new.splitlines()) - len(old.splitlines())


@pytest.mark.skipif(not shutil.which("git"), reason="git, which takes the diff, is not on PATH")
@pytest.mark.parametrize(("old", "new"), [("a\nb\nc\n" * 9, "a\nb\nc\n" * 4 + "x\n" + "a\nb\nc\n" * 5), ("1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\n5\n6\nseven\n8\n"), ("a\n", "b\nc\n")])
def test_git_makes_the_new_file_of_the_diff(tmp_path, old, new):
    (tmp_path / "f").write_text(old)
    (change,) = files({"f": old}, {"f": new})
    text = diff(change, {"f": old}, {"f": new}, 1000).replace("--- f", "--- a/f").replace("+++ f", "+++ b/f")
    subprocess.run(["git", "apply", "--unidiff-zero", "-"], input=text, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "f").read_text() == new


def test_a_long_diff_says_what_it_leaves_out():
    old, new = {"f": ""}, {"f": "".join(f"{i}\n" for i in range(100))}
    text = diff(files(old, new)[0], old, new, 11)
    assert text.splitlines()[-1] == "@@ 90 more lines of this diff are not shown @@", "100 lines and their hunk's head"


def test_what_nobody_reads_is_counted():
    old, new = ({"f": "".join(f"{word}{i}\n" for i in range(MOST_LINES + 1))} for word in ("x", "y"))
    assert diff(files(old, new)[0], old, new, 50).splitlines()[-1] == "@@ too many lines differ to show them: 2,001 more, 2,001 less @@"


def test_no_line_commands_a_terminal():
    old, new = {"f": "a\n"}, {"f": "\x1b[31mred\n"}
    assert "\x1b" not in diff(files(old, new)[0], old, new, 50)
