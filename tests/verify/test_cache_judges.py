"""The judges of cache servers: what Redis and memcached take of the generated files, and what they are never started with."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from iacgen.output import apply, plan
from iacgen.paths import data_folder
from iacgen.pipeline import run
from iacgen.targets import data
from iacgen.verify import caches

JUDGES = {"redis": caches.REDIS, "memcached": caches.MEMCACHED}
EACH = pytest.mark.parametrize("kind", [pytest.param(kind, marks=pytest.mark.judge(kind)) for kind in JUDGES])


@cache
def project_of(kind):
    text = (data_folder("blueprints") / "superpod-h100.yaml").read_text()
    state = run(text.replace("    zero: 3\n", f"    zero: 3\n    input: {{sample: 150kB, cache: {{kind: {kind}, servers: ufm}}}}\n"), "superpod.yaml")
    assert state.project, state.findings
    return state.project


def written(folder, kind, old="", new=""):
    files = data.render(project_of(kind))
    path = f"training/finetune/{kind}.conf"
    assert old in files[path]
    apply(plan({path: files[path].replace(old, new, 1)}, folder), folder)
    return folder


def servers():
    """Processes of either server on this machine."""
    names = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (folder / "comm").exists():
            try:
                names[int(folder.name)] = (folder / "comm").read_text().strip()
            except OSError:
                continue
    return {pid for pid, name in names.items() if name in ("redis-server", "memcached")}


@EACH
def test_the_server_takes_what_is_planned_and_ends(kind, tmp_path):
    before = servers()
    verdict = JUDGES[kind].verify(written(tmp_path, kind), project_of(kind))
    assert [finding.message for finding in verdict.findings] == []
    assert (verdict.status, verdict.judge) == ("passed", kind)
    assert servers() <= before
    assert os.listdir(tmp_path) == ["training"] or set(os.listdir(tmp_path)) == {"training", ".iacgen"}


@EACH
def test_a_tree_without_such_a_cache_is_none_of_its_business(kind, tmp_path):
    other = "memcached" if kind == "redis" else "redis"
    assert JUDGES[kind].verify(written(tmp_path, other), project_of(other)).status == "not-applicable"


@pytest.mark.parametrize(
    ("kind", "old", "new", "says"),
    [
        pytest.param("redis", "maxmemory-policy allkeys-lru", "maxmemory-policy noeviction", "`maxmemory-policy allkeys-lru` is missing", marks=pytest.mark.judge("redis")),
        pytest.param("redis", "appendonly no", "appendonly no\nloadmodule /tmp/own.so", "`loadmodule /tmp/own.so` is not of the plan", marks=pytest.mark.judge("redis")),
        pytest.param("memcached", "-U 0", "-U 11211", "`-U 0` is missing", marks=pytest.mark.judge("memcached")),
        pytest.param("memcached", "-c 544", "-c 1", "`-c 1` is not of the plan", marks=pytest.mark.judge("memcached")),
    ],
)
def test_what_was_changed_by_hand_is_refused(kind, old, new, says, tmp_path):
    verdict = JUDGES[kind].verify(written(tmp_path, kind, old, new), project_of(kind))
    assert verdict.status == "failed"
    assert any(finding.slug == "cache-not-of-plan" and says in finding.message for finding in verdict.findings), verdict.findings


@EACH
def test_a_file_that_is_missing_is_told(kind, tmp_path):
    (written(tmp_path, kind) / f"training/finetune/{kind}.conf").unlink()
    assert [finding.message for finding in JUDGES[kind].verify(tmp_path, project_of(kind)).findings] == [f"training/finetune/{kind}.conf is missing"]


@pytest.mark.judge("memcached")
def test_an_item_larger_than_memcached_holds_is_refused_by_memcached_itself(tmp_path):
    """A check of the blueprint says so before; here memcached is asked."""
    project = project_of("memcached")
    job = project.jobs["finetune"]
    large = replace(project, jobs={"finetune": replace(job, reading=replace(job.reading, sample_bytes=2 * 10**9))})
    apply(plan({p: text for p, text in data.render(large).items() if p.endswith("memcached.conf")}, tmp_path), tmp_path)
    (finding,) = JUDGES["memcached"].verify(tmp_path, large).findings
    assert finding.slug == "cache-refused"
    assert "Cannot set item size limit higher than a gigabyte" in finding.message
