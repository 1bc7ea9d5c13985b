"""``iacgen generate``: all or nothing, again without a change, ``--check``, and nobody's work is lost."""

import json
from pathlib import Path

import pytest


@pytest.fixture
def tree(call, blueprint, tmp_path):
    """The generated tree of the smallest blueprint."""
    done = call("generate", "lab.yaml")
    assert done.exit_code == 0, done.stdout + done.stderr
    return tmp_path / "out" / "lab"


def test_writes_a_folder_named_after_the_cluster(iacgen, blueprint, tmp_path, files):
    done = iacgen("generate", "lab.yaml", "--out", "made")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("lab\n  nodes      gpu: 2 x ")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["lab.yaml", "made"]
    written = files(tmp_path / "made" / "lab")
    manifest = json.loads(written[".iacgen/manifest.json"][0])
    assert written.keys() == manifest["files"].keys() | {".iacgen/manifest.json"}
    assert done.stdout.splitlines()[-1] == f"made/lab: {len(manifest['files'])} new"


def test_a_second_run_changes_nothing(call, tree, files):
    before = files(tree)
    done = call("generate", "lab.yaml")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == f"out/lab: {len(before) - 1} unchanged"
    assert files(tree) == before


def test_reads_standard_input(iacgen, lab, tmp_path):
    done = iacgen("generate", "-", input=lab)
    assert done.returncode == 0
    assert (tmp_path / "out/lab/.iacgen/manifest.json").is_file()


def test_findings_stop_the_writing(iacgen, blueprint, tmp_path):
    blueprint.write_text(blueprint.read_text().replace("sn5600", "sn5601"))
    done = iacgen("generate", "lab.yaml")
    assert done.returncode == 1
    assert done.stdout.startswith("error[IAC202]")
    assert done.stderr == "lab.yaml: nothing was written\n"
    assert [p.name for p in tmp_path.iterdir()] == ["lab.yaml"]


def test_findings_leave_an_earlier_tree_alone(call, tree, blueprint, files):
    before = files(tree)
    blueprint.write_text(blueprint.read_text().replace("count: 2}", "count: 0}"))
    assert call("generate", "lab.yaml").exit_code == 1
    assert files(tree) == before


