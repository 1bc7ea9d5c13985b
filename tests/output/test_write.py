"""Trees on disk: what a plan finds, what a write does, and what it refuses to do."""

import json
import os
import stat
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iacgen.output import BlockedPath, InvalidPath, ManifestError, WriteRefused, apply, plan, read

MANIFEST = ".iacgen/manifest.json"
OLD = {"README.md": "old\n", "slurm/slurm.conf": "A=1\n", "slurm/job.sh": "#!/bin/sh\n", "fabric/compute/cables.csv": "a,b\n", ".iacgen/resolved.yaml": "a: 1\n"}
NEW = {"README.md": "new\n", "slurm/slurm.conf": "A=1\n", "slurm/job.sh": "#!/bin/bash\n", "nccl/nccl.conf": "B=2\n", ".iacgen/resolved.yaml": "a: 2\n"}


def write(tree, folder, **options):
    apply(plan(tree, folder), folder, **options)


def on_disk(folder):
    """Every file below ``folder`` except the manifest, by plain means."""
    return {str(f.relative_to(folder)): f.read_text() for f in folder.rglob("*") if f.is_file() and str(f.relative_to(folder)) != MANIFEST}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "out" / "atlas"


def test_first_write_and_what_it_leaves(folder):
    first = plan(OLD, folder)
    assert not folder.exists()
    assert first.create == tuple(sorted(OLD))
    apply(first, folder)
    assert on_disk(folder) == read(folder) == OLD
    assert plan(OLD, folder).clean
    assert (folder / "slurm/job.sh").stat().st_mode & stat.S_IXUSR
    assert not (folder / "README.md").stat().st_mode & stat.S_IXUSR


def test_regenerating_deletes_only_what_it_wrote(folder):
    write(OLD, folder)
    (folder / "fabric/notes.txt").write_text("mine")
    (folder / "terraform.tfstate").write_text("mine too")
    second = plan(NEW, folder)
    assert (second.create, second.update, second.delete) == (("nccl/nccl.conf",), (".iacgen/resolved.yaml", "README.md", "slurm/job.sh"), ("fabric/compute/cables.csv",))
    assert (second.unchanged, second.edited, second.foreign) == (("slurm/slurm.conf",), (), ())
    apply(second, folder)
    assert on_disk(folder) == NEW | {"fabric/notes.txt": "mine", "terraform.tfstate": "mine too"}
    assert not (folder / "fabric/compute").exists()
    (folder / "fabric/notes.txt").unlink()
    write({"README.md": "new\n"}, folder)
    assert sorted(f.name for f in folder.iterdir()) == [".iacgen", "README.md", "fabric", "terraform.tfstate"]


def test_an_unchanged_file_is_not_touched(folder):
    write(OLD, folder)
    before = (folder / "slurm/slurm.conf").stat()
    write(NEW, folder)
    after = (folder / "slurm/slurm.conf").stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_the_manifest_is_the_same_for_the_same_tree(tmp_path):
    write(OLD, tmp_path / "a")
    write(dict(reversed(OLD.items())), tmp_path / "b")
    write(NEW, tmp_path / "b")
    write(OLD, tmp_path / "b")
    assert (tmp_path / "a" / MANIFEST).read_bytes() == (tmp_path / "b" / MANIFEST).read_bytes()
    assert set(json.loads((tmp_path / "a" / MANIFEST).read_text())) == {"schema", "files"}


@pytest.mark.parametrize("path", ["README.md", "fabric/compute/cables.csv"])  # one that is overwritten, one that is dropped
def test_a_file_edited_by_hand_is_refused_and_nothing_written(folder, path):
    write(OLD, folder)
    (folder / path).write_text("edited")
    before = on_disk(folder)
    assert plan(NEW, folder).edited == (path,)
    with pytest.raises(WriteRefused) as refusal:
        write(NEW, folder)
    assert refusal.value.edited == (path,)
    assert on_disk(folder) == before
    write(NEW, folder, force=True)
    assert on_disk(folder) == NEW


def test_an_edit_that_says_the_same_is_no_conflict(folder):
    write(OLD, folder)
    (folder / "README.md").write_text(NEW["README.md"])
    assert plan(NEW, folder).edited == ()
    write(NEW, folder)
    assert on_disk(folder) == NEW


def test_a_deleted_file_comes_back(folder):
    write(OLD, folder)
    (folder / "README.md").unlink()
    assert plan(OLD, folder).create == ("README.md",)
    assert not plan(OLD, folder).clean
    write(OLD, folder)
    assert on_disk(folder) == OLD


