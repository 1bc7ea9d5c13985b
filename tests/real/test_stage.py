"""The copy before a job starts: the generated script, run by every node at once with the real AWS command line on a local S3."""

from __future__ import annotations

import os
import shutil
import subprocess
from functools import cache

import pytest

from iacgen.paths import data_folder
from iacgen.pipeline import run
from iacgen.targets import data
from iacgen.verify import programs
from iacgen.verify.process import clean_environment

pytestmark = pytest.mark.judge("moto")

OBJECTS = {f"v3/shard-{number:05d}.tar": f"shard {number}\n" for number in range(7)} | {
    "v3/index/a b'c.json": "{}\n",  # a blank and a quote
    "v3/empty/": "",  # a folder as the console makes it
    "v30/other.tar": "of another prefix\n",
}
WANTED = {key.removeprefix("v3/"): text for key, text in OBJECTS.items() if key.startswith("v3/") and not key.endswith("/")}
NODES = 3


@pytest.fixture(scope="module")
def s3(aws, tmp_path_factory):
    """Variables by which the AWS command line finds a local S3 with a bucket of objects."""
    home = tmp_path_factory.mktemp("s3")
    environment = {
        **clean_environment(), "PATH": f"{programs.find('moto').path.parent}:{os.environ['PATH']}", "HOME": str(home), "AWS_ENDPOINT_URL": aws.url,
        "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing", "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip
    for key, text in OBJECTS.items():
        file = home / "objects" / (f"{key}.folder" if key.endswith("/") else key)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    command = lambda *words: subprocess.run(["aws", *words], env=environment, check=True, capture_output=True, timeout=120)  # noqa: E731
    command("s3", "mb", "s3://acme-corpus")
    command("s3", "sync", str(home / "objects"), "s3://acme-corpus", "--exclude", "*.folder")
    command("s3api", "put-object", "--bucket", "acme-corpus", "--key", "v3/empty/")
    return environment


@cache
def script(told: str, name: str = "superpod-h100") -> str:
    text = (data_folder("blueprints") / f"{name}.yaml").read_text().replace("    zero: 3\n", f"    zero: 3\n    input: {told}\n")
    project = run(text, name).project
    assert project
    return next(text for path, text in data.render(project).items() if path.endswith("stage.sh"))


def copied(told, folder, s3, target, nodes=NODES, **more):
    """What each of ``nodes`` copies has afterwards, and what the runs said; ``target`` stands in for the blueprint's folder."""
    said = []
    for node in range(nodes):
        place = folder / f"node{node}" if "raid" in told else folder
        (folder / "stage.sh").write_text(script(told).replace(f"to={target}\n", f"to='{place}/the corpus'\n"))
        done = subprocess.run(["bash", folder / "stage.sh"], env={**s3, "SLURM_PROCID": str(node), "SLURM_NTASKS": str(nodes), **more}, capture_output=True, text=True, timeout=300)
        said.append((done.returncode, done.stderr))
    return [{p.relative_to(root).as_posix(): p.read_text() for p in sorted(root.rglob("*")) if p.is_file()} for root in sorted(folder.rglob("the corpus"))], said


def test_each_node_copies_its_part_and_all_together_everything_once(s3, tmp_path):
    told = '{size: 100MB, stage: {source: "s3://acme-corpus/v3", target: /raid/corpus, share: true}}'
    trees, said = copied(told, tmp_path, s3, "/raid/corpus")
    assert said == [(0, "")] * NODES
    names = [name for tree in trees for name in tree]
    assert sorted(names) == sorted(WANTED)  # none twice, none missing
    assert {name: text for tree in trees for name, text in tree.items()} == WANTED
    assert max(map(len, trees)) - min(map(len, trees)) <= 2


def test_one_copy_on_a_store_is_made_by_all_nodes(s3, tmp_path):
    told = '{stage: {source: "s3://acme-corpus/v3", target: /scratch/corpus}}'
    trees, said = copied(told, tmp_path, s3, "/scratch/corpus")
    assert (trees, said) == ([WANTED], [(0, "")] * NODES)


def test_each_node_may_have_everything(s3, tmp_path):
    told = '{size: 100MB, stage: {source: "s3://acme-corpus/v3", target: /raid/corpus}}'
    trees, said = copied(told, tmp_path, s3, "/raid/corpus", nodes=2)
    assert (trees, said) == ([WANTED, WANTED], [(0, "")] * 2)


def test_a_second_run_copies_what_is_missing(s3, tmp_path):
    told = '{size: 100MB, stage: {source: "s3://acme-corpus/v3", target: /raid/corpus, share: true}}'
    copied(told, tmp_path, s3, "/raid/corpus", nodes=1)
    root = tmp_path / "node0/the corpus"
    (root / "shard-00003.tar").unlink()
    (root / "shard-00004.tar").write_text("kept as it is\n")
    ((tree,), said) = copied(told, tmp_path, s3, "/raid/corpus", nodes=1)
    assert said == [(0, "")]
    assert tree == WANTED | {"shard-00004.tar": "kept as it is\n"}


def test_a_disk_without_room_is_told_before_anything_is_copied(s3, tmp_path):
    told = '{size: 900PB, stage: {source: "s3://acme-corpus/v3", target: /raid/corpus}}'
    text = (data_folder("blueprints") / "superpod-h100.yaml").read_text().replace("    zero: 3\n", f"    zero: 3\n    input: {told.replace('900PB', '20TB')}\n")
    project = run(text, "superpod").project
    made = data.render(project)["training/finetune/stage.sh"].replace("20000000000000", "900000000000000000").replace("to=/raid/corpus", f"to={tmp_path}/corpus")
    (tmp_path / "stage.sh").write_text(made)
    done = subprocess.run(["bash", tmp_path / "stage.sh"], env={**s3, "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "bytes of 900000000000000000" in done.stderr
    assert list((tmp_path / "corpus").iterdir()) == []


def test_a_bucket_that_is_not_there_stops_the_job(s3, tmp_path):
    told = '{stage: {source: "s3://acme-corpse/v3", target: /scratch/corpus}}'
    _, ((code, complaint),) = copied(told, tmp_path, s3, "/scratch/corpus", nodes=1)
    assert code != 0
    assert "NoSuchBucket" in complaint


def test_the_bucket_of_a_section_is_told_with_the_job(s3, tmp_path):
    text = (data_folder("blueprints") / "aws-p5.yaml").read_text().replace("    zero: 3\n", "    zero: 3\n    input: {stage: {source: checkpoints, target: /fsx/corpus}}\n")
    made = data.render(run(text, "aws").project)["training/pretrain/stage.sh"].replace("to=/fsx/corpus", f"to={tmp_path}/corpus")
    (tmp_path / "stage.sh").write_text(made)
    ask = lambda **more: subprocess.run(["bash", tmp_path / "stage.sh"], env={**s3, "SLURM_PROCID": "0", "SLURM_NTASKS": "1", **more}, capture_output=True, text=True, timeout=120)  # noqa: E731
    assert "STAGE_FROM is not set" in ask().stderr
    assert ask(STAGE_FROM="s3://acme-corpus/v3/").returncode == 0
    assert sorted(p.name for p in (tmp_path / "corpus").iterdir()) == ["index", *sorted(n for n in WANTED if n.startswith("shard"))]


def test_without_the_command_line_it_says_so(tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ("bash", "uname"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    (tmp_path / "stage.sh").write_text(script('{stage: {source: "s3://acme-corpus/v3", target: /scratch/corpus}}'))
    done = subprocess.run(["bash", tmp_path / "stage.sh"], env={"PATH": str(tmp_path / "bin"), "SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, capture_output=True, text=True, timeout=60)
    assert (done.returncode, "the AWS command line is not installed" in done.stderr) == (1, True)
