"""The Slurm judges on generated trees: they accept what iacgen writes, and refuse each spoilt tree for the right reason."""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from iacgen.paths import data_folder
from iacgen.pipeline import run
from iacgen.targets import slurm
from iacgen.verify import programs
from iacgen.verify.slurm import V22_05, V24_11, offline, unspoken
from iacgen.verify.slurm.batch import binding, check_script
from iacgen.verify.slurm.blocks import read_blocks, unreachable
from iacgen.verify.slurm.controller import complaints
from iacgen.verify.slurm.expected import Topology, differences, implied, read
from iacgen.verify.slurm.files import expand
from iacgen.verify.slurm.installation import Installation
from iacgen.verify.slurm.policy import check_policy

CASES = Path(__file__).parents[1] / "cases" / "slurm"
JUDGES = {"22.05": V22_05, "24.11": V24_11}
BOTH = [pytest.param(version, marks=pytest.mark.judge(f"slurm-{version}")) for version in JUDGES]


@cache
def project_of(blueprint: str, version: str):
    path = CASES / f"{blueprint}.yaml" if (CASES / f"{blueprint}.yaml").exists() else data_folder("blueprints") / f"{blueprint}.yaml"
    text = path.read_text()
    for other in JUDGES:
        text = text.replace(f'"{other}"', f'"{version}"')
    state = run(text, path.name)
    assert state.project, state.findings
    return state.project


def written(folder: Path, project, **changes: str) -> Path:
    """The generated tree in ``folder``, with the text of some files replaced."""
    for path, text in {**slurm.render(project), **changes}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize("blueprint", ["lab", "superpod-h100", "aws-p5", "interleaved", "hybrid", "three-tiers", "dragonfly", "nvl72"])
def test_accepts_generated_trees(blueprint, version, tmp_path):
    project = project_of(blueprint, version)
    verdict = JUDGES[version].verify(written(tmp_path, project), project)
    assert [f.message for f in verdict.findings] == []
    assert verdict.status == "passed"
    assert verdict.version.startswith(f"{version}.")
    assert verdict.judge == f"slurm-{version}"