@pytest.mark.parametrize("force", [False, True])
def test_a_foreign_file_in_the_way_is_always_refused(folder, force):
    (folder / "nccl").mkdir(parents=True)
    (folder / "nccl/nccl.conf").write_text("mine")
    with pytest.raises(WriteRefused) as refusal:
        write(NEW, folder, force=force)
    assert refusal.value.foreign == ("nccl/nccl.conf",)
    assert on_disk(folder) == {"nccl/nccl.conf": "mine"}


@pytest.mark.parametrize("place", ["slurm", "README.md", "fabric/compute"])
def test_a_link_in_the_tree_is_refused(folder, tmp_path, place):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "slurm.conf").write_text("theirs")
    (folder / place).parent.mkdir(parents=True)
    (folder / place).symlink_to(elsewhere)
    with pytest.raises(WriteRefused):
        write(OLD, folder, force=True)
    assert on_disk(elsewhere) == {"slurm.conf": "theirs"}


@pytest.mark.parametrize("place", ["", ".iacgen"])
def test_a_link_above_everything_is_refused(folder, tmp_path, place):
    (tmp_path / "elsewhere").mkdir()
    (folder / place).parent.mkdir(parents=True)
    (folder / place).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BlockedPath):
        write(OLD, folder)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_link_put_in_place_of_a_dropped_folder_is_left_alone(folder, tmp_path):
    write(OLD, folder)
    victim = tmp_path / "elsewhere"
    (folder / "fabric/compute").rename(victim)
    (folder / "fabric/compute").symlink_to(victim)
    write(NEW, folder)
    assert (victim / "cables.csv").read_text() == OLD["fabric/compute/cables.csv"]


def test_a_file_becomes_a_folder_and_back(folder):
    write({"a": "1", "b/c/d": "2"}, folder)
    write({"a/x": "3", "b": "4"}, folder)
    assert on_disk(folder) == {"a/x": "3", "b": "4"}
    write({"a": "1", "b/c/d": "2"}, folder)
    assert on_disk(folder) == {"a": "1", "b/c/d": "2"}
    (folder / "b/c/mine").write_text("mine")
    with pytest.raises(WriteRefused):
        write({"b": "4"}, folder)


def test_a_lost_executable_bit_is_drift(folder):
    write(OLD, folder)
    (folder / "slurm/job.sh").chmod(0o644)
    assert plan(OLD, folder).update == ("slurm/job.sh",)
    write(OLD, folder)
    assert plan(OLD, folder).clean


def test_a_plan_that_is_out_of_date_is_refused(folder):
    write(OLD, folder)
    planned = plan(NEW, folder)
    (folder / "README.md").write_text("edited meanwhile")
    with pytest.raises(WriteRefused):
        apply(planned, folder)
    assert (folder / "README.md").read_text() == "edited meanwhile"


BAD_PATHS = ["", "/etc/passwd", "../a", "a/../../b", "a/./b", "a//b", "a/", "a\\b", "a\nb", "c:d", "a\0", MANIFEST, MANIFEST + "/x", "n" * 250, ".a.iacgen-new"]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_paths_that_no_tree_may_hold(folder, path):
    with pytest.raises(InvalidPath):
        plan({path: "x"}, folder)


def test_a_path_cannot_be_file_and_folder(folder):
    with pytest.raises(InvalidPath):
        plan({"a": "x", "a/b": "y"}, folder)


@pytest.mark.parametrize("path", ["../victim", "/victim", MANIFEST, "a/../../victim"])
def test_a_manifest_cannot_make_us_delete_elsewhere(folder, path):
    write(OLD, folder)
    (folder.parent / "victim").write_text("x")
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["files"][path] = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
    (folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(ManifestError):
        write(NEW, folder)
    assert (folder.parent / "victim").read_text() == "x"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 2, "files": {}}', '{"schema": 1, "files": []}', '{"schema": 1, "files": {"a": 1}}', "[" * 100_000, "\udcff"])
def test_a_broken_manifest_is_not_guessed_at(folder, text):
    write(OLD, folder)
    (folder / MANIFEST).write_bytes(text.encode(errors="surrogateescape"))
    for ask in (read, lambda where: plan(OLD, where)):
        with pytest.raises(ManifestError):
            ask(folder)


