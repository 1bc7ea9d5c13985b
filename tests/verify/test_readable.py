"""A tree that anything may have edited: each judge names the file that it cannot read, and asks no program."""

import os
from pathlib import Path

import pytest

from iacgen.output import apply, plan
from iacgen.pipeline import run, tree
from iacgen.verify import JUDGES, ask, judge
from iacgen.verify.readable import unreadable

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"
FILES = {
    "terraform": ("aws-p5", ["terraform/ohio/storage.tf", "terraform/ohio/terraform.tfvars.json", "terraform/ohio/boot/sync.sh"]),
    "ansible": ("lab", ["ansible/lab-room/site.yml", "ansible/lab-room/inventory/hosts.yml", "ansible/lab-room/roles/slurm/tasks/main.yml"]),
    "slurm-22.05": ("lab", ["slurm/slurm.conf", "slurm/pretrain.ranks"]),
    "slurm-24.11": ("aws-p5", ["slurm/gres.conf", "slurm/pretrain.sbatch"]),
    "deepspeed": ("lab", ["training/pretrain/ds_config.json", "training/pretrain/hostfile", "training/pretrain/job.env", "training/pretrain/launch.sh"]),
    "megatron": ("superpod-h100", ["training/pretrain/megatron.args", "training/pretrain/megatron.env", "training/pretrain/launch.sh"]),
    "nccl": ("lab", ["nccl/nccl.conf", "nccl/nccl.sh", "nccl/container.env", "training/pretrain/.deepspeed_env"]),
}


@pytest.fixture(scope="module")
def states():
    return {name: run((BLUEPRINTS / f"{name}.yaml").read_text(), name) for name in ("lab", "superpod-h100", "aws-p5")}


@pytest.fixture
def written(tmp_path, states):
    def write(name):
        apply(plan(tree(states[name]), tmp_path / name), tmp_path / name)
        return tmp_path / name, states[name].project

    return write


def of_another_encoding(path):
    path.write_bytes(path.read_bytes() + b"# caf\xe9\n")


def a_link(path):
    path.unlink()
    path.symlink_to("/etc/passwd")


def a_pipe(path):
    path.unlink()
    os.mkfifo(path)


def a_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(("name", "file"), [pytest.param(name, file, marks=pytest.mark.judge(name)) for name, (_, files) in FILES.items() for file in files])
def test_a_file_of_another_encoding_is_named(written, name, file):
    folder, project = written(FILES[name][0])
    of_another_encoding(folder / file)
    verdict = ask(name, folder, project)
    assert (verdict.status, [f.slug for f in verdict.findings]) == ("failed", ["unreadable-file"])
    assert verdict.findings[0].message.startswith(f"{file} is no UTF-8 text: byte ")
    assert verdict.findings[0].message.endswith("0xe9")


@pytest.mark.parametrize("end", [b"\r", b"\r\n"], ids=["CR", "CRLF"])
@pytest.mark.parametrize(("name", "file"), [pytest.param(name, file, marks=pytest.mark.judge(name)) for name, (_, files) in FILES.items() for file in files if not file.endswith((".yml", ".json"))])
def test_lines_of_another_system_are_named(written, name, file, end):
    """Python's readers would take them for lines, while bash takes a script of CR alone for its first comment."""
    folder, project = written(FILES[name][0])
    (folder / file).write_bytes((folder / file).read_bytes().replace(b"\n", end))
    verdict = ask(name, folder, project)
    assert (verdict.status, [f.slug for f in verdict.findings]) == ("failed", ["unreadable-file"])
    assert verdict.findings[0].message.startswith(f"{file} has lines of another system: byte ")


def test_a_file_that_no_tree_has_is_not_read(tmp_path):
    (tmp_path / "slurm").mkdir()
    with (tmp_path / "slurm/slurm.conf").open("wb") as file:
        file.truncate(1 << 40)
    assert [f.message for f in unreadable(tmp_path, ["slurm/*.conf"])] == ["slurm/slurm.conf has 1,099,511,627,776 bytes, more than a file of iacgen can have"]


@pytest.mark.parametrize("spoil", [a_link, a_pipe, a_folder])
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.judge(name)) for name in FILES])
def test_what_is_no_file_is_refused_and_not_followed(written, name, spoil):
    folder, project = written(FILES[name][0])
    spoil(folder / FILES[name][1][0])
    verdict = ask(name, folder, project)
    assert verdict.status == "failed"
    assert FILES[name][1][0].rpartition("/")[2] in verdict.findings[0].message or "site.yml" in FILES[name][1][0]


def test_a_file_that_the_system_refuses(tmp_path, monkeypatch):
    (tmp_path / "slurm").mkdir()
    (tmp_path / "slurm/slurm.conf").write_text("")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    (found,) = unreadable(tmp_path, ["slurm/*.conf"])
    assert found.message == "slurm/slurm.conf cannot be read: Permission denied"


def test_what_programs_keep_for_themselves_and_what_is_only_copied_may_be_anything_but_a_link(tmp_path):
    for path in ("terraform/a/.terraform/providers/x", "training/j/model.bin"):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_bytes(b"\xff\xfe")
    (tmp_path / "terraform/a/.terraform/link").symlink_to("/")
    assert list(unreadable(tmp_path, ["terraform/*.tf"], ["training/*"])) == []
    (tmp_path / "training/j/link").symlink_to("/")
    assert [f.message for f in unreadable(tmp_path, ["terraform/*.tf"], ["training/*"])] == ["training/j/link is a symbolic link"]


@pytest.mark.parametrize("name", ["lab", "aws-p5", "superpod-h100"])
def test_what_iacgen_writes_can_be_read(written, name):
    folder, _ = written(name)
    assert list(unreadable(folder, [pattern for each in JUDGES for pattern in judge(each).READS], ["*"])) == []


@pytest.mark.judge("ansible")
@pytest.mark.parametrize("text", ["- a\n- list\n", "words\n", "all: [1]\n", "all: {children: [x]}\n"])
@pytest.mark.parametrize("file", ["inventory/hosts.yml", "inventory/group_vars/all/cluster.yml", "site.yml", "roles/slurm/tasks/main.yml", "roles/slurm/defaults/main.yml"])
def test_yaml_of_another_form_is_a_finding(written, file, text):
    folder, project = written("lab")
    (folder / "ansible/lab-room" / file).write_text(text)
    assert ask("ansible", folder, project).status == "failed"


@pytest.mark.judge("deepspeed")
@pytest.mark.parametrize("text", ["[]", "3", '{"optimizer": 3}', '{"optimizer": {"type": 3}}', '{"gradient_clipping": "much"}', '{"pipeline": []}', '{"zero_optimization": {"zero_hpz_partition_size": "2"}}'])
def test_a_configuration_of_another_form_is_a_finding(written, text):
    folder, project = written("lab")
    sound = (folder / "training/pretrain/ds_config.json").read_text().strip().removeprefix("{")
    (folder / "training/pretrain/ds_config.json").write_text(text.removesuffix("}") + "," + sound if text.startswith("{") else text)
    assert ask("deepspeed", folder, project).status == "failed"