# file, what stands there, what stands there instead, slug and part of the message
SPOILT = {
    "misspelt-key": ("slurm.conf", "ReturnToService=1", "ReturnToServise=1", "slurm-refused", "unrecognized key: ReturnToServise"),
    "misspelt-select-word": ("slurm.conf", "CR_Core_Memory", "CR_Cor_Memory", "slurm-refused", "Bad SelectTypeParameter"),
    "misspelt-plugin-of-slurmd": ("slurm.conf", "task/affinity", "task/afinity", "malformed-slurm-conf", "no plugin task/afinity"),
    "misspelt-cgroup-key": ("cgroup.conf", "ConstrainCores", "ConstrainCore", "slurm-refused", "unrecognized key: ConstrainCore"),
    "misspelt-gres-key": ("gres.conf", "Cores=0-55", "Corez=0-55", "malformed-gres", "unrecognized key: Corez"),
    "accounting-without-database": ("slurm.conf", "JobRequeue=1", "JobRequeue=1\nAccountingStorageTRES=gres/gpu", "slurm-refused", "slurmdbd is required"),
    "child-renamed": ("topology.conf", "Switches=compute-su[1-4]", "Switches=compute-su[1-3]", "malformed-topology", "2 trees"),
    "node-forgotten": ("topology.conf", "gpu[0096-0127]", "gpu[0096-0126]", "malformed-topology", "gpu0127: in no switch"),
    "other-nodes": ("finetune.sbatch", "--nodelist=gpu[0032-0063]", "--nodelist=gpu[0033-0064]", "batch-script", "gpu0032, gpu0064"),
    "unknown-queue": ("finetune.sbatch", "--partition=train", "--partition=trian", "batch-script", "invalid partition specified: trian"),
    "too-many-processors": ("finetune.sbatch", "#SBATCH --cpus-per-task=28", "#SBATCH --cpus-per-task=56", "batch-script", "asks for 14336 processors"),
    "too-long": ("finetune.sbatch", "--time=7-", "--time=8-", "batch-script", "time limit"),
    "shell-syntax": ("finetune.sbatch", "die() {", "die() (", "batch-script", "syntax error"),
    "one-gpu-less": ("finetune.sbatch", "--gpus-per-node=8", "--gpus-per-node=7", "batch-script", "TresPerNode"),
    "gpus-on-the-other-socket": ("gres.conf", "File=/dev/nvidia[0-3] Cores=0-55", "File=/dev/nvidia[0-3] Cores=56-111", "malformed-gres", "Cores=56-111 for GPU 0, which hangs on socket 0 of dgx-h100"),
    "another-cluster": ("slurm.conf", "ClusterName=superpod", "ClusterName=superpad", "malformed-slurm-conf", "superpad-h100 is another cluster's"),
    "devices-of-others": ("cgroup.conf", "ConstrainDevices=yes", "ConstrainDevices=no", "malformed-slurm-conf", "the GPUs of others"),
    "rank-0-elsewhere": ("finetune.sbatch", 'MASTER_ADDR=$(head -n 1 "$ranks")', "MASTER_ADDR=localhost", "batch-script", "`MASTER_ADDR=localhost` is no planned step"),
    "unbound": ("finetune.sbatch", "--cpu-bind=cores", "--cpu-bind=none", "batch-script", "--cpu-bind=cores"),
    "another-rank-file": ("finetune.sbatch", "ranks=$cluster/slurm/finetune.ranks", "ranks=$cluster/slurm/pretrain.ranks", "batch-script", "pretrain.ranks"),
    "signal-of-no-number": ("finetune.sbatch", "--signal=B:USR1@", "--signal=B:USR3@", "batch-script", "finetune.sbatch is refused"),
    "told-too-late": ("finetune.sbatch", "--signal=B:USR1@191", "--signal=B:USR1@10", "batch-script", "--signal=B:USR1@191"),
    "health-syntax": ("finetune.health", "bad() {", "bad() (", "batch-script", "syntax error"),
    "rank-lines-swapped": ("finetune.ranks", "gpu0032\ngpu0033\n", "gpu0033\ngpu0032\n", "rank-order", "the first is rank 7, on gpu0033 and not on gpu0032"),
}


@pytest.mark.parametrize("version", BOTH)
@pytest.mark.parametrize("spoilt", SPOILT)
def test_refuses_spoilt_trees(spoilt, version, tmp_path):
    file, old, new, slug, says = SPOILT[spoilt]
    project = project_of("superpod-h100", version)
    text = slurm.render(project)[f"slurm/{file}"]
    assert text.count(old) >= 1
    tree = written(tmp_path, project, **{f"slurm/{file}": text.replace(old, new, 1)})
    verdict = JUDGES[version].verify(tree, project)
    assert verdict.status == "failed"
    assert any(f.slug == slug and says in f.message for f in verdict.findings), verdict.findings


SILENT = yaml.safe_load((CASES / "spoilt.yaml").read_text())


@pytest.mark.parametrize("case", SILENT, ids=lambda case: case["id"])
def test_refuses_what_slurm_never_looks_at(case):
    """No daemon says a word about any of these: the design alone knows."""
    project = project_of(case.get("blueprint", "superpod-h100"), "24.11")
    texts = {path.removeprefix("slurm/"): text for path, text in slurm.render(project).items()}
    assert offline(texts, project) + unspoken(texts, project) == []
    assert case["old"] in texts[case["file"]]
    texts[case["file"]] = texts[case["file"]].replace(case["old"], case["new"])
    found = offline(texts, project) or unspoken(texts, project)
    assert any(f.slug == case["slug"] and case["says"] in f.message for f in found), found
    assert all(f.severity == "error" for f in found)


