"""``iacgen verify``: one line a judge, exit codes, JSON. What each judge says of a tree is tested beside the judges."""

import json
import os

import pytest

from iacgen.verify import JUDGES
from iacgen.verify.verdict import Verdict

NOWHERE = {"IACGEN_TRAINING_PYTHON": "/nonexistent/python"}


@pytest.fixture
def tree(call, blueprint, tmp_path):
    """The generated tree of the smallest blueprint: a DeepSpeed job, Slurm 22.05, no cloud."""
    done = call("generate", "lab.yaml")
    assert done.exit_code == 0, done.stdout + done.stderr
    return tmp_path / "out" / "lab"


def test_a_judge_without_files_is_not_applicable_and_not_missed(iacgen, tree):
    done = iacgen("verify", tree, "--only", "terraform", "--only", "megatron", "--require", env=NOWHERE | {"IACGEN_TERRAFORM": "/nonexistent"})
    assert done.returncode == 0
    *verdicts, closing = done.stdout.splitlines()
    assert [line.split()[0] for line in verdicts] == ["terraform", "megatron"]
    assert all("not applicable" in line for line in verdicts)
    assert closing == "0 judges passed, 0 not run, 0 failed"


def test_a_missing_judge_is_told_with_how_to_get_it(iacgen, tree):
    done = iacgen("verify", tree, "--only", "deepspeed", env=NOWHERE)
    assert done.returncode == 0
    assert "not run: missing" in done.stdout
    assert "tests/real/install.sh" in done.stdout
    assert "set -a; . .judges/env; set +a" in done.stdout
    assert done.stdout.splitlines()[-1] == "0 judges passed, 1 not run, 0 failed"


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--require",), 1)])
def test_a_judge_that_left_a_part_out_has_not_passed(call, tree, monkeypatch, options, code):
    monkeypatch.setattr("iacgen.verify.ask", lambda name, folder, project: Verdict(name, "opensm", "3.3.23", "in-part", 0.0))
    done = call("verify", tree, "--only", "opensm", *options)
    line, closing = done.stdout.splitlines()
    assert done.exit_code == code and "in part: no proof" in line
    assert closing == "0 judges passed, 1 judged a part, 0 not run, 0 failed"


def test_the_slurm_judge_of_the_other_version_takes_one_line(call, tree):
    done = call("verify", tree, "--only", "slurm-24.11")
    line, closing = done.stdout.splitlines()
    assert done.exit_code == 0
    assert line.split()[0] == "slurm-24.11" and "not run: other version" in line
    assert closing == "0 judges passed, 1 not run, 0 failed"


def test_files_for_people_are_listed_apart(call, tree, monkeypatch):
    monkeypatch.setattr("iacgen.verify.JUDGES", {})
    lines = call("verify", tree).stdout.splitlines()
    other, people = lines.index("no judge reads:"), lines.index("for people and for iacgen, no judge reads them:")
    assert {"    README.md", "    report.md", "    .iacgen/resolved.yaml"} <= set(lines[people:])
    assert "    slurm/slurm.conf" in lines[other:people]
    assert not {"    README.md", "    report.md"} & set(lines[other:people])


def test_a_missing_judge_is_a_finding_where_proof_is_required(iacgen, tree):
    assert iacgen("verify", tree, "--only", "deepspeed", "--require", env=NOWHERE).returncode == 1


def test_json_holds_one_verdict_a_judge(iacgen, tree):
    done = iacgen("verify", tree, "--only", "deepspeed", "--format", "json", env=NOWHERE)
    answer = json.loads(done.stdout)
    (verdict,) = answer["verdicts"]
    assert (verdict["judge"], verdict["status"], verdict["version"]) == ("deepspeed", "missing", None)
    assert answer["edited"] == []


