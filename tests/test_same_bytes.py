"""The same blueprint gives the same bytes: again, elsewhere, under another hash seed, locale and time zone; growth renames nobody."""

import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from iacgen.pipeline import run, tree

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "blueprints").glob("*.yaml"))
NAMES = [p.stem for p in FILES]


def digest(folder):
    """One digest of all below a folder: paths, contents, executable bits."""
    sums = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        sums.update(f"{path.relative_to(folder)} {path.stat().st_mode & 0o100} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return sums.hexdigest()


def generate(work, blueprint, **environment):
    """The digest and the screen of ``iacgen generate`` in a process of its own, without the name that the blueprint was given by."""
    work.mkdir(parents=True, exist_ok=True)
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONHASHSEED", "TZ", "LANG") and not k.startswith("LC_")}
    done = subprocess.run([sys.executable, "-m", "iacgen", "generate", blueprint], cwd=work, env=kept | environment, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return digest(work / "out"), done.stdout.replace(os.fsencode(blueprint), b"")


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """Each blueprint's tree as one process made it."""
    work = tmp_path_factory.mktemp("first")
    return {file.stem: generate(work / file.stem, file, PYTHONHASHSEED="0", LC_ALL="C.UTF-8", TZ="UTC") for file in FILES}


CIRCUMSTANCES = {
    "another hash seed": {"PYTHONHASHSEED": "1"},
    "a random hash seed, another time zone": {"PYTHONHASHSEED": "random", "TZ": "Pacific/Kiritimati"},
    "the C locale without UTF-8": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "an optimised interpreter": {"PYTHONOPTIMIZE": "2"},
}


@pytest.mark.parametrize("environment", CIRCUMSTANCES.values(), ids=CIRCUMSTANCES.keys())
@pytest.mark.parametrize("name", NAMES)
def test_circumstances_change_no_byte(first, tmp_path, name, environment):
    elsewhere = tmp_path / "a folder with spaces" / "ü" / name
    assert generate(elsewhere, ROOT / "blueprints" / f"{name}.yaml", **environment) == first[name]


@pytest.mark.parametrize("name", NAMES)
def test_the_path_of_the_blueprint_is_in_no_file(first, tmp_path, name):
    copy = tmp_path / "renamed-blueprint.yaml"
    copy.write_bytes((ROOT / "blueprints" / f"{name}.yaml").read_bytes())
    assert generate(tmp_path / "work", copy) == first[name]


@pytest.mark.parametrize("name", NAMES)
def test_comments_and_layout_change_no_byte(first, tmp_path, name):
    text = (ROOT / "blueprints" / f"{name}.yaml").read_text(encoding="utf-8")
    copy = tmp_path / f"{name}.yaml"
    copy.write_text("# another\n" + text.replace("\n", "\r\n") + "\n# last\n", encoding="utf-8", newline="")
    assert generate(tmp_path / "work", copy) == first[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_second_call_in_one_process_changes_no_byte(name):
    text = (ROOT / "blueprints" / f"{name}.yaml").read_text(encoding="utf-8")
    here, there = run(text, "a.yaml"), run(text, "b.yaml")
    assert list(tree(here).items()) == list(tree(there).items())
    assert list(tree(here).items()) == list(tree(here).items())


@pytest.mark.parametrize("name", NAMES)
def test_no_file_names_this_machine(name):
    text = (ROOT / "blueprints" / f"{name}.yaml").read_text(encoding="utf-8")
    for path, content in tree(run(text, "somewhere/x.yaml")).items():
        assert str(ROOT) not in content and "somewhere/x.yaml" not in content, path
        assert content.endswith("\n") and "\r" not in content, path


def grown(count):
    """Name → addresses, and the files, of a cluster of ``count`` GPU hosts. Above two tiers' reach it has no fabric."""
    site, gpu, ctl = {"hall": {"kind": "on-prem"}}, {"site": "hall", "system": "dgx-h100", "count": count}, {"site": "hall", "system": "generic-1u", "count": 1}
    fabrics = {
        "compute": {"site": "hall", "purpose": "compute", "connects": ["gpu"], "technology": "infiniband", "topology": "rail-fat-tree", "unit": 32, "switch": "qm9700", "manager": {"kind": "opensm", "pool": "gpu"}},
        "mgmt": {"site": "hall", "purpose": "management", "connects": ["gpu", "ctl"], "technology": "ethernet", "switch": "sn2201"},
    }
    job = {"model": "llama-3-8b", "nodes": "gpu", "count": 1, "sequence": 8192, "global_batch": 8, "framework": "deepspeed", "recompute": "full"}
    blueprint = {
        "kind": "Cluster", "schema": 1, "name": "grow", "sites": site, "nodes": {"gpu": gpu, "ctl": ctl}, "fabrics": fabrics if count < 1000 else {},
        "scheduler": {"kind": "slurm", "version": "24.11", "controllers": "ctl"}, "training": {"tune": job},
    }  # fmt: skip
    state = run(json.dumps(blueprint), "grow.yaml")
    assert state.project, state.findings
    design = state.project.design
    addresses = {host: [design.address(host, purpose, port) for purpose, port in (("management", 0), ("compute", 0), ("compute", 7))] for host in design.pools["gpu"].hosts}
    return addresses, tree(state)


def named(text):
    """Every host of the pool that a text names, ranges written out: ``gpu[0001-0003]`` and Ansible's ``gpu[0001:0003]``."""
    names = set(re.findall(r"\bgpu\d+\b", text))
    for inside in re.findall(r"\bgpu\[([^\]]+)\]", text):
        for part in inside.split(","):
            first, _, last = part.replace(":", "-").partition("-")
            names |= {f"gpu{n:0{len(first)}d}" for n in range(int(first), int(last or first) + 1)}
    return names


def test_growth_renames_nobody_and_moves_no_address():
    sizes = [grown(count) for count in (99, 127)]
    (before, _), (after, _) = sizes
    assert len(before) == 99 and len(after) == 127
    assert {host: after[host] for host in before} == before
    assert len({a for all_of_one in after.values() for a in all_of_one}) == 3 * 127


@pytest.mark.parametrize("path", ["slurm/slurm.conf", "ansible/hall/inventory/hosts.yml"])
def test_growth_renames_nobody_in_the_files(path):
    small, middle, large = (named(grown(count)[1][path]) for count in (99, 127, 9_999))
    assert (len(small), len(middle), len(large)) == (99, 127, 9_999)
    assert small < middle < large
    assert {"gpu0001", "gpu0099"} <= small and "gpu9999" in large


def test_growth_changes_nothing_that_does_not_count_hosts():
    """Roles, NCCL's values and the job's files know no number of hosts; a comment may name them. The test that accepts a fabric does: its
    figures are of so many."""
    small, large = grown(99)[1], grown(127)[1]
    assert small.keys() == large.keys()
    still = [path for path in small if (path.startswith(("nccl/", "training/")) and "/acceptance-" not in path) or "/roles/" in path]
    assert len(still) > 50
    for path in still:
        before, after = ([line for line in files[path].splitlines() if not line.startswith("#")] for files in (small, large))
        assert after == before, path


def test_one_host_too_many_is_refused_not_renamed():
    blueprint = {"kind": "Cluster", "schema": 1, "name": "grow", "sites": {"hall": {"kind": "on-prem"}}, "nodes": {"gpu": {"site": "hall", "system": "dgx-h100", "count": 10_000}}}
    state = run(json.dumps(blueprint), "grow.yaml")
    (finding,) = state.findings
    assert (finding.id, finding.path, finding.related[0].path) == ("IAC203", ("nodes", "gpu", "count"), ("nodes", "gpu", "width"))