@pytest.mark.parametrize("name", ["other.sbatch", "other.ranks", "other.health"])
def test_a_job_that_the_blueprint_has_not_is_refused(name):
    project = project_of("interleaved", "24.11")
    texts = {path.removeprefix("slurm/"): text for path, text in slurm.render(project).items()} | {name: "", "notes": ""}
    assert [f.message for f in offline(texts, project)] == [f"slurm/{name} belongs to no job of the blueprint"]


@pytest.mark.parametrize(
    ("numa", "cores_per_socket", "planned"),
    [((0, 0, 1, 1), 8, "cores"), ((0, 1, 0, 1), 8, "none"), ((1, 1, 0, 0), 8, "none"), ((), 8, "none"), ((0, 0, 0, 1), 8, "none"), ((0, 0, 1, 1), 9, "cores"), ((0, 0, 1), 8, "none")],
)
def test_ranks_are_bound_where_their_block_of_cores_lies_beside_their_gpu(numa, cores_per_socket, planned):
    system = SimpleNamespace(gpu_numa=numa, sockets=2, cores_per_socket=cores_per_socket)
    assert binding(system, len(numa) or 4) == planned


def test_a_gpu_on_an_unknown_socket_gets_no_cores():
    project = project_of("superpod-h100", "24.11")
    gpu = project.design.pools["gpu"]
    unknown = replace(gpu, system=gpu.system.model_copy(update={"gpu_numa": ()}))
    design = replace(project.design, pools={**project.design.pools, "gpu": unknown})
    texts = slurm.render(replace(project, design=design))
    of = [texts[f"slurm/{name}"] for name in ("slurm.conf", "cgroup.conf", "gres.conf")]
    assert check_policy(*of, design) == []
    assert check_script(texts["slurm/pretrain.sbatch"], project.jobs["pretrain"], project.placements["pretrain"], design) == []
    of[2] = slurm.render(project)["slurm/gres.conf"]
    assert {"that the catalog does not know" in f.message for f in check_policy(*of, design)} == {True}


def test_two_controllers_share_their_state():
    """Whoever takes over must find the jobs."""
    project = project_of("superpod-h100", "24.11")
    texts = slurm.render(project)
    conf = texts["slurm/slurm.conf"].replace("SlurmctldHost=ctl0001", "SlurmctldHost=ctl0002(10.0.0.2)\nSlurmctldHost=ctl0001")
    of = (texts["slurm/cgroup.conf"], texts["slurm/gres.conf"], project.design)
    assert ["StateSaveLocation" in f.message for f in check_policy(conf.replace("StateSaveLocation=/scratch/", "StateSaveLocation=/var/"), *of)] == [True]
    assert check_policy(re.sub("StateSaveLocation=.*", "StateSaveLocation=/scratch/slurm", conf), *of) == []


@pytest.mark.parametrize("version", BOTH)
def test_refuses_a_tree_with_a_host_under_another_leaf(version, tmp_path):
    """Every node is in one leaf, so only the fabric knows better."""
    project = project_of("superpod-h100", version)
    text = slurm.render(project)["slurm/topology.conf"]
    text = text.replace("gpu[0001-0031]", "gpu[0001-0030,0032]").replace("gpu[0032-0063]", "gpu[0031,0033-0063]")
    verdict = JUDGES[version].verify(written(tmp_path, project, **{"slurm/topology.conf": text}), project)
    said = [(f.slug, f.message.partition("fabric's: ")[2]) for f in verdict.findings]
    assert said == [
        ("topology-not-of-fabric", "switch compute-su1 lacks gpu0031 and should not have gpu0032"),
        ("topology-not-of-fabric", "switch compute-su2 lacks gpu0032 and should not have gpu0031"),
    ]


@pytest.mark.parametrize("version", BOTH)
def test_a_warning_of_slurmctld_fails_the_tree(version, tmp_path):
    project = project_of("lab", version)
    text = slurm.render(project)["slurm/slurm.conf"].replace("JobRequeue=1", "JobRequeue=1\nJobAcctGatherType=jobacct_gather/linux")
    verdict = JUDGES[version].verify(written(tmp_path, project, **{"slurm/slurm.conf": text}), project)
    assert [f.slug for f in verdict.findings] and {f.slug for f in verdict.findings} == {"slurm-complaint"}