def sparse(file, size):
    """A file that says it has ``size`` bytes and takes none of the disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as opened:
        opened.truncate(size)


def test_a_file_larger_than_any_of_ours_is_not_read(folder):
    write(OLD, folder)
    sparse(folder / "README.md", 1 << 40)
    sparse(folder / "nccl/nccl.conf", 1 << 40)
    sparse(folder / "fabric/compute/cables.csv", 1 << 40)
    planned = plan(NEW, folder)
    assert (planned.foreign, planned.edited) == (("README.md", "nccl/nccl.conf"), ())
    with pytest.raises(WriteRefused):
        write(NEW, folder, force=True)
    with pytest.raises(BlockedPath, match=r"^README.md has 1,099,511,627,776 bytes"):
        read(folder)


def test_a_manifest_larger_than_any_is_not_read(folder):
    sparse(folder / MANIFEST, 1 << 40)
    for ask in (read, lambda where: plan(OLD, where)):
        with pytest.raises(BlockedPath, match="bytes"):
            ask(folder)


@pytest.mark.parametrize("path", ["a\nb", "a\x1b[2Jb", "a\u2028b", "a\u202eb", "a\x85b", "a\u00a0b"])
@pytest.mark.parametrize("digest", [1, "0" * 64])
def test_a_name_in_a_manifest_is_told_on_one_line(folder, path, digest):
    write(OLD, folder)
    (folder / MANIFEST).write_text(json.dumps({"schema": 1, "files": {path: digest}}))
    with pytest.raises(ManifestError) as refusal:
        plan(OLD, folder)
    assert str(refusal.value).isprintable()


def test_no_tree_was_generated_here(tmp_path):
    with pytest.raises(ManifestError):
        read(tmp_path)


class Cut(OSError):
    """The power goes out."""


def cut_at(monkeypatch, step):
    """os.replace fails from its ``step``-th call on (counted from 0)."""
    calls, replace = count(), os.replace

    def failing(source, target):
        if next(calls) >= step:
            raise Cut
        replace(source, target)

    monkeypatch.setattr(os, "replace", failing)


@pytest.mark.parametrize("step", range(7))
@pytest.mark.parametrize("then", [NEW, OLD, {"README.md": "third\n", "slurm/job.sh": "third\n", "new/file": "x"}], ids=["again", "back", "elsewhere"])
def test_an_interrupted_write_is_finished_by_the_next_run(folder, monkeypatch, step, then):
    write(OLD, folder)
    with monkeypatch.context() as patched:
        cut_at(patched, step)
        if step < 6:  # manifest, four files, manifest
            with pytest.raises(Cut):
                write(NEW, folder)
        else:
            write(NEW, folder)
    assert all(text in (OLD.get(path), NEW.get(path)) for path, text in on_disk(folder).items())
    write(then, folder)
    assert on_disk(folder) == then
    assert plan(then, folder).clean


def test_a_killed_run_leaves_nothing_behind(folder):
    """SIGKILL between the temporary file and its renaming: nobody cleans up but the next run, even one without that file."""
    write(OLD, folder)
    manifest = json.loads((folder / MANIFEST).read_text())
    manifest["pending"] = {"nccl/nccl.conf": "0" * 64, "README.md": "0" * 64}
    (folder / MANIFEST).write_text(json.dumps(manifest))
    (folder / "nccl").mkdir()
    (folder / "nccl/.nccl.conf.iacgen-new").write_text("half")
    (folder / ".README.md.iacgen-new").write_text("half")
    (folder / ".iacgen/.manifest.json.iacgen-new").write_text("half")
    assert not plan(OLD, folder).clean
    write(OLD, folder)
    assert on_disk(folder) == OLD


@given(st.lists(st.tuples(st.dictionaries(st.sampled_from(["a", "b", "c/d", "c/e", "f/g/h", "f/g", "c"]), st.sampled_from("123"), max_size=5), st.integers(0, 6)), max_size=6))
@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_was_interrupted_before(tmp_path_factory, runs):
    """Any sequence of trees, each write cut off somewhere, ends in the last tree without a conflict."""
    folder = tmp_path_factory.mktemp("runs") / "out"
    trees = [({path: text for path, text in tree.items() if not any(other.startswith(path + "/") for other in tree)}, step) for tree, step in runs]
    for tree, step in trees:
        with pytest.MonkeyPatch.context() as patched:
            cut_at(patched, step)
            try:
                write(tree, folder)
            except Cut:
                continue
    write({"a": "end", "c/d": "end"}, folder)
    assert on_disk(folder) == {"a": "end", "c/d": "end"}
    assert sorted(str(f.relative_to(folder)) for f in folder.rglob("*")) == [".iacgen", MANIFEST, "a", "c", "c/d"]