def test_starts_no_program_on_files_that_the_blueprint_does_not_make(call, tree, monkeypatch):
    """A stranger's slurm.conf may name a program to run, a stranger's ansible.cfg a plug-in."""
    monkeypatch.setattr("iacgen.verify.ask", lambda *_: pytest.fail("a program was started"))
    (tree / "slurm/slurm.conf").write_text("SlurmctldPrimaryOnProg=/tmp/x\n")
    (tree / "nccl/nccl.conf").unlink()
    done = call("verify", tree)
    assert done.exit_code == 1
    assert done.stdout.splitlines()[1:3] == ["    nccl/nccl.conf", "    slurm/slurm.conf"]
    assert "no program was started" in done.stdout
    assert json.loads(call("verify", tree, "--format", "json").stdout)["edited"] == ["nccl/nccl.conf", "slurm/slurm.conf"]


def test_a_tree_without_its_files_proves_nothing(call, tree):
    for path in sorted(tree.rglob("*"), reverse=True):
        if ".iacgen" not in path.parts:
            path.rmdir() if path.is_dir() else path.unlink()
    assert call("verify", tree, "--require").exit_code == 1


def test_judges_edited_files_where_it_is_told_to(call, tree):
    (tree / "slurm/slurm.conf").write_text("mine\n")
    done = call("verify", tree, "--only", "megatron", "--edited")
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-3:-1] == ["edited since it was generated:", "    slurm/slurm.conf"]
    assert call("verify", tree, "--only", "megatron", "--edited", "--require").exit_code == 1


def test_a_file_that_is_not_of_iacgen_reaches_no_program(call, tree, monkeypatch):
    seen = []
    monkeypatch.setattr("iacgen.verify.ask", lambda name, folder, project: seen.append((folder / "ansible/lab-room/callback.py").exists()) or Verdict(name, "x", None, "not-applicable", 0.0))
    (tree / "ansible/lab-room/callback.py").write_text("import os\n")
    done = call("verify", tree)
    assert seen and not any(seen)
    assert "    ansible/lab-room/callback.py" in done.stdout.splitlines()


def test_a_link_in_place_of_the_resolved_blueprint_is_not_followed(call, tree, tmp_path):
    (tmp_path / "secret").write_text("root:x\n")
    (tree / ".iacgen/resolved.yaml").unlink()
    (tree / ".iacgen/resolved.yaml").symlink_to(tmp_path / "secret")
    done = call("verify", tree)
    assert done.exit_code == 2 and "root:x" not in done.stdout + done.stderr


def test_writes_nothing_into_the_tree(call, tree, files, monkeypatch):
    monkeypatch.setenv("IACGEN_TRAINING_PYTHON", "/nonexistent/python")
    before = files(tree)
    call("verify", tree, "--only", "deepspeed", "--only", "megatron", "--only", "nccl")
    assert files(tree) == before


def test_an_unknown_judge_is_named_with_those_that_exist(iacgen, tree):
    done = iacgen("verify", tree, "--only", "pbs")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"iacgen: there is no judge 'pbs'; there are {', '.join(JUDGES)}\n"


@pytest.mark.parametrize("spoil", ["no folder", "no tree", "a file", "no resolved blueprint", "an older language", "a broken manifest"])
def test_what_is_no_tree_cannot_be_judged(call, tree, tmp_path, spoil):
    folder = tmp_path / "x"
    if spoil == "no tree":
        folder.mkdir()
    elif spoil == "a file":
        folder.write_text("")
    elif spoil != "no folder":
        folder = tree
    if spoil == "no resolved blueprint":
        (tree / ".iacgen/resolved.yaml").unlink()
    elif spoil == "an older language":
        (tree / ".iacgen/resolved.yaml").write_text("kind: Cluster\nschema: 0\n")
    elif spoil == "a broken manifest":
        (tree / ".iacgen/manifest.json").write_text("[]")
    done = call("verify", folder)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"iacgen: {folder} ")