@pytest.mark.judge("slurm-24.11")
def test_leaves_nothing_behind(tmp_path, monkeypatch):
    project = project_of("lab", "24.11")
    tree = written(tmp_path, project)
    before = {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()}
    made = []
    monkeypatch.setattr("tempfile.mkdtemp", lambda make=tempfile.mkdtemp, **words: made.append(Path(make(**words))) or str(made[-1]))
    assert V24_11.verify(tree, project).proves
    assert {path: path.read_bytes() for path in tree.rglob("*") if path.is_file()} == before
    (work,) = made
    assert not work.exists()
    assert not (programs.find("slurm-24.11").companion / "tmp" / work.name).exists()
    commands = [command.read_bytes() for command in Path("/proc").glob("[0-9]*/cmdline") if command.exists()]
    assert [command for command in commands if str(work).encode() in command] == []


def test_the_judge_of_another_version_says_so(tmp_path):
    project = project_of("lab", "22.05")
    verdict = V24_11.verify(written(tmp_path, project), project)
    assert (verdict.status, verdict.version, verdict.proves) == ("other-version", None, False)
    assert verdict.findings[0].message == "the blueprint declares Slurm 22.05, and this judge is 24.11"


def test_a_cluster_without_slurm_is_not_its_business(tmp_path):
    project = project_of("lab", "22.05")
    without = replace(project, design=replace(project.design, scheduler=None))
    assert not V22_05.applies(tmp_path)
    assert V22_05.verify(tmp_path, without).status == "not-applicable"


def test_a_tree_that_lost_its_files_is_refused(tmp_path, monkeypatch):
    project = project_of("lab", "22.05")
    monkeypatch.setattr(programs, "find", lambda judge: programs.Found(judge, "slurmctld", "22.05.8", Path("/usr/sbin/slurmctld")))
    monkeypatch.setattr(Installation, "cannot_enter", lambda self: "")
    verdict = V22_05.verify(tmp_path, project)
    assert verdict.status == "failed"
    assert {f.message for f in verdict.findings} >= {"slurm/slurm.conf is missing", "slurm/pretrain.sbatch is missing"}


def test_a_missing_program_says_how_to_get_it(tmp_path, monkeypatch):
    project = project_of("lab", "22.05")
    monkeypatch.setattr(programs, "slurms", tuple)
    verdict = V22_05.verify(written(tmp_path, project), project)
    assert verdict.status == "missing"
    assert "tests/real/install.sh" in verdict.findings[0].message


def test_without_root_nothing_runs(tmp_path, monkeypatch):
    project = project_of("lab", "22.05")
    monkeypatch.setattr(programs, "find", lambda judge: programs.Found(judge, "slurmctld", "22.05.8", Path("/usr/sbin/slurmctld")))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(Installation, "daemon", lambda *_: pytest.fail("a daemon was started"))
    verdict = V22_05.verify(written(tmp_path, project), project)
    assert verdict.status == "needs-root"
    assert verdict.findings[0].message == "not run: needs root"


def test_a_missing_file_is_named(tmp_path, monkeypatch):
    project = project_of("lab", "22.05")
    monkeypatch.setattr(programs, "find", lambda judge: programs.Found(judge, "slurmctld", "22.05.8", Path("/usr/sbin/slurmctld")))
    monkeypatch.setattr(Installation, "cannot_enter", lambda self: "")
    tree = written(tmp_path, project)
    (tree / "slurm/pretrain.ranks").unlink()
    (tree / "slurm/cgroup.conf").unlink()
    verdict = V22_05.verify(tree, project)
    assert [f.message for f in verdict.findings] == ["slurm/cgroup.conf is missing", "slurm/pretrain.ranks is missing"]


