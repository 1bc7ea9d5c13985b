"""Which findings are asked for: ids, names, beginnings of ids, and what is said of a name that is none."""

import pytest

from iacgen.diagnostics.kind import Kind
from iacgen.diagnostics.selection import FAIL_ON, UnknownName, selection

SLUGS = {"IAC002": "yaml-syntax", "IAC201": "unknown-reference", "IAC202": "unknown-catalog-entry", "IAC320": "sequence-beyond-model", "IAC321": "prime-batch"}
KINDS = {id: Kind(id, slug, frozenset(["error"]), frozenset(["error"]), "", "") for id, slug in SLUGS.items()}


@pytest.mark.parametrize(
    ("select", "ignore", "shown"),
    [
        ([], [], "002 201 202 320 321"),
        (["IAC201"], [], "201"),
        (["prime-batch"], [], "321"),
        (["IAC2"], [], "201 202"),
        (["iac2", "Yaml-Syntax"], [], "002 201 202"),
        (["IAC2,prime-batch"], [], "201 202 321"),
        (["IAC2, prime-batch"], [], "201 202 321"),
        (["IAC"], ["IAC3"], "002 201 202"),
        ([], ["IAC20,yaml-syntax"], "320 321"),
        (["IAC2"], ["IAC201"], "202"),
        (["IAC201"], ["IAC2"], ""),
        ([""], [], "002 201 202 320 321"),
    ],
)
def test_selects(select, ignore, shown):
    assert selection(select, ignore, KINDS).ids == {f"IAC{digits}" for digits in shown.split()}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("unknown-referense", "'unknown-reference'"),
        ("IAC22", "did you mean 'IAC"),
        ("IAC209", "did you mean 'IAC"),
        ("qqqq", "IAC2"),
        ("2", "IAC2"),
        ("IAC2*", "did you mean 'IAC"),
    ],
)
def test_a_name_that_is_none_is_an_error(name, says):
    for select, ignore in (([name], []), ([], [name]), (["IAC201", name], [])):
        with pytest.raises(UnknownName) as caught:
            selection(select, ignore, KINDS)
        assert f"no finding is called {name!r}" in str(caught.value) and says in str(caught.value)


def test_each_severity_fails_with_all_that_are_worse():
    assert [FAIL_ON[name] for name in ("never", "error", "warning", "info")] == [set(), {"error"}, {"error", "warning"}, {"error", "warning", "info"}]
