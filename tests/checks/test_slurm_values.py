"""What the check calls a value of slurm.conf is one to slurmctld; at what it refuses, slurmctld ends, or starts with another value."""

import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest
import yaml

from iacgen.checks.slurm_keys import LISTS, NEW, OLD, SINGLE, words
from iacgen.checks.slurm_values import KINDS, NUMBERS
from iacgen.pipeline import run, tree
from iacgen.verify import programs
from iacgen.verify.slurm.controller import complaints, started
from iacgen.verify.slurm.installation import Installation, free_ports, munged, work_folder
from iacgen.verify.slurm.sandbox import gres_conf, machine_lines, slurm_conf

LAB = (Path(__file__).parents[2] / "blueprints/lab.yaml").read_text()
TABLE = yaml.safe_load((Path(__file__).parent / "slurm_values.yaml").read_text())
VERSIONS = {"22.05": OLD, "24.11": NEW}
BOTH = [pytest.param(version, marks=pytest.mark.judge(f"slurm-{version}")) for version in VERSIONS]


def state_with(version, parameters):
    scheduler = {"kind": "slurm", "version": version, "controllers": "ctl", "parameters": parameters}
    return run(LAB.replace('scheduler: {kind: slurm, version: "22.05", controllers: ctl}', f"scheduler: {json.dumps(scheduler)}"), "x.yaml")


def rows(kind, version):
    """Parameters of each row that a version has, and the row."""
    for row in TABLE[kind]:
        if version in row.get("versions", VERSIONS):
            yield {key: value if isinstance(value, list) else [value] for key, value in row["set"].items()}, row


def refused(state):
    return {f.id for f in state.findings if f.severity == "error"} & {"IAC552", "IAC595"}


def test_each_key_that_can_be_set_has_a_kind_in_each_version():
    for version, kinds in KINDS.items():
        assert {key for key, since in SINGLE.items() if since <= version} <= kinds.keys() <= SINGLE.keys()


def test_each_word_that_takes_a_value_has_a_boundary_in_the_table():
    taking = {word for key in LISTS for word, (_, value) in words(key).items() if value} - {"bf_window", "bf_resolution", "max_switch_wait"}  # iacgen's own
    for kind in ("refused", "accepted"):
        tried = {word.partition("=")[0] for row in TABLE[kind] for key, value in row["set"].items() if key in LISTS for word in ([value] if isinstance(value, str) else value)}
        assert taking - tried == set(), kind


def test_each_key_is_refused_and_accepted_once():
    for kind in ("refused", "accepted"):
        tried = {key for row in TABLE[kind] for key in row["set"]}
        assert SINGLE.keys() - tried == set(), kind


@pytest.mark.parametrize("version", VERSIONS)
def test_the_check_refuses_and_accepts_what_the_table_says(version):
    for parameters, _ in rows("refused", version):
        assert refused(state_with(version, parameters)), parameters
    for parameters, _ in rows("accepted", version):
        assert not refused(state_with(version, parameters)), parameters


@pytest.mark.parametrize("key", sorted(NUMBERS))
@pytest.mark.parametrize("word", ["7x", "016", "-1", "7.5", "0x10", "99999999999999999999"])
def test_no_number_is_a_unit_an_octal_or_a_fraction(key, word):
    assert not NUMBERS[key].fits(word)


@pytest.mark.parametrize("version", BOTH)
def test_slurmctld_refuses_and_accepts_what_the_table_says(version):
    """Each refused row alone: the controller ends or complains with these words, or shows this value in place of the written one. Where
    the row says neither, the manual alone tells. The accepted ones start without a complaint, together as far as they have no key in
    common."""
    files = {path.removeprefix("slurm/"): text for path, text in tree(state_with(version, {})).items() if path.startswith("slurm/")}
    with work_folder() as work:
        slurm = Installation(work, programs.find(f"slurm-{version}").companion)
        with munged(slurm) as socket:
            daemon = Controller(slurm, socket, files)
            for parameters, row in rows("refused", version):
                if "says" in row or "shows" in row:
                    said, shown = daemon.reads(parameters)
                    assert row.get("says", "") in said, (parameters, said)
                    assert shown == row.get("shows", shown), (parameters, shown)
            for parameters in grouped(parameters for parameters, _ in rows("accepted", version)):
                said, shown = daemon.reads(parameters)
                assert shown is not None and not said, (parameters, said)


def grouped(accepted):
    """As few groups as hold no key twice; what excludes another key in the daemon stands alone in the table."""
    groups = []
    for parameters in accepted:
        group = next((g for g in groups if not g.keys() & parameters.keys() and not {"DefMemPerCPU", "MaxMemPerCPU", "DefMemPerGPU"} & parameters.keys()), None)
        if group is None:
            groups.append(group := {})
        group |= parameters
    return groups


class Controller:
    """slurmctld on the lab's files with some keys more, started once for each question."""

    def __init__(self, slurm, socket, files):
        self.slurm, self.files = slurm, files
        self.machine = machine_lines(slurm.work, socket, free_ports(2))
        for folder in ("state", "spool", "log"):
            (slurm.work / folder).mkdir(exist_ok=True)
        for name, text in files.items():
            (slurm.work / name).write_text(gres_conf(text, slurm.work) if name == "gres.conf" else text)

    def reads(self, parameters):
        """What it complains of, and the value of the first key as it shows it; None where it ends."""
        work = self.slurm.work
        text = slurm_conf(self.files["slurm.conf"], {key: value for key, value in self.machine.items() if key not in parameters})
        for key, words in parameters.items():
            value = ",".join(words)
            text, found = re.subn(rf"^({key}=.+)$", lambda line: f"{line[1]},{value}", text, flags=re.MULTILINE)
            text += "" if found else f"{key}={value}\n"
        (work / "slurm.conf").write_text(text)
        shutil.rmtree(work / "state")
        (work / "state").mkdir()
        with self.slurm.daemon("slurmctld", "slurmctld", "-D", "-i", "-f", work / "slurm.conf") as daemon:
            shown = self.slurm.run("scontrol", "show", "config").out if started(self.slurm, daemon) else ""
            if daemon.process.poll() is None:
                os.killpg(daemon.process.pid, signal.SIGKILL)  # nothing that it would save is wanted
            said = "\n".join(complaints(daemon.said))
        first = re.search(rf"^{next(iter(parameters))}\s*= (\S*)", shown, re.MULTILINE | re.IGNORECASE)
        return said, (first[1] if first else "") if shown else None