def test_the_implied_tree_comes_from_cables_alone():
    """The groups of the fabric are not asked: with other names and hosts in them the cables still say where a host hangs."""
    design = project_of("superpod-h100", "24.11").design
    tree = implied(design)
    assert sorted(len(leaf) for leaf in tree.leaves) == [31, 32, 32, 32]
    assert [len(parent) for parent in tree.parents] == [4]
    compute = design.fabrics["compute"]
    cables = list(compute.wiring())
    blind = SimpleNamespace(name="compute", purpose="compute", switch=compute.switch, pools=compute.pools, wiring=lambda: iter(cables))
    assert implied(replace(design, fabrics={"compute": blind})) == tree


def test_a_cable_in_another_leaf_changes_the_implied_tree():
    design = project_of("superpod-h100", "24.11").design
    compute = design.fabrics["compute"]
    moved = [replace(cable, b=compute.groups[1].leaves[int(cable.b == compute.groups[0].leaves[1])]) if cable.a == "gpu0001" else cable for cable in compute.wiring()]
    rewired = SimpleNamespace(name="compute", purpose="compute", switch=compute.switch, pools=compute.pools, wiring=lambda: iter(moved))
    assert implied(replace(design, fabrics={"compute": rewired})) != implied(design)


def test_hybrid_clusters_are_two_islands():
    tree = implied(project_of("hybrid", "24.11").design)
    assert tree.islands == 2
    assert frozenset(f"cloud000{n}" for n in range(1, 5)) in tree.leaves


def test_differences_between_forests():
    want = Topology(frozenset({frozenset("ab"), frozenset("cd")}), frozenset({frozenset({frozenset("ab"), frozenset("cd")})}))
    text = "SwitchName=x Level=0 LinkSpeed=1 Nodes=a,b\nSwitchName=y Level=0 LinkSpeed=1 Nodes=c,d\n"
    got, names = read(text + "SwitchName=top Level=1 LinkSpeed=1 Nodes=a,b,c,d Switches=x,y\n")
    assert got == want
    assert differences(want, got, names) == []
    flat, names = read(text)
    assert differences(want, flat, names) == ["0 parents over 0 leaves where the fabric has 1 parents over 2 leaves"]
    half, names = read("SwitchName=x Level=0 Nodes=a,b\n")
    assert differences(want, half, names) == ["no switch holds c, d"]


def test_complaints_are_told_from_the_noise_of_a_first_start():
    log = """slurmctld: error: Configured MailProg is invalid
[2026-01-01T00:00:00.000] error: Could not open node state file /w/state/node_state: No such file or directory
slurmctld: error: NOTE: Trying backup state save file. Jobs may be lost!
slurmctld: Warning: Note very large processing time from _slurm_rpc_submit_batch_job: usec=3182911 began=00:00:00.000
slurmctld: slurmctld version 22.05.8 started on cluster lab
slurmctld: error: WARNING: switches lack access to 1 nodes: gpu008
[2026-01-01T00:00:00.000] warning: switches lack access to 1 nodes: gpu009
slurmctld: No switches configured
slurmctld: Running as primary controller
"""
    assert complaints(log) == ["error: WARNING: switches lack access to 1 nodes: gpu008", "warning: switches lack access to 1 nodes: gpu009", "No switches configured"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("NodeAddr=10.16.0.[1-32]", "NodeAddr=10.16.0.[2-33]", "gpu0001, gpu0002, gpu0003, gpu0004, gpu0005 and 27 more: not the planned address"),
        ("NodeName=gpu[0001-0032] NodeAddr=10.16.0.[1-32]", "NodeName=gpu[0001-0031] NodeAddr=10.16.0.[1-31]", "gpu0032: nodes of the design or of the file"),
        ("CoresPerSocket=56", "CoresPerSocket=48", "CoresPerSocket=48 where dgx-h100 has 56"),
        ("RealMemory=1992294", "RealMemory=2097152", "RealMemory=2097152 promises"),
        ("Gres=gpu:h100:8", "Gres=gpu:a100:8", "Gres=gpu:a100:8 where dgx-h100 has gpu:h100:8"),
        ("Nodes=gpu[0001-0032] Default", "Nodes=gpu[0001-0031] Default", "partition train has other nodes"),
        ("MaxTime=7-00", "MaxTime=8-00", "partition train has other nodes, another time limit"),
        ("PartitionName=train", "PartitionName=tain", "partition tain"),
        ("SlurmctldHost=ctl0001(10.16.64.1)", "SlurmctldHost=ctl0001(10.16.64.2)", "the design has ctl0001(10.16.64.1)"),
        ("SlurmctldHost=ctl0001(10.16.64.1)\n", "", "SlurmctldHost is missing"),
        ("DownNodes=gpu0007", "DownNodes=gpu0008", "gpu0007, gpu0008: down in the blueprint or in the file"),
    ],
)
def test_slurm_conf_must_say_what_the_design_says(old, new, says):
    project = project_of("interleaved", "24.11")
    texts = {path.removeprefix("slurm/"): text for path, text in slurm.render(project).items()}
    assert offline(texts, project) == []
    assert texts["slurm.conf"].count(old) == 1
    texts["slurm.conf"] = texts["slurm.conf"].replace(old, new)
    messages = [finding.message for finding in offline(texts, project)]
    assert any(says in message for message in messages), messages


