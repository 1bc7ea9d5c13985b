"""The judge of loaders: what PyTorch and bash take of the generated files, and what they are not given."""

from __future__ import annotations

import subprocess
from functools import cache

import pytest

from iacgen.output import apply, plan
from iacgen.paths import data_folder
from iacgen.pipeline import run
from iacgen.targets import data
from iacgen.verify import dataloader

INPUTS = {
    "plain": "",
    "images": "    input: {size: 12TB, sample: 150kB, loaded: 600kB, prepare: 40ms, shards: 4096, silence: 5s}\n",
    "tf.data": "    input: {loader: tf.data, sample: 150kB, prepare: 40ms, shards: 4096}\n",
    "staged": '    data: /raid/corpus\n    input: {size: 12TB, stage: {source: "s3://acme-corpus/v3", target: /raid/corpus, share: true}}\n',
    "staged whole": '    data: /raid/corpus\n    input: {size: 12TB, stage: {source: "s3://acme-corpus", target: /raid/corpus}}\n',
    "staged to the store": '    data: /scratch/corpus\n    input: {stage: {source: "s3://acme-corpus/v3", target: /scratch/corpus}}\n',
    "redis": "    input: {cache: {kind: redis, servers: ufm}}\n",
    "memcached": "    input: {cache: {kind: memcached, servers: ufm}}\n",
    "nvme": "    input: {size: 2TB, cache: {kind: nvme, path: /raid/cache}}\n",
}


@cache
def project_of(told):
    text = (data_folder("blueprints") / "superpod-h100.yaml").read_text()
    state = run(text.replace("    zero: 3\n", f"    zero: 3\n{INPUTS[told]}"), "superpod.yaml")
    assert state.project, state.findings
    return state.project


def judged(folder, told, **edits):
    """The verdict on the files of a job, some of them edited: old and new text by a name without dots."""
    project = project_of(told)
    files = data.render(project)
    for name, (old, new) in edits.items():
        path = f"training/finetune/{name.replace('_', '.')}"
        assert old in files[path]
        files[path] = files[path].replace(old, new, 1)
    apply(plan(files, folder), folder)
    return dataloader.verify(folder, project)


@pytest.mark.judge("dataloader")
@pytest.mark.parametrize("told", INPUTS)
def test_torch_and_bash_take_what_is_written(told, tmp_path):
    verdict = judged(tmp_path, told)
    assert [finding.message for finding in verdict.findings] == []
    assert verdict.status == "passed"


@pytest.mark.judge("dataloader")
@pytest.mark.parametrize(
    ("told", "edits", "slug", "says"),
    [
        ("plain", {"data_env": ("TRAIN_LOADER_WORKERS=2", "TRAIN_LOADER_WORKERS=3")}, "launch-not-of-plan", "TRAIN_LOADER_WORKERS is 3, but the job was planned with 2"),
        ("plain", {"data_env": ("TRAIN_LOADER_WORKERS=2", "TRAIN_LOADER_WORKERS=$(reboot)")}, "launch-not-of-plan", "no assignment of one word"),
        ("plain", {"data_env": ("TRAIN_SHARDS=256", "TRAIN_SHARDS=128")}, "launch-not-of-plan", "TRAIN_SHARDS is 128"),
        ("redis", {"data_env": ("ufm0001:6379,", "")}, "launch-not-of-plan", "TRAIN_CACHE_SERVERS is ufm0002:6379"),
        ("nvme", {"data_env": ("TRAIN_CACHE_BYTES=2000000000000", "TRAIN_CACHE_BYTES=2")}, "launch-not-of-plan", "TRAIN_CACHE_BYTES is 2,"),
        ("staged", {"stage_sh": ("from=s3://acme-corpus/v3", "from=s3://other/v3")}, "launch-not-of-plan", "`from=s3://other/v3` is no planned step"),
        ("staged", {"stage_sh": ("NR % nodes == node", "NR % nodes == 0")}, "launch-not-of-plan", "each node copies its part"),
        ("staged", {"stage_sh": ("free >= 375000000000", "free >= 1")}, "launch-not-of-plan", "a disk that fills up"),
        ("staged whole", {"stage_sh": ("aws s3 sync", "aws s3 rm --recursive")}, "launch-not-of-plan", "rm --recursive"),
    ],
)  # fmt: skip
def test_what_was_changed_by_hand_is_refused(told, edits, slug, says, tmp_path):
    verdict = judged(tmp_path, told, **edits)
    assert verdict.status == "failed"
    assert any(finding.slug == slug and says in finding.message for finding in verdict.findings), verdict.findings


@pytest.mark.judge("dataloader")
def test_torch_itself_has_the_last_word_on_workers(tmp_path):
    """A plan with more workers than a rank has processors: the words are the plan's, and torch warns of them."""
    text = (data_folder("blueprints") / "superpod-h100.yaml").read_text()
    state = run(text.replace("    zero: 3\n", "    zero: 3\n    input: {workers: 64}\n"), "superpod.yaml")
    apply(plan(data.render(state.project), tmp_path), tmp_path)
    verdict = dataloader.verify(tmp_path, state.project)
    assert [finding.slug for finding in verdict.findings] == ["dataloader-refused"]
    assert "will create 64 worker processes in total" in verdict.findings[0].message
    assert "is 28" in verdict.findings[0].message


@pytest.mark.judge("dataloader")
def test_files_that_are_missing_or_of_no_job_are_told(tmp_path):
    assert judged(tmp_path, "staged").status == "passed"
    (tmp_path / "training/finetune/stage.sh").rename(tmp_path / "training/pretrain/stage.sh")
    (tmp_path / "training/pretrain/data.env").unlink()
    messages = [finding.message for finding in dataloader.verify(tmp_path, project_of("staged")).findings]
    assert messages == [
        "training/finetune/stage.sh is missing",
        "training/pretrain/data.env is missing",
        "training/pretrain/stage.sh belongs to no such job of the blueprint",
    ]


@pytest.mark.parametrize("told", ["staged", "staged whole", "staged to the store"])
def test_the_copy_is_shell_that_shellcheck_likes(told, tmp_path):
    script = tmp_path / "stage.sh"
    script.write_text(data.render(project_of(told))["training/finetune/stage.sh"])
    assert subprocess.run(["bash", "-n", script], timeout=60).returncode == 0
