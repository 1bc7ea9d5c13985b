"""The NCCL judge: libnccl reads our files, and the judge says no to each kind of spoilt tree."""

import sys
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest

from iacgen.output import apply, plan
from iacgen.pipeline import run
from iacgen.targets import acceptance
from iacgen.targets import nccl as target
from iacgen.verify import nccl, programs
from iacgen.verify.nccl.dialects import conf, lines, shell
from iacgen.verify.nccl.lint import harm
from iacgen.verify.nccl.rules import of_design
from iacgen.verify.judging import probe

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"


@pytest.fixture(scope="module")
def projects():
    return {name: run((BLUEPRINTS / f"{name}.yaml").read_text(), name).project for name in ("lab", "superpod-h100", "aws-p5")}


def written(tmp_path, project):
    tree = target.render(project) | acceptance.render(project)
    apply(plan(tree, tmp_path / "out"), tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.judge("nccl")
@pytest.mark.parametrize("name", ["lab", "superpod-h100", "aws-p5"])
def test_libnccl_reads_what_we_write(tmp_path, projects, name):
    verdict = nccl.verify(written(tmp_path, projects[name]), projects[name])
    assert (verdict.status, verdict.findings) == ("passed", ())
    assert verdict.version == projects[name].design.software.nccl
    assert verdict.proves


# What to spoil, how, and the finding that must come. Unknown names are libnccl's own word; the rest it would take as it stands.
SPOILT = [
    ("superpod-h100", "nccl/acceptance-gpu.sbatch", "measure all_reduce_perf 345", "measure all_reduce_perf 34", "launch-not-of-plan"),
    ("superpod-h100", "nccl/acceptance-gpu.sbatch", "measure alltoall_perf 38\n", "", "launch-not-of-plan"),
    ("superpod-h100", "nccl/acceptance-gpu.sbatch", "#SBATCH --nodes=127", "#SBATCH --nodes=2", "launch-not-of-plan"),
    ("superpod-h100", "nccl/acceptance-gpu.sbatch", "got + 0 < least + 0", "got + 0 > least + 0", "launch-not-of-plan"),
    ("superpod-h100", "nccl/acceptance-gpu.sbatch", 'exit "$slow"', "exit 0", "launch-not-of-plan"),
    ("superpod-h100", "nccl/nccl.conf", "NCCL_DEBUG=WARN", "NCCL_DEBGU=WARN", "unknown-nccl-variable"),
    ("superpod-h100", "nccl/nccl.conf", "NCCL_DEBUG=WARN", "NCCL_CHECKS_DISABLE=1", "unknown-nccl-variable"),
    ("superpod-h100", "nccl/nccl.conf", "NCCL_DEBUG=WARN", f"NCCL_DEBUG={'W' * 1100}", "malformed-environment"),
    ("superpod-h100", "nccl/nccl.conf", "NCCL_DEBUG=WARN", " NCCL_DEBUG=WARN", "malformed-environment"),
    ("superpod-h100", "nccl/nccl.conf", "NCCL_DEBUG=WARN", "export NCCL_DEBUG=WARN", "malformed-environment"),
    ("superpod-h100", "nccl/nccl.conf", "NCCL_DEBUG=WARN", "NCCL_DEBUG=WARN # quiet", "malformed-environment"),
    ("superpod-h100", "nccl/nccl.conf", "NCCL_DEBUG=WARN", 'NCCL_DEBUG="WARN"', "malformed-environment"),
    ("superpod-h100", "nccl/nccl.conf", "NCCL_DEBUG=WARN", "NCCL_DEBUG=WARN\nNCCL_DEBUG=INFO", "malformed-environment"),
    ("superpod-h100", "nccl/nccl.conf", "=mlx5_0:1:0,mlx5_3:1:1", "=mlx5_0:1:0,mlx5_1:1:1", "nccl-not-of-fabric"),
    ("superpod-h100", "nccl/nccl.conf", "==mlx5_0", "=mlx5_0", "nccl-not-of-fabric"),
    ("superpod-h100", "nccl/nccl.conf", "mlx5_3:1:1,mlx5_4:1:2", "mlx5_3:1:2,mlx5_4:1:1", "nccl-not-of-fabric"),
    ("superpod-h100", "nccl/nccl.conf", "NCCL_DEBUG=WARN", "NCCL_DEBUG=WARN\nNCCL_IB_GID_INDEX=3", "nccl-not-of-fabric"),
    ("superpod-h100", "nccl/nccl.conf", "SOCKET_IFNAME==bond0", "SOCKET_IFNAME=eth0", "nccl-not-of-fabric"),
    ("superpod-h100", "nccl/nccl.conf", "SOCKET_IFNAME==bond0", "SOCKET_IFNAME=^docker,lo,veth", "nccl-not-of-fabric"),
    ("lab", "nccl/nccl.conf", "==eno1", "==eth0", "nccl-not-of-fabric"),
    ("lab", "nccl/nccl.conf", "NCCL_IB_TC=106", "NCCL_IB_TC=96", "nccl-not-of-fabric"),
    ("lab", "nccl/nccl.conf", "NCCL_IB_TC=106", "NCCL_IB_TC=fast", "nccl-not-of-fabric"),
    ("aws-p5", "nccl/nccl.conf", "NCCL_DEBUG=WARN", "NCCL_DEBUG=WARN\nNCCL_IB_HCA=mlx5", "nccl-not-of-fabric"),
    ("lab", "nccl/nccl.sh", "NCCL_IB_TC=106", "NCCL_IB_TC=104", "dialects-disagree"),
    ("lab", "nccl/nccl.sh", "export NCCL_IB_TC=106", "NCCL_IB_TC=106", "malformed-environment"),
    ("lab", "nccl/nccl.sh", "NCCL_IB_TC=106", "NCCL_IB_TC=$(echo 106)", "malformed-environment"),
    ("lab", "nccl/nccl.sh", "NCCL_IB_TC=106", "NCCL_IB_TC=106; echo ran", "malformed-environment"),
    ("lab", "nccl/container.env", "NCCL_IB_TC=106\n", "", "dialects-disagree"),
    ("lab", "nccl/container.env", "NCCL_IB_TC=106", "NCCL_IB_TC=106\nFI_PROVIDER=efa", "unplanned-nccl-variable"),
    ("lab", "nccl/container.env", "NCCL_IB_TC=106", "NCCL_IB_TC=106\nUCX_TLS=rc", "dialects-disagree"),
    ("lab", "nccl/container.env", "GLOO_SOCKET_IFNAME=eno1", "GLOO_SOCKET_IFNAME=eno2", "nccl-not-of-fabric"),
    ("lab", "training/pretrain/.deepspeed_env", "GLOO_SOCKET_IFNAME=eno1\n", "", "nccl-not-of-fabric"),
    ("lab", "nccl/nccl.conf", "==eno1", "==eth9", "nccl-not-of-fabric"),
    ("aws-p5", "nccl/nccl.conf", "=^docker,lo,veth", "==eth9", "nccl-not-of-fabric"),
    ("aws-p5", "nccl/nccl.conf", "=^docker,lo,veth", "=^docker", "nccl-not-of-fabric"),
    ("aws-p5", "nccl/nccl.conf", "NCCL_SOCKET_IFNAME", "# NCCL_SOCKET_IFNAME", "nccl-not-of-fabric"),
    ("superpod-h100", "nccl/nccl.conf", "NCCL_DEBUG=WARN", "NCCL_DEBUG=INFO", "nccl-not-of-fabric"),
    ("lab", "nccl/nccl.conf", "NCCL_DEBUG=WARN", "NCCL_DEBUG=TRACE", "nccl-not-of-fabric"),
    ("lab", "training/pretrain/.deepspeed_env", "NCCL_IB_TC=106", "# class\nNCCL_IB_TC=106", "malformed-environment"),
    ("lab", "training/pretrain/.deepspeed_env", "NCCL_IB_TC=106", "\nNCCL_IB_TC=106", "malformed-environment"),
    ("lab", "training/pretrain/.deepspeed_env", "NCCL_IB_TC=106", "export NCCL_IB_TC=106", "malformed-environment"),
    ("lab", "training/pretrain/.deepspeed_env", "NCCL_IB_TC=106", "NCCL_IB_TC=0", "dialects-disagree"),
    ("lab", "training/pretrain/.deepspeed_env", "NCCL_IB_TC=106\n", "NCCL_IB_TC=106", "malformed-environment"),
]


@pytest.mark.judge("nccl")
@pytest.mark.parametrize(("name", "file", "old", "new", "slug"), SPOILT, ids=[f"{case[1].split('/')[-1]}-{number}" for number, case in enumerate(SPOILT)])
def test_a_spoilt_tree_is_refused(tmp_path, projects, name, file, old, new, slug):
    tree = written(tmp_path, projects[name])
    text = (tree / file).read_text()
    assert old in text
    (tree / file).write_text(text.replace(old, new, 1))
    verdict = nccl.verify(tree, projects[name])
    assert verdict.status == "failed"
    assert slug in {finding.slug for finding in verdict.findings}
    assert all(finding.severity == "error" for finding in verdict.findings)


HARMFUL = [
    *((tree, "NCCL_NET=Socket") for tree in ("aws-p5", "superpod-h100", "lab")),
    *((tree, "NCCL_IB_DISABLE=1") for tree in ("aws-p5", "superpod-h100")),
    *(("superpod-h100", line) for line in (
        "NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1", "NCCL_ALGO=Ring", "NCCL_PROTO=Simple", "NCCL_NET_GDR_LEVEL=2", "NCCL_BUFFSIZE=2097152",
        "NCCL_PXN_DISABLE=1", "NCCL_MIN_NCHANNELS=8", "NCCL_NVLS_ENABLE=0", "NCCL_TOPO_FILE=/etc/topo.xml", "NCCL_CROSS_NIC=0",
    )),
    ("lab", "NCCL_IB_GID_INDEX=3"),
    ("aws-p5", "NCCL_TUNER_PLUGIN=libnccl-ofi-tuner.so"),
    ("aws-p5", "NCCL_NSOCKS_PERTHREAD=4"),
]  # fmt: skip


@pytest.mark.judge("nccl")
@pytest.mark.parametrize(("name", "line"), HARMFUL, ids=[f"{tree}-{line}" for tree, line in HARMFUL])
def test_a_harmful_variable_is_refused_with_its_reason(tmp_path, projects, name, line):
    """libnccl takes each of them; all dialects say the same."""
    tree = written(tmp_path, projects[name])
    for file in [tree / "nccl/nccl.conf", tree / "nccl/container.env", *tree.glob("training/*/.deepspeed_env")]:
        file.write_text(file.read_text() + line + "\n")
    (tree / "nccl/nccl.sh").write_text((tree / "nccl/nccl.sh").read_text() + f"export {line}\n")
    verdict = nccl.verify(tree, projects[name])
    (found,) = verdict.findings
    assert found.slug == "unplanned-nccl-variable"
    assert f"{line}: " in found.message


@pytest.mark.judge("nccl")
@pytest.mark.parametrize("line", ["NCCL_IB_TIMEOUT=22", "NCCL_IB_SL=3", "NCCL_IB_QPS_PER_CONNECTION=4", "NCCL_COLLNET_ENABLE=1"])
def test_a_variable_that_the_design_does_not_ask_for_is_refused(tmp_path, projects, line):
    tree = written(tmp_path, projects["lab"])  # one leaf: no paths to spread over
    (tree / "nccl/nccl.conf").write_text((tree / "nccl/nccl.conf").read_text() + line + "\n")
    found = [f for f in nccl.verify(tree, projects["lab"]).findings if f.slug != "dialects-disagree"]
    assert [(f.slug, line in f.message) for f in found] == [("unplanned-nccl-variable", True)]


@pytest.mark.parametrize(("value", "pairs"), [("1", False), ("2", True), ("4", True), ("8", False), ("many", False), (None, True)])
def test_queue_pairs_are_explained_by_spines(value, pairs):
    text = (BLUEPRINTS / "lab.yaml").read_text().replace("hgx-h100, count: 2}", "hgx-h100, count: 40}").replace("global_batch: 128", "global_batch: 640")
    project = run(text, "lab").project
    assert project.design.fabrics["compute"].spines
    values, _ = conf("f", target.render(project)["nccl/nccl.conf"])
    assert list(of_design(project.design, "gpu", "f", values)) == []
    spoilt = {key: v for key, v in values.items() if key != "NCCL_IB_QPS_PER_CONNECTION"} | ({"NCCL_IB_QPS_PER_CONNECTION": value} if value else {})
    assert (list(of_design(project.design, "gpu", "f", spoilt)) == []) is pairs


def test_an_older_nccl_must_not_be_told_of_rails(projects):
    superpod = projects["superpod-h100"]
    older = replace(superpod.design, software=replace(superpod.design.software, nccl="2.29.7"))
    values, _ = conf("f", target.render(superpod)["nccl/nccl.conf"])
    assert list(of_design(superpod.design, "gpu", "f", values)) == []
    assert ["2.29.7 reads no rails" in f.message for f in of_design(older, "gpu", "f", values)] == [True]


def test_few_ranks_may_be_told_more(projects):
    values = {"NCCL_DEBUG": "INFO", "NCCL_SOCKET_IFNAME": "^docker,lo"}
    assert list(of_design(projects["aws-p5"].design, "gpu", "f", values)) == []


@pytest.mark.parametrize(("old", "new"), [("NCCL_IB_TIMEOUT=22", "NCCL_IB_TIMEOUT=20"), ("NCCL_IB_TIMEOUT=22\n", ""), ("NCCL_P2P_DISABLE=1", "NCCL_P2P_DISABLE=0")])
def test_what_the_blueprint_sets_must_stand_there(old, new):
    """Even where it does harm: the blueprint has allowed it with its reason."""
    text = (BLUEPRINTS / "lab.yaml").read_text() + "\nnccl:\n  set:\n    NCCL_IB_TIMEOUT: 22\n    NCCL_DEBUG: INFO\n    NCCL_P2P_DISABLE: 1  # iacgen: allow harmful-nccl-value -- a search for a fault\n  reason: a search for a fault\n"
    project = run(text, "lab").project
    said = target.render(project)["nccl/nccl.conf"]
    assert list(of_design(project.design, "gpu", "f", conf("f", said)[0])) == []
    assert old in said
    (found,) = of_design(project.design, "gpu", "f", conf("f", said.replace(old, new))[0])
    assert found.slug == "nccl-not-of-fabric"
    assert f"the blueprint sets {old.strip().partition('=')[2]}" in found.message


@pytest.mark.judge("nccl")
@pytest.mark.parametrize("path", ["nccl/login/nccl.sh", "training/other/.deepspeed_env"])
def test_a_file_of_nobody_is_noticed(tmp_path, projects, path):
    tree = written(tmp_path, projects["lab"])
    (tree / path).parent.mkdir(exist_ok=True)
    (tree / path).write_text("")
    assert [f.message.startswith(path) for f in nccl.verify(tree, projects["lab"]).findings] == [True]


@pytest.mark.judge("nccl")
def test_a_file_that_shadows_those_of_the_pools_is_noticed(tmp_path, projects):
    """Every launch script takes nccl/nccl.sh first."""
    tree = written(tmp_path, projects["lab"])
    for name in ("nccl.conf", "nccl.sh", "container.env"):
        (tree / "nccl/gpu").mkdir(exist_ok=True)
        (tree / "nccl/gpu" / name).write_bytes((tree / "nccl" / name).read_bytes())
    for name in ("nccl.conf", "container.env"):
        (tree / "nccl" / name).unlink()
    assert [f.message for f in nccl.verify(tree, projects["lab"]).findings] == ["nccl/nccl.sh belongs to no pool of the blueprint"]


@pytest.mark.judge("nccl")
def test_the_files_that_it_names_are_those_that_it_opens(tmp_path, projects):
    tree = written(tmp_path, projects["superpod-h100"])
    for stray in ("nccl/notes.txt", "nccl/nccl.conf.orig", "nccl/old/nccl.conf.bak"):
        (tree / stray).parent.mkdir(exist_ok=True)
        (tree / stray).write_text("")
    opened, here = set(), True

    def listen(event, args):
        if here and event == "open" and str(args[0]).startswith(f"{tree}/"):
            opened.add(Path(args[0]).relative_to(tree).as_posix())

    sys.addaudithook(listen)  # cannot be taken away again
    assert nccl.verify(tree, projects["superpod-h100"]).proves
    here = False
    files = {p.relative_to(tree).as_posix() for p in tree.rglob("*") if p.is_file() and ".iacgen" not in p.parts}
    assert opened == {path for path in files if any(fnmatch(path, pattern) for pattern in nccl.READS)}
    assert opened == {"nccl/nccl.conf", "nccl/nccl.sh", "nccl/container.env", "nccl/acceptance-gpu.sbatch", "training/finetune/.deepspeed_env"}


@pytest.mark.judge("nccl")
@pytest.mark.parametrize("file", ["nccl/acceptance-gpu.sbatch", "nccl/nccl.conf", "nccl/nccl.sh", "nccl/container.env", "training/pretrain/.deepspeed_env"])
def test_a_missing_file_is_noticed(tmp_path, projects, file):
    tree = written(tmp_path, projects["lab"])
    (tree / file).unlink()
    assert "nccl-file-missing" in {finding.slug for finding in nccl.verify(tree, projects["lab"]).findings}


@pytest.mark.judge("nccl")
def test_libnccl_is_asked_and_not_only_our_reader(tmp_path, monkeypatch, projects):
    """A value that our own reader gets wrong comes back different from the library."""
    tree = written(tmp_path, projects["lab"])
    monkeypatch.setitem(nccl._FILES, "nccl.conf", lambda name, text: ({"NCCL_IB_TC": "107"}, []))
    slugs = [finding.slug for finding in nccl.verify(tree, projects["lab"]).findings]
    assert "nccl-value-changed" in slugs


@pytest.mark.judge("nccl")
def test_a_near_name_is_offered(tmp_path, projects):
    tree = written(tmp_path, projects["lab"])
    (tree / "nccl/nccl.conf").write_text((tree / "nccl/nccl.conf").read_text().replace("NCCL_IB_TC", "NCCL_IB_TCS"))
    assert any(finding.help == "did you mean NCCL_IB_TC?" for finding in nccl.verify(tree, projects["lab"]).findings)


@pytest.mark.judge("nccl")
def test_another_version_than_the_declared_proves_nothing(tmp_path):
    text = (BLUEPRINTS / "lab.yaml").read_text().replace("\ntraining:", '\nsoftware: {nccl: "2.27.7"}\n\ntraining:')
    project = run(text, "lab").project
    verdict = nccl.verify(written(tmp_path, project), project)
    assert verdict.status == "other-version"
    assert "2.27.7" in verdict.findings[0].message
    assert not verdict.proves


def test_a_missing_library_says_how_to_get_it(tmp_path, monkeypatch, projects):
    monkeypatch.setattr(programs, "find", lambda judge: programs.Missing(judge, "nvidia-nccl-cu13", "run tests/real/install.sh"))
    verdict = nccl.verify(written(tmp_path, projects["lab"]), projects["lab"])
    assert verdict.status == "missing"
    assert "install.sh" in verdict.findings[0].message


@pytest.mark.judge("nccl")
def test_a_tree_that_lost_all_files_is_refused(tmp_path, projects):
    assert not nccl.applies(tmp_path)
    verdict = nccl.verify(tmp_path, projects["lab"])
    assert verdict.status == "failed"
    assert {f.slug for f in verdict.findings} == {"nccl-file-missing"}


def test_a_cluster_without_gpus_is_not_judged(tmp_path, projects):
    lab = projects["lab"]
    without = replace(lab, design=replace(lab.design, pools={"ctl": lab.design.pools["ctl"]}))
    assert nccl.verify(tmp_path, without).status == "not-applicable"


def test_every_file_of_the_target_is_read(tmp_path, projects):
    for project in projects.values():
        assert all(any(fnmatch(path, pattern) for pattern in nccl.READS) for path in target.render(project) | acceptance.render(project))


def test_our_readers_take_a_value_as_it_stands():
    assert conf("f", "# A=1\nA==b,c\nB=x=y\n") == ({"A": "=b,c", "B": "x=y"}, [])
    assert lines("f", "A==b,c\n") == ({"A": "=b,c"}, [])
    assert shell("f", "# A=1\nexport A==b,c\nexport B='^d,e'\n") == ({"A": "=b,c", "B": "^d,e"}, [])


def test_a_shell_file_is_looked_at_before_it_is_run(tmp_path):
    marker = tmp_path / "ran"
    for text in (f"touch {marker}\n", f"export A=`touch {marker}`\n", f"export A=1;touch {marker}\n", f'export A="$(touch {marker})"\n', f"export A=1\ttouch {marker}\n"):
        assert shell("f", text)[1]
    assert not marker.exists()


def every_profile(lab):
    """What we would write for each system of the catalog that has GPUs, on each kind of network."""
    from iacgen import catalog

    pool, fabric = lab.design.pools["gpu"], lab.design.fabrics["compute"]
    for path in sorted((Path(catalog.__file__).parent / "data/systems").glob("*.yaml")):
        system = catalog.system(path.stem)
        if system.gpu is None or "compute" not in system.nics or catalog.gpu(system.gpu).vendor != "NVIDIA":
            continue
        made = replace(pool, system=system, gpu=catalog.gpu(system.gpu))
        for technology in ("infiniband", "roce", "ethernet", "efa"):
            for version in ("2.19.3", "2.27.7", "2.32.3"):
                net = replace(fabric, technology=technology, qos=fabric.qos if technology == "roce" else None, nics={**fabric.nics, "gpu": system.nics["compute"]})
                design = replace(lab.design, pools={**lab.design.pools, "gpu": made}, fabrics={**lab.design.fabrics, "compute": net}, software=replace(lab.design.software, nccl=version))
                yield f"{path.stem}-{technology}-{version}", target.profile(design, made)


@pytest.mark.judge("nccl")
def test_every_variable_that_we_ever_write_is_one_that_the_library_reads(projects):
    """All systems, networks and versions at once, held against the names inside libnccl and the list of harmful ones."""
    found = programs.find("nccl")
    said, complaint = probe(found.path, "nccl_probe.py", str(found.companion), "NCCL_DEBUG", env={"HOME": "/nonexistent", "NCCL_SOCKET_IFNAME": "lo"}, timeout=120)
    assert said, complaint
    profiles = dict(every_profile(projects["lab"]))
    assert len(profiles) >= 60
    names = {setting.name for made in profiles.values() for setting in made.settings}
    assert {name for name in names if name.startswith("NCCL_")} <= set(said["strings"])
    assert names - set(said["strings"]) == {"GLOO_SOCKET_IFNAME"}  # PyTorch's own, kept out of nccl.conf
    assert {name: why for name in names if (why := harm(name))} == {}


def test_an_nvlink_domain_of_several_hosts_is_left_to_nccl(projects):
    made = dict(every_profile(projects["lab"]))["dgx-gb200-infiniband-2.32.3"]
    assert not {setting.name for setting in made.settings} & {"NCCL_MNNVL_ENABLE", "NCCL_CUMEM_ENABLE", "NCCL_NVLS_ENABLE"}
    assert any("IMEX" in note for note in made.notes) and any("NCCL_MNNVL_ENABLE" in note for note in made.notes)


CASES = Path(__file__).parents[1] / "cases/fabric"


@pytest.mark.judge("nccl")
@pytest.mark.parametrize(("name", "old", "new"), [("rails", "NCCL_CROSS_NIC=0", "NCCL_CROSS_NIC=1"), ("two-subnets", "mlx5_0:2,", ""), ("two-subnets", "NCCL_CROSS_NIC=0\n", "")])
def test_subnets_that_nothing_joins_are_kept_apart(tmp_path, name, old, new):
    """As written they pass; with connections across, or a plane that is left out, they do not."""
    project = run((CASES / f"{name}.yaml").read_text(), name).project
    tree = written(tmp_path, project)
    assert nccl.verify(tree, project).findings == ()
    for file in (tree / "nccl/nccl.conf", tree / "nccl/nccl.sh", tree / "nccl/container.env"):
        file.write_text(file.read_text().replace(old, new))
    assert "nccl-not-of-fabric" in {found.slug for found in nccl.verify(tree, project).findings}