FILES = ("slurm.conf", "gres.conf", "cgroup.conf", "topology.conf", "probe.ranks", "probe.health", "probe.sbatch")


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(FILES), st.integers(0, 5000), st.integers(0, 4), st.text(alphabet="\x00\n\r #=[],-:\\\"x9é", max_size=3))
def test_no_damage_to_a_file_stops_the_offline_rules(file, at, cut, put):
    """A file damaged anywhere gives findings or none, never an exception."""
    project = project_of("interleaved", "24.11")
    texts = {path.removeprefix("slurm/"): text for path, text in slurm.render(project).items()}
    at %= len(texts[file])
    texts[file] = texts[file][:at] + put + texts[file][at + cut :]
    assert all(finding.severity == "error" for finding in offline(texts, project) or unspoken(texts, project))


@pytest.mark.parametrize(("unit", "planned"), [(16, [18, 18, 1]), (32, [18, 18, 1])])
def test_nvlink_domains_are_the_leaves_wherever_their_hosts_hang(unit, planned):
    """37 GB200 trays are two racks of 18 and one; the units of the fabric have 16 or 32."""
    state = run((CASES / "nvl72.yaml").read_text().replace("unit: 16", f"unit: {unit}"), "nvl72.yaml")
    tree = slurm.render(state.project)
    got, names = read(tree["slurm/topology.conf"])
    assert sorted((len(leaf) for leaf in got.leaves), reverse=True) == planned
    assert got == implied(state.project.design) and got.islands == 1
    assert names[frozenset(f"gpu{n:04d}" for n in range(19, 37))] == "nvlink-gpu-2"


@pytest.mark.parametrize(("version", "has"), [("22.05", False), ("24.11", True)])
def test_nvlink_between_hosts_needs_a_channel_for_each_job(version, has):
    state = run((CASES / "nvl72.yaml").read_text().replace('"24.11"', f'"{version}"'), "nvl72.yaml")
    tree = slurm.render(state.project)
    assert ("\nSwitchType=switch/nvidia_imex\n" in tree["slurm/slurm.conf"]) is has
    assert "nvidia-imex-ctl" in tree["slurm/pretrain.health"]
    spoilt = tree["slurm/slurm.conf"].replace("SwitchType=switch/nvidia_imex\n", "") if has else tree["slurm/slurm.conf"] + "SwitchType=switch/nvidia_imex\n"
    found = check_policy(spoilt, tree["slurm/cgroup.conf"], tree["slurm/gres.conf"], state.project.design)
    assert [f.slug for f in found] == ["malformed-slurm-conf"] and "NVLink between hosts" in found[0].message