def test_a_blueprint_that_cannot_be_read(iacgen, tmp_path):
    done = iacgen("generate", "none.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "iacgen: cannot read none.yaml: No such file or directory\n")
    assert not [*tmp_path.iterdir()]


class TestCheck:
    def test_before_the_first_run_all_is_missing(self, iacgen, blueprint, tmp_path):
        done = iacgen("generate", "lab.yaml", "--check")
        assert done.returncode == 1
        assert "  new: slurm/slurm.conf" in done.stdout.splitlines()
        assert [p.name for p in tmp_path.iterdir()] == ["lab.yaml"]

    def test_a_current_tree_is_clean(self, iacgen, tree, files):
        before = files(tree)
        assert iacgen("generate", "lab.yaml", "--check").returncode == 0
        assert files(tree) == before

    def test_an_edited_blueprint_is_drift(self, call, tree, blueprint, files):
        before = files(tree)
        blueprint.write_text(blueprint.read_text().replace("count: 2}", "count: 4}"))
        done = call("generate", "lab.yaml", "--check")
        assert done.exit_code == 1
        assert "  changed: slurm/slurm.conf" in done.stdout.splitlines()
        assert files(tree) == before

    def test_an_edited_file_is_drift(self, call, tree, files):
        (tree / "slurm/slurm.conf").write_text("mine\n")
        before = files(tree)
        done = call("generate", "lab.yaml", "--check")
        assert done.exit_code == 1
        assert "  edited by hand: slurm/slurm.conf" in done.stdout.splitlines()
        assert files(tree) == before

    def test_a_lost_file_is_drift(self, call, tree):
        (tree / "slurm/slurm.conf").unlink()
        done = call("generate", "lab.yaml", "--check")
        assert done.exit_code == 1
        assert "  new: slurm/slurm.conf" in done.stdout.splitlines()


class TestHandEdits:
    def test_are_refused(self, iacgen, tree, files):
        (tree / "slurm/slurm.conf").write_text("mine\n")
        before = files(tree)
        done = iacgen("generate", "lab.yaml")
        assert (done.returncode, done.stdout) == (2, "")
        assert "slurm/slurm.conf was edited by hand (--force overwrites it)" in done.stderr
        assert files(tree) == before

    def test_are_overwritten_only_by_force(self, iacgen, tree, files):
        before = {path: content for path, (content, _) in files(tree).items()}
        (tree / "slurm/slurm.conf").write_text("mine\n")
        done = iacgen("generate", "lab.yaml", "--force")
        assert done.returncode == 0
        assert done.stdout.splitlines()[-3:-1] == ["out/lab: 1 file that was edited by hand overwritten:", "  slurm/slurm.conf"]
        assert {path: content for path, (content, _) in files(tree).items()} == before

    def test_somebody_elses_file_is_in_the_way_even_of_force(self, call, tree, blueprint):
        blueprint.write_text(blueprint.read_text().replace("pretrain:", "tuning:"))
        target = next(p for p in (tree / "slurm").iterdir() if "pretrain" in p.name)
        theirs = target.with_name(target.name.replace("pretrain", "tuning"))
        theirs.write_text("theirs\n")
        done = call("generate", "lab.yaml", "--force")
        assert (done.exit_code, done.stdout) == (2, "")
        assert f"slurm/{theirs.name} is in the way and not iacgen's" in done.stderr
        assert theirs.read_text() == "theirs\n"
        assert target.exists()

    def test_files_beside_ours_stay(self, call, tree, blueprint):
        (tree / "notes.md").write_text("theirs\n")
        blueprint.write_text(blueprint.read_text().replace("pretrain:", "tuning:"))
        ours = next(p for p in (tree / "slurm").iterdir() if "pretrain" in p.name)
        done = call("generate", "lab.yaml")
        assert done.exit_code == 0
        assert " removed" in done.stdout.splitlines()[-1]
        assert not ours.exists()
        assert (tree / "notes.md").read_text() == "theirs\n"


BLOCKED = {
    "a file where the folder belongs": lambda root: (root / "out").write_text(""),
    "a file where the tree belongs": lambda root: [(root / "out").mkdir(), (root / "out/lab").write_text("")],
    "a link where the tree belongs": lambda root: [(root / "out").mkdir(), (root / "elsewhere").mkdir(), (root / "out/lab").symlink_to(root / "elsewhere")],
    "a link where a folder of the tree belongs": lambda root: [(root / "out/lab").mkdir(parents=True), (root / "elsewhere").mkdir(), (root / "out/lab/slurm").symlink_to(root / "elsewhere")],
    "a manifest with a line break in a name": lambda root: [(root / "out/lab/.iacgen").mkdir(parents=True), (root / "out/lab/.iacgen/manifest.json").write_text('{"schema": 1, "files": {"a\\n::error::b": 1}}')],
    "a manifest that is none": lambda root: [(root / "out/lab/.iacgen").mkdir(parents=True), (root / "out/lab/.iacgen/manifest.json").write_text("{")],
}


@pytest.mark.parametrize("block", BLOCKED.values(), ids=BLOCKED.keys())
def test_a_place_that_cannot_be_written(call, blueprint, tmp_path, files, block):
    block(tmp_path)
    before = files(tmp_path)
    done = call("generate", "lab.yaml")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(("iacgen: nothing was written: ", "iacgen: cannot write out")) and done.stderr.count("\n") == 1
    assert files(tmp_path) == before


def test_a_link_that_the_user_names_is_followed(call, blueprint, tmp_path):
    """Above the tree whoever runs the program has said where it shall be; below it only iacgen has."""
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    assert call("generate", "lab.yaml").exit_code == 0
    assert (tmp_path / "disk/lab/README.md").is_file()
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    done = call("generate", "lab.yaml", "--out", "gone")
    assert (done.exit_code, done.stdout) == (2, "")
    assert not (tmp_path / "nowhere").exists()


def test_a_disk_that_refuses_is_no_traceback(iacgen, blueprint):
    done = iacgen("generate", "lab.yaml", "--out", "/proc/nowhere")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("iacgen: cannot write /proc/nowhere")


def test_scripts_can_be_run(tree):
    scripts = [p for p in Path(tree).rglob("*.sh")]
    assert scripts and all(p.stat().st_mode & 0o100 for p in scripts)


def test_says_which_cables_an_edit_moves(call, tmp_path):
    """Growth by a unit moves none where it was planned, and nearly all uplinks of the four spines of one unit where it was not."""
    text = (Path(__file__).parents[2] / "blueprints/superpod-h100.yaml").read_text()
    small, large = (text[: text.index("\ntraining:")].replace("count: 127, spares: 1", f"count: {n}, spares: 1") for n in (31, 63))
    (tmp_path / "x.yaml").write_text(small)
    first = call("generate", "x.yaml")
    assert first.exit_code == 0 and "cables of" not in first.stdout
    (tmp_path / "x.yaml").write_text(large)
    told = [line for line in call("generate", "x.yaml").stdout.splitlines() if line.startswith("cables of compute: ")]
    assert len(told) == 1 and "move to another port" in told[0]
    for text in (small, large):
        planned = text.replace("spares: 1}", "spares: 1, grow_to: 127}")
        (tmp_path / "x.yaml").write_text(planned)
        told = [line for line in call("generate", "x.yaml").stdout.splitlines() if line.startswith("cables of compute: ")]
    assert len(told) == 1 and "move" not in told[0] and " new" in told[0]
