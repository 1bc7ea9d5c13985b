"""The NCCL judge: libnccl reads our files, and the judge says no to each kind of spoilt tree."""

from fnmatch import fnmatch
from pathlib import Path

import pytest

from iacgen.output import apply, plan
from iacgen.pipeline import run
from iacgen.targets import nccl as target
from iacgen.verify import nccl, programs
from iacgen.verify.nccl.dialects import conf, lines, shell

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"


@pytest.fixture(scope="module")
def projects():
    return {name: run((BLUEPRINTS / f"{name}.yaml").read_text(), name).project for name in ("lab", "superpod-h100", "aws-p5")}


def written(tmp_path, project):
    tree = target.render(project)
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
    ("superpod-h100", "nccl/nccl.conf", "==eno3", "==eth0", "nccl-not-of-fabric"),
    ("lab", "nccl/nccl.conf", "NCCL_IB_TC=106", "NCCL_IB_TC=96", "nccl-not-of-fabric"),
    ("lab", "nccl/nccl.conf", "NCCL_IB_TC=106", "NCCL_IB_TC=fast", "nccl-not-of-fabric"),
    ("aws-p5", "nccl/nccl.conf", "NCCL_DEBUG=WARN", "NCCL_DEBUG=WARN\nNCCL_IB_HCA=mlx5", "nccl-not-of-fabric"),
    ("lab", "nccl/nccl.sh", "NCCL_IB_TC=106", "NCCL_IB_TC=104", "dialects-disagree"),
    ("lab", "nccl/nccl.sh", "export NCCL_IB_TC=106", "NCCL_IB_TC=106", "malformed-environment"),
    ("lab", "nccl/nccl.sh", "NCCL_IB_TC=106", "NCCL_IB_TC=$(echo 106)", "malformed-environment"),
    ("lab", "nccl/nccl.sh", "NCCL_IB_TC=106", "NCCL_IB_TC=106; echo ran", "malformed-environment"),
    ("lab", "nccl/container.env", "NCCL_IB_TC=106\n", "", "dialects-disagree"),
    ("lab", "nccl/container.env", "NCCL_IB_TC=106", "NCCL_IB_TC=106\nFI_PROVIDER=efa", "dialects-disagree"),
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


@pytest.mark.judge("nccl")
@pytest.mark.parametrize("file", ["nccl/nccl.conf", "nccl/nccl.sh", "nccl/container.env", "training/pretrain/.deepspeed_env"])
def test_a_missing_file_is_noticed(tmp_path, projects, file):
    tree = written(tmp_path, projects["lab"])
    (tree / file).unlink()
    assert "nccl-file-missing" in {finding.slug for finding in nccl.verify(tree, projects["lab"]).findings}


@pytest.mark.judge("nccl")
def test_libnccl_is_asked_and_not_only_our_reader(tmp_path, monkeypatch, projects):
    """A value that our own reader gets wrong comes back different from the library."""
    tree = written(tmp_path, projects["lab"])
    monkeypatch.setattr(nccl, "conf", lambda name, text: ({"NCCL_IB_TC": "107"}, []))
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


def test_a_tree_without_nccl_is_not_judged(tmp_path, projects):
    assert not nccl.applies(tmp_path)
    assert nccl.verify(tmp_path, projects["lab"]).status == "not-applicable"


def test_every_file_of_the_target_is_read(tmp_path, projects):
    for project in projects.values():
        assert all(any(fnmatch(path, pattern) for pattern in nccl.READS) for path in target.render(project))


def test_our_readers_take_a_value_as_it_stands():
    assert conf("f", "# A=1\nA==b,c\nB=x=y\n") == ({"A": "=b,c", "B": "x=y"}, [])
    assert lines("f", "A==b,c\n") == ({"A": "=b,c"}, [])
    assert shell("f", "# A=1\nexport A==b,c\nexport B='^d,e'\n") == ({"A": "=b,c", "B": "^d,e"}, [])


def test_a_shell_file_is_looked_at_before_it_is_run(tmp_path):
    marker = tmp_path / "ran"
    for text in (f"touch {marker}\n", f"export A=`touch {marker}`\n", f"export A=1;touch {marker}\n", f'export A="$(touch {marker})"\n', f"export A=1\ttouch {marker}\n"):
        assert shell("f", text)[1]
    assert not marker.exists()
