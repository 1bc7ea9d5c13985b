"""Files of a revision, read out of a real repository."""

import subprocess

import pytest

from iacgen.output import git


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """Two commits: a.yaml changes, a link and a folder stand beside it."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "t")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "t@example.invalid")
    ask = lambda *words: subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)  # noqa: E731
    ask("init", "-q", "-b", "main")
    (tmp_path / "below").mkdir()
    (tmp_path / "a.yaml").write_bytes(b"one\n")
    (tmp_path / "below" / "b.yaml").write_bytes(b"b\n")
    (tmp_path / "link.yaml").symlink_to("a.yaml")
    ask("add", "."), ask("commit", "-qm", "first"), ask("tag", "v1")
    (tmp_path / "a.yaml").write_bytes(b"two\n")
    ask("commit", "-qam", "second")
    return tmp_path


def test_a_word_that_names_a_commit(repository):
    first, second = git.revision("v1", repository), git.revision("main", repository)
    assert first and second and first != second and len(first) == 40
    assert git.revision("HEAD~1", repository) == first


@pytest.mark.parametrize("word", ["", "nothing", "--all", "-h", "v1\0", "v1:a.yaml", "--upload-pack=touch x"])
def test_a_word_that_names_none(repository, word):
    assert git.revision(word, repository) is None


def test_outside_of_any_repository(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert git.revision("HEAD", tmp_path) is None


def test_what_stands_at_a_revision(repository):
    first, second = git.revision("v1", repository), git.revision("main", repository)
    assert git.content(first, "a.yaml", repository, 100) == b"one\n"
    assert git.content(second, "a.yaml", repository, 100) == b"two\n"
    assert git.content(second, "a.yaml", repository, 1) == b"tw", "one more than asked for tells that it is longer"
    assert git.content(first, "below", repository, 100) is None
    assert git.content(first, "gone.yaml", repository, 100) is None
    assert git.content(first, "b.yaml", repository / "below", 100) == b"b\n", "paths count from the folder"


def test_the_files_of_a_revision(repository):
    before, after = (git.listing(git.revision(word, repository), repository) for word in ("v1", "main"))
    assert list(before) == ["a.yaml", "below/b.yaml"], "a link is no blueprint"
    assert {path for path in before if before[path] != after[path]} == {"a.yaml"}
    assert list(git.listing(git.revision("v1", repository), repository / "below")) == ["b.yaml"]
