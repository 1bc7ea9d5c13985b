"""Scripts that are read and never run: what counts as a statement, and what a spoilt script is told."""

import pytest

from iacgen.verify.script import Step, differences, statements

SCRIPT = """#!/bin/bash
# A comment.
set -eu

if [[ -z $x ]]; then
    die "no $x of $((n * m))"
fi
exec a \\
    b   "$@"
"""
PLANNED = [Step("set -eu", "one"), Step("if [[ -z $x ]]; then", "two"), Step("die", "two"), Step("fi", "two"), Step('exec a b   "$@"', "three")]


def test_only_what_a_shell_acts_on_is_a_statement():
    assert statements(SCRIPT) == [(3, "set -eu"), (5, "if [[ -z $x ]]; then"), (6, "die"), (7, "fi"), (8, 'exec a b   "$@"')]
    assert list(differences(SCRIPT, PLANNED)) == []


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("set -eu\n", "", ["lacks, in its place, `set -eu`: one"]),
        ("set -eu\n", "set -e\n", ["lacks, in its place, `set -eu`: one", "line 3: `set -e` is no planned step"]),
        ("fi\n", "fi\nrm -rf /\n", ["line 8: `rm -rf /` is no planned step"]),
        ("#!/bin/bash", "#!/usr/bin/env evil", ["line 1: '#!/usr/bin/env evil' where #!/bin/bash is planned"]),
        ("of $((n * m))", "or none", []),
    ],
)
def test_a_difference_is_named_with_its_reason(old, new, says):
    assert old in SCRIPT
    assert list(differences(SCRIPT.replace(old, new), PLANNED)) == says


@pytest.mark.parametrize(
    "hidden",
    [
        "# nothing \\\nrm -rf /",  # a comment does not go on in the next line
        "\x0brm -rf /",
        "# nothing\nrm -rf / # fi",
        'die "$(rm -rf /)"',
        'die "`rm -rf /`"',
        'die "${x:-$(rm -rf /)}"',
        'die "$((a[$(rm -rf /)]))"',
        'die "none"; rm -rf /',
        'die "none" >/etc/passwd',
        'die "a"b" | rm -rf / "',
        "fi; \\\n# nothing\nrm -rf /",
        "<<x\n# nothing\nx",
    ],
)
def test_nothing_hides_from_the_reader(hidden):
    """Whatever bash would act on stays a statement, and no planned one."""
    assert any("is no planned step" in said for said in differences(SCRIPT.replace("fi\n", f"fi\n{hidden}\n"), PLANNED))


def test_an_unfinished_line_is_no_statement_of_the_plan():
    assert list(differences(SCRIPT.rstrip("\n") + " \\", PLANNED))[-1].endswith("` is no planned step")