@cache
def blocks_project(count):
    text = (CASES / "nvl72.yaml").read_text().replace("controllers: ctl}", "controllers: ctl, topology: block}").replace("count: 37, spares: 1", f"count: {count}, spares: 0")
    state = run(text, "nvl72.yaml")
    assert state.project, state.findings
    return state.project


@pytest.mark.judge("slurm-24.11")
@pytest.mark.parametrize("count", [36, 37, 54])
def test_accepts_generated_blocks(count, tmp_path):
    """Two whole racks; one more host, which is a block of one; three racks, of which the job may take any hosts."""
    project = blocks_project(count)
    verdict = V24_11.verify(written(tmp_path, project), project)
    assert [f.message for f in verdict.findings] == []
    assert verdict.status == "passed"


@pytest.mark.judge("slurm-24.11")
@pytest.mark.parametrize(
    ("old", "new", "slug", "says"),
    [
        ("gpu[0019-0036]", "gpu[0018-0036]", "malformed-topology", "gpu0018: in two blocks"),
        ("gpu[0019-0036]", "gpu[0019-0035]", "malformed-topology", "gpu0036: in no block"),
        ("gpu[0001-0018]", "gpu[0001-0017,0019]", "malformed-topology", "block block1 is no NVLink domain"),
        ("BlockSizes=18,36", "BlockSizes=36", "malformed-topology", "the smallest block has 18 nodes"),
        ("BlockSizes=18,36", "BlockSizes=6,18", "malformed-topology", "times a power of two"),
        ("BlockSizes=18,36", "BlockSizes=-1", "malformed-topology", "no list of sizes"),
        ("BlockName=block2 ", "SwitchName=block2 ", "malformed-topology", "not nodes, switchname"),
    ],
)
def test_refuses_spoilt_blocks(old, new, slug, says, tmp_path):
    project = blocks_project(36)
    text = slurm.render(project)["slurm/topology.conf"]
    assert text.count(old) == 1
    text = text.replace(old, new)
    if "0017,0019" in new:
        text = text.replace("gpu[0019-0036]", "gpu[0018,0020-0036]")  # two hosts in each other's rack
    verdict = V24_11.verify(written(tmp_path, project, **{"slurm/topology.conf": text}), project)
    assert any(f.slug == slug and says in f.message for f in verdict.findings), verdict.findings


def test_the_plugin_is_the_one_whose_file_was_written():
    project = blocks_project(36)
    texts = {path.removeprefix("slurm/"): text for path, text in slurm.render(project).items()}
    assert unspoken(texts, project) == []
    texts["slurm.conf"] = texts["slurm.conf"].replace("topology/block", "topology/tree")
    assert any("TopologyPlugin=topology/tree where topology/block was planned" in f.message for f in unspoken(texts, project))


SHOWN = """BlockName=a BlockIndex=0 Nodes=n[1-4] BlockSize=4
BlockName=b BlockIndex=1 Nodes=n[5-8] BlockSize=4
BlockName=c BlockIndex=2 Nodes=n[9-12] BlockSize=4
AggregatedBlock=a,b BlockIndex=3 Nodes=n[1-8] BlockSize=8
"""


@pytest.mark.parametrize(
    ("hosts", "says"),
    [
        ("n[1-4]", ""),
        ("n[3-6]", "its 4 hosts lie in 2 blocks of size 4, and Slurm gives it 1"),
        ("n[3-8]", ""),
        ("n[5-10]", "its 6 hosts lie in 2 blocks of size 8, and Slurm gives it 1"),
        ("n[1-9]", ""),  # two of size 8: the last block stands for one
        ("n[9-11]", ""),
    ],
)
def test_a_job_gets_what_lies_in_as_few_blocks_as_it_fills(hosts, says):
    """As srun and sbatch of 24.11.5 answered on blocks of four."""
    assert unreachable(expand(hosts), read_blocks(SHOWN)) == says