def test_the_defaults_of_a_large_blueprint_are_read_back(call, blueprint, tmp_path):
    """With every default written out a blueprint is larger than it was; what ``generate`` writes, ``verify`` takes."""
    head = blueprint.read_text().partition("\ntraining:")[0]
    blueprint.write_text(head + "\ntraining:\n" + "".join(f"  j{i}x: {{model: llama-3-8b, nodes: gpu, count: 1, sequence: 8192, global_batch: 128, gradients: bf16, recompute: full, framework: megatron, parallel: {{tensor: 8}}}}\n" for i in range(300)))
    done = call("generate", "lab.yaml")
    assert done.exit_code == 0, done.stdout[:500]
    done = call("verify", "out/lab", "--only", "nccl")
    assert "another version" not in done.stderr


def test_a_tree_that_is_no_text(call, tmp_path):
    (tmp_path / "tree/.iacgen").mkdir(parents=True)
    (tmp_path / "tree/.iacgen/manifest.json").write_text('{"version": 1, "files": {}}')
    (tmp_path / "tree/.iacgen/resolved.yaml").write_bytes(b"\xff\xfe\x00")
    done = call("verify", "tree")
    assert done.exit_code == 2


def test_a_file_that_the_system_refuses_is_named(call, tree, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied", str(tree / "slurm/slurm.conf"))

    monkeypatch.setattr("iacgen.output.plan", refuse)
    for words in ((), ("--edited",)):
        done = call("verify", tree, *words)
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr == f"iacgen: {tree / 'slurm/slurm.conf'} cannot be read: Permission denied\n"


@pytest.mark.judge("nccl")
@pytest.mark.parametrize(("words", "says"), [((), "    nccl/nccl.conf"), (("--edited",), "    error[IAC830] unreadable-file: nccl/nccl.conf is no UTF-8 text: byte 12 is 0xff")])
def test_a_file_that_is_no_text_is_named(call, tree, words, says):
    (tree / "nccl/nccl.conf").write_bytes(b"NCCL_DEBUG=\xff\n")
    done = call("verify", tree, "--only", "nccl", *words)
    assert done.exit_code == 1
    assert says in done.stdout.splitlines()


def test_an_edited_value_is_named_beside_what_the_blueprint_makes(call, tree):
    path = tree / "ansible/lab-room/inventory/group_vars/pool_gpu.yml"
    text = path.read_text()
    path.write_text("# mine\n" + text.replace("nvidia_driver_gpus: 8", "nvidia_driver_gpus: 4").replace("prefix: 12", "prefix: 16", 1) + "more: no\n")
    done = call("verify", tree, "--only", "megatron", "--edited")
    name = path.relative_to(tree).as_posix()
    assert [line for line in done.stdout.splitlines() if "IAC831" in line] == [
        f"    warning[IAC831] edited-value: {name}: nvidia_driver_gpus is 4; the blueprint makes 8",
        f"    warning[IAC831] edited-value: {name}: roce_host_ports[0].prefix is 16; the blueprint makes 12",
        f"    warning[IAC831] edited-value: {name}: more is null; the blueprint makes no such value",
    ]
    values = json.loads(call("verify", tree, "--only", "megatron", "--edited", "--format", "json").stdout)["values"]
    assert [f["severity"] for f in values] == ["warning"] * 3


def test_a_comment_is_no_value(call, tree):
    path = tree / "ansible/lab-room/inventory/group_vars/pool_gpu.yml"
    path.write_text(path.read_text() + "# checked by hand\n")
    done = call("verify", tree, "--only", "megatron", "--edited")
    assert "edited since it was generated:" in done.stdout and "IAC831" not in done.stdout


def test_a_pipe_in_place_of_the_resolved_blueprint_is_not_waited_for(iacgen, tree):
    (tree / ".iacgen/resolved.yaml").unlink()
    os.mkfifo(tree / ".iacgen/resolved.yaml")
    done = iacgen("verify", tree)
    assert done.returncode == 2 and "is not an output folder of iacgen" in done.stderr
