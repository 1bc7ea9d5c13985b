"""report.md and README.md, read by a Markdown reader."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from iacgen import pipeline, units
from iacgen.design.facility import Plant
from iacgen.targets import readme, report

BLUEPRINTS = Path(__file__).parents[2] / "blueprints"
MARKDOWN = MarkdownIt("commonmark").enable("table")
NAMES = sorted(path.stem for path in BLUEPRINTS.glob("*.yaml"))


def project(name="superpod-h100", **changes):
    text = (BLUEPRINTS / f"{name}.yaml").read_text()
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    state = pipeline.run(text, f"{name}.yaml")
    assert state.project, state.findings
    return state.project


def inline(token) -> str:
    return "".join(child.content for child in token.children)


def tables(text: str) -> list[list[list[str]]]:
    """Every table as rows of cells, heads first."""
    out: list[list[list[str]]] = []
    tokens = MARKDOWN.parse(text)
    for before, token in zip(tokens, tokens[1:]):
        if token.type == "table_open":
            out.append([])
        elif token.type == "tr_open":
            out[-1].append([])
        elif token.type == "inline" and before.type in ("th_open", "td_open"):
            out[-1][-1].append(inline(token))
    return out


def rows(text: str, head: str) -> dict[str, dict[str, str]]:
    """The table whose first head is ``head``: first cell → head → cell."""
    (table,) = (t for t in tables(text) if t[0][0] == head)
    return {row[0]: dict(zip(table[0], row)) for row in table[1:]}


def bullets(text: str) -> dict[str, str]:
    """The bold label of every list item → the text behind it; the last one where a label comes twice."""
    lines = [inline(t) for before, t in zip(MARKDOWN.parse(text), MARKDOWN.parse(text)[1:]) if t.type == "inline" and before.type == "paragraph_open"]
    return {label: rest for line in lines if (parts := line.partition(": "))[1] for label, rest in [(parts[0], parts[2])]}


@pytest.fixture(scope="module")
def superpod() -> str:
    return report.render(project())["report.md"]


@pytest.mark.parametrize("name", NAMES)
def test_every_row_has_as_many_cells_as_its_head(name):
    text = report.render(project(name))["report.md"]
    found = tables(text)
    bars = sum(line.startswith("|") for line in text.splitlines())
    assert sum(len(table) + 1 for table in found) == bars  # no line of a table fell out of it
    assert all(len(row) == len(table[0]) for table in found for row in table)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_stays_short(name):
    built = project(name)
    assert len(report.render(built)["report.md"].splitlines()) < 100 + 82 * len(built.jobs)


def test_the_fabrics_are_those_of_the_published_reference(superpod):
    compute = rows(superpod, "Fabric")["compute"]
    assert (compute["Leaf"], compute["Spine"], compute["Host cables"], compute["Manager cables"], compute["Between switches"]) == ("32", "16", "1,016", "4", "1,024")


def test_nodes_and_gpus_are_counted(superpod):
    assert rows(superpod, "Pool")["gpu"]["GPUs"] == "1,016"
    assert bullets(superpod)["Nodes"] == "127 with GPUs, 16 without"
    assert bullets(superpod)["GPUs"].startswith("1,008 = tensor 8 x context 2 x data 7 (derived) x pipeline 9")


def test_power_that_is_not_published_is_named(superpod):
    built = project()
    facility = built.design.facilities["hall-a"]
    assert facility.unknown
    assert all(kind in bullets(superpod)["Power of hall-a"] for kind in facility.unknown)


def test_cooling_is_what_the_plant_removes_less_what_the_hall_draws():
    built = project()
    facility = replace(built.design.facilities["hall-a"], power_w=1_200_000, plant=Plant("air", 1_600_000, "2N", 24))
    text = report.render(replace(built, design=replace(built.design, facilities={"hall-a": facility})))["report.md"]
    assert rows(text, "Site")["hall-a"]["Cooling left"] == "400.0 kW (25%)"
    assert rows(text, "Site")["hall-a"]["Cooling"] == "air, 2N, supply at 24 °C: 1,600.0 kW"


def test_pools_that_count_as_no_power_are_named_beside_the_cooling(superpod):
    section = superpod.partition("## Racks, power, cooling")[2].partition("\n## ")[0]
    assert "hall-a counts 0 W for ctl, login, mds, oss, ufm" in section
    assert "what remains with the redundant units at rest" in section


def test_a_checkpoint_is_held_against_the_store(superpod):
    # 14 bytes for each of 405,853,388,800 parameters; 100 GB/s offered, 60 s promised.
    assert bullets(superpod)["Checkpoint"] == "5.682 TB to scratch: 56.8 s at its 100 GB/s; 60 s promised, which needs 94.7 GB/s (for 126 nodes a store of SuperPOD grade \"best\"): the store offers 1.06 times that"


def test_a_target_that_nobody_stated_is_an_assumption():
    text = report.render(project(target=("checkpoint: {to: scratch, target: 60s}", "checkpoint: {to: scratch}")))["report.md"]
    assert "; 60 s is the assumed target, which needs 94.7 GB/s" in bullets(text)["Checkpoint"]
    assert "Where no checkpoint target is stated, a save may take 60 s." in text


def test_the_save_interval_is_explained_with_what_it_rests_on(superpod):
    # 86,400 s / (126 nodes x 0.004 failures a node-day) = 47.6 h.
    assert "a failure comes every 47.6 h" in bullets(superpod)["Save interval"]
    assert "(assumed)" not in bullets(superpod)["Save interval"], "the time of a step is predicted, not taken from a share of the peak"
    assert "4 failures for 1,000 nodes and day" in superpod


def test_failures_and_spare_nodes_are_said_in_figures(superpod):
    """5.682 TB at 200 GB/s are 28.4 s. 127 nodes, each down for 4/1004 of the time: all but one are up for 90.8 % of it, and three spare
    ones are the fewest for 99 % (sums of the binomial distribution)."""
    found = bullets(superpod)
    assert found["Failures"].startswith("one every 47.6 h, at 4 for 1,000 nodes and day; a restart takes 10.5 min, 28.4 s of them to read the checkpoint,")
    assert found["Spare nodes"] == "pool gpu keeps 1: with that the 126 nodes of the job are whole for 90.83% of the time while a repair takes 24 h; for 99% (assumed) it takes 3"
    asked = report.render(project(failures=("    checkpoint: {to: scratch, target: 60s}\n", "    checkpoint: {to: scratch, target: 60s}\n    failures: {per_1000_node_days: 2.34, repair: 6h, availability: 0.999}\n")))["report.md"]
    assert "one every 81.4 h, at 2.34" in bullets(asked)["Failures"]  # 24 h x 1000 / (126 x 2.34)
    assert bullets(asked)["Spare nodes"].endswith("while a repair takes 6 h; for 99.9% (asked for) it takes 2")


def test_jobs_of_one_pool_name_the_same_spares(superpod):
    """A node that one job leaves free is no spare: the other one may have it. 33 nodes, one of which may be down: 99.2 %."""
    told = re.findall(r"\*\*Spare nodes:\*\* (pool gpu keeps \d+): with that the (\d+) nodes[^;]*", superpod)
    assert told == [("pool gpu keeps 1", "32"), ("pool gpu keeps 1", "126")]
    assert "the 32 nodes of the job are whole for 99.23% of the time while a repair takes 24 h (100.00% as long as no other job takes the 94 besides that are up)" in superpod


def test_what_leaves_the_gpus_is_held_against_the_memory_of_a_node():
    """ZeRO-Offload: 16 bytes for each of 70.55 x 10^9 parameters over 256 GPUs, half as much again for buffers, eight GPUs a node."""
    text = report.render(project(off=("zero: 3\n", "zero: 3\n    offload: {optimizer: cpu}\n")))["report.md"]
    told = re.findall(r"\*\*Host memory:\*\* (.*)", text)
    assert told[0].startswith(f"{1.5 * 16 * 70_553_706_496 / 256 * 8 / 2**30:.1f} GiB for what leaves the GPUs and ")
    assert [line.partition("ahead, ")[2] for line in told] == ["of 2048.0 GiB of a node"], "the other job offloads nothing"
    assert text.count(" of memory on a node of its 2,048 GiB") == 2
    assert "Host NVMe" not in text
    nvme = report.render(project(off=("zero: 3\n", "zero: 3\n    offload: {optimizer: nvme, path: /raid}\n")))["report.md"]
    assert f"**Host NVMe:** {16 * 70_553_706_496 / 256 * 8 / 1e9:.4g} GB under /raid, of 30.72 TB" in nvme


def test_the_readme_has_words_for_each_kind_of_file_of_a_job():
    paths = pipeline.tree(pipeline.run((BLUEPRINTS / "superpod-h100.yaml").read_text(), "superpod"))
    what = {path.strip("`"): words for path, words, _ in tables(paths["README.md"])[0][1:]}
    kinds = {"sbatch": "batch script", "ranks": "rank file", "health": "health check"}
    found = {path.rpartition(".")[2] for path in paths if path.startswith("slurm/pretrain.")}
    assert found == {"sbatch", "ranks", "health"}
    assert all(kinds[kind] in what["slurm/"] for kind in found)


def test_a_job_that_saves_nothing_starts_from_the_beginning():
    assert bullets(report.render(project("lab"))["report.md"])["Failures"].endswith("each starts the job from the beginning, since it saves nothing")


def test_the_data_is_said_in_samples_and_bytes(superpod):
    """A sequence of 8,192 tokens and one more, four bytes each beyond a vocabulary of 65,500; read on the first and the last stage of the
    pipeline, by both ranks that share a sequence."""
    assert "samples a second of 32.77 kB each, as 8,193 tokens lie on disk, each read by 4 ranks" in bullets(superpod)["Data"]
    assert "2 workers in each of 28 ranks that load on its 28 processors" in bullets(superpod)["Data"]


def test_a_store_that_is_too_slow_is_said_to_be():
    text = report.render(project(rate=("write: 100GB/s", "write: 50GB/s")))["report.md"]
    assert bullets(text)["Checkpoint"].endswith("the store offers only 53% of that")


def test_the_memory_table_sums_up(superpod):
    table = next(t for t in tables(superpod) if t[0][0] == "GiB on each GPU" and len(t[0]) > 2)
    by_line = {row[0]: [float(cell) for cell in row[1:]] for row in table[1:]}
    total = by_line.pop("Sum")
    room = by_line.pop("Room on NVIDIA H100 SXM5 80 GB")
    assert [sum(column) for column in zip(*by_line.values())] == pytest.approx(total, abs=0.5)
    assert all(t <= r for t, r in zip(total, room))


@pytest.mark.parametrize("name", NAMES)
def test_the_bound_stands_beside_the_cost(name):
    these = project(name)
    found = [t for t in tables(report.render(these)["report.md"]) if t[0][-1] == "Lower bound"]
    assert [t[1][-1] for t in found] == [units.seconds(placement.bound_s) for placement in these.placements.values()]


def test_idle_hosts_and_the_digest_are_printed(superpod):
    placement = project().placements["pretrain"]
    assert placement.digest in superpod
    assert bullets(superpod)["Idle, spare"] == "1 (gpu0031)"


def test_an_order_that_beats_sorted_names_shows_both_costs():
    built = project(deal=("unit: 32 ", "unit: 32\n    numbering: round-robin\n    oversubscription: 2 "))
    table = next(t for t in tables(report.render(built)["report.md"]) if t[0][-1] == "Lower bound")
    placement = built.placements["finetune"]
    assert placement.cost_s < placement.sorted_cost_s
    assert table[1][1] != table[1][2]
    assert re.search(r"^This order costs [0-9]+% less than sorted host names do; no placement costs less, .*\.$", report.render(built)["report.md"], flags=re.MULTILINE)


def test_what_is_exposed_is_said_by_one_measure():
    """The placement's row is the sum of the rows of the step but for tensor parallelism; orders are compared by a cost of another name."""
    built = project(deal=("unit: 32 ", "unit: 32\n    numbering: round-robin\n    oversubscription: 2 "))
    found = tables(report.render(built)["report.md"])
    steps, orders = ([t for t in found if t[0][0] == head] for head in ("Part of a step", ""))
    assert len(steps) == len(orders) == 2
    for step, (_, cost, exposed, *_) in zip(steps, orders, strict=True):
        between = [_seconds(row[1]) for row in step if row[0].startswith("Exposed") and "tensor" not in row[0]]
        assert (cost[0], exposed[0]) == ("Communication cost, a step", "Exposed communication between nodes, in the step time")
        assert _seconds(exposed[1]) == pytest.approx(sum(between), rel=0.01)
        assert _seconds(exposed[1]) < _seconds(exposed[2])


def _seconds(text):
    number, unit = text.split()
    return float(number) * {"s": 1.0, "ms": 1e-3}[unit]


def test_operations_and_times_say_which_attention_they_count(superpod):
    """MFU counts all of it, as published figures do; the kernel's time the half that is computed."""
    (of_rates,) = [line for line in superpod.splitlines() if "attention whole" in line]
    assert "MFU and HFU count attention whole" in of_rates and "time of flash attention counts its causal half" in of_rates
    assert "by the operations of its causal half" in superpod


def test_an_order_that_is_that_of_sorted_names_says_so():
    built = project("lab")
    assert built.placements["pretrain"].hosts == ("gpu0001", "gpu0002")
    assert "This order is that of the sorted host names; no placement costs less" in report.render(built)["report.md"].partition("## Job pretrain")[2].partition("\n## ")[0]


def test_a_job_of_a_whole_unit_avoids_the_unit_that_is_short(superpod):
    """The manager takes a place of the first unit: 32 nodes fit only the others."""
    assert project().placements["finetune"].hosts == tuple(f"gpu{i:04}" for i in range(32, 64))
    assert "This order is that of the sorted host names" not in superpod.partition("## Job finetune")[2].partition("\n## ")[0]


def test_assumptions_are_those_that_this_cluster_rests_on(superpod):
    assert "Classes of machine, not products" in superpod
    assert "A cloud shows its switches only once" not in superpod
    cloud = report.render(project("aws-p5"))["report.md"]
    assert "A cloud shows its switches only once" in cloud
    assert "Racks, power" not in cloud


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_no_value_that_is_none_of_its_words(name):
    text = report.render(project(name))["report.md"]
    assert not re.search(r"\b(None|True|False|inf|nan|frozenset|tuple)\b", text)


def test_the_readme_lists_what_lies_in_the_tree_and_nothing_else():
    paths = ["report.md", "README.md", "slurm/slurm.conf", "slurm/gres.conf", "training/a/launch.sh", "training/b/launch.sh", "ansible/hall-a/site.yml", ".iacgen/resolved.yaml"]
    listed = {path.strip("`"): files for path, _, files in tables(readme.render(project(), paths)["README.md"])[0][1:]}
    assert listed == {"report.md": "1", "slurm/": "2", "training/a/": "1", "training/b/": "1", "ansible/hall-a/": "1", ".iacgen/": "1"}


def test_the_readme_names_each_thing_to_run_once_and_in_order():
    text = readme.render(project(), ["ansible/hall-a/site.yml", "slurm/slurm.conf"])["README.md"]
    order = ["iacgen verify .", "cd ansible/hall-a", "ansible-playbook site.yml", "cd /scratch/superpod-h100", "sbatch slurm/finetune.sbatch", "sbatch slurm/pretrain.sbatch"]
    at = [text.index(f"\n{line}\n") for line in order]
    assert at == sorted(at)
    assert "terraform" not in text


def test_the_readme_of_a_cloud_builds_before_it_trains():
    text = readme.render(project("aws-p5"), ["terraform/ohio/main.tf", "slurm/slurm.conf"])["README.md"]
    assert text.index("terraform -chdir=terraform/ohio init") < text.index("apply cluster.plan") < text.index("sbatch /opt/cluster/slurm/pretrain.sbatch")
    assert "ansible" not in text


def sections(text):
    """Title without its number → the section below it."""
    return {part.partition("\n")[0].partition(". ")[2]: part for part in text.split("\n### ")[1:]}


def test_the_readme_says_what_a_hall_needs_first():
    step = sections(readme.render(project(), ["ansible/hall-a/site.yml", "slurm/slurm.conf"])["README.md"])["Set up hall-a"]
    before, _, commands = step.partition("```sh")
    pattern = re.search(r"preflight_system_pattern: '(.*)'", (BLUEPRINTS.parent / "templates/ansible/static/roles/preflight/defaults/main.yml").read_text())[1]
    assert all(re.match(pattern, system) for system in ("Debian 12", "Debian 13", "Ubuntu 22.04", "Ubuntu 24.04"))
    assert "Debian 12 or 13 or Ubuntu 22.04 or 24.04" in before
    for variable in ("doca_ofed_repository", "doca_ofed_repository_key", "nvidia_driver_packages", "lnet_client_packages", "lnet_server_packages", "lustre_server_format_allowed"):
        assert variable in before.replace("\\", "")
        assert any(f"{variable}:" in file.read_text() for file in (BLUEPRINTS.parent / "templates/ansible/static/roles").glob("*/defaults/main.yml"))
    assert "Slurm 24.11 is what Debian 13 packages" in before
    assert "UFM for compute, set up by hand on ufm0001 and ufm0002" in before
    assert commands.index(">~/munge.key.b64") < commands.index('"$(cat ~/munge.key.b64)"')


def test_the_line_for_the_munge_key_makes_one_once(tmp_path):
    text = readme.render(project("lab"), ["ansible/lab-room/site.yml", "slurm/slurm.conf"])["README.md"]
    lines = [line for line in text.splitlines() if "munge.key.b64" in line]
    keys = [subprocess.run(["bash", "-ec", "\n".join([*lines, 'printf %s "$IACGEN_MUNGE_KEY_B64"'])], env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]}, capture_output=True, text=True, check=True).stdout for _ in range(2)]
    assert keys[0] == keys[1] and len(base64.b64decode(keys[0])) == 128
    assert (tmp_path / "munge.key.b64").stat().st_mode & 0o077 == 0


def test_the_readme_of_a_cloud_says_what_the_image_holds_and_how_to_reach_the_head():
    step = sections(readme.render(project("aws-p5"), ["terraform/ohio/main.tf", "slurm/slurm.conf"])["README.md"])["Build ohio"]
    for words in ("apt-based", "NVIDIA driver 580", "EFA software", "Lustre client", "Slurm must be exactly 24.11", "Debian 13"):
        assert words in step
    assert "terraform -chdir=terraform/ohio output head" in step and "aws ssm start-session --region us-east-2 --target " in step


def test_the_readme_says_what_of_a_job_is_the_users():
    step = sections(readme.render(project(), ["slurm/slurm.conf"])["README.md"])["Train"]
    for words in ("/opt/train/pretrain.py", "DeepSpeed 0.19.8", "megatron-core 0.16.1", "Tokenizer, data, learning rate and run length"):
        assert words in step


def test_without_a_scheduler_a_job_is_started_by_hand():
    built = project("lab", none=('scheduler: {kind: slurm, version: "22.05", controllers: ctl}\n', ""))
    text = readme.render(built, ["ansible/lab-room/site.yml", "training/pretrain/launch.sh"])["README.md"]
    step = sections(text)["Train"]
    assert "\nbash training/pretrain/launch.sh  # on gpu0001\n" in step and "pdsh" in step
    assert "sbatch" not in text and "munge" not in text


def test_megatron_without_a_scheduler_starts_by_torchrun_on_each_host():
    edits = {"none": ('scheduler: {kind: slurm, version: "22.05", controllers: ctl}\n', ""), "kind": ("framework: deepspeed\n    zero: 3", "framework: megatron")}
    step = sections(readme.render(project("lab", **edits), ["training/pretrain/launch.sh"])["README.md"])["Train"]
    assert "bash training/pretrain/torchrun.sh  # on each host of training/pretrain/hostfile" in step
    assert "launch.sh" not in step and "pdsh" not in step


def test_the_fabric_is_accepted_before_the_first_job():
    parts = sections(readme.render(project(), ["nccl/acceptance-gpu.sbatch", "slurm/slurm.conf"])["README.md"])
    assert "sbatch nccl/acceptance-gpu.sbatch" in parts["Accept the fabric"] and "nccl-tests" in parts["Accept the fabric"]
    assert list(parts).index("Accept the fabric") < list(parts).index("Train")
    assert "Accept the fabric" not in sections(readme.render(project(), ["slurm/slurm.conf"])["README.md"])


def test_a_folder_without_words_is_refused():
    with pytest.raises(KeyError, match="no words for novelties"):
        readme.entries(["novelties/thing.txt"])


@pytest.mark.parametrize("clients, host", [(("gpu", "login"), "login0001"), (("gpu",), "gpu0001")])
def test_the_readme_submits_from_a_host_that_mounts(clients, host):
    shipped = project()
    scratch = replace(shipped.design.storage["scratch"], clients=clients)
    mounted = replace(shipped, design=replace(shipped.design, storage={"scratch": scratch}))
    assert f"On a host that mounts /scratch, such as {host}," in readme.render(mounted, ["slurm/slurm.conf"])["README.md"]


PRETRAIN = "    checkpoint: {to: scratch, target: 60s}\n"


def test_a_step_is_told_part_by_part(superpod):
    """405B, 252 sequences of 8,192 tokens on 1,008 GPUs: the parts make up the sum, the speed follows from it."""
    repeating, times = [t for t in tables(superpod) if t[0][0] == "Part of a step"]
    assert "Recomputation" in {row[0] for row in repeating}
    parts = {row[0]: row for row in times[1:]}
    shares = [float(row[2].rstrip("%")) for name, row in parts.items() if name not in ("Sum", "Communication that computation hides")]
    assert sum(shares) == pytest.approx(100, abs=0.5)
    assert {"Pipeline bubble", "Waiting for the slowest stage", "Exposed tensor-parallel communication"} <= parts.keys()
    seconds, rate = float(parts["Sum"][1].split()[0]), float(bullets(superpod)["Step"].split(": ")[1].split()[0].replace(",", ""))
    assert rate * seconds == pytest.approx(252 * 8192, rel=0.01)


def test_the_run_follows_from_the_step():
    """Days, energy and cost of 2 x 10^12 tokens from the figures beside them: 1,008 GPUs, 126 nodes of 9 kW, a hall of PUE 1.25."""
    said = "    tokens: 2000000000000\n    assume: {node_power: 9kW, pue: 1.25, gpu_hour: 2.5, currency: EUR, matmul: 0.6}\n"
    text = report.render(project(run=(PRETRAIN, PRETRAIN + said)))["report.md"]
    found = bullets(text)
    days = float(found["Run"].split(" days")[0])
    assert found["Run"].split(" for ")[1].startswith("2 x 10^12 tokens,")
    energy = found["Energy"].replace(",", "")
    assert float(energy.split(" MWh")[0]) == pytest.approx(126 * 0.009 * 24 * days, rel=2e-3)
    assert float(energy.split("; ")[1].split(" MWh")[0]) == pytest.approx(1.25 * 126 * 0.009 * 24 * days, rel=2e-3)
    assert float(found["Cost"].split(" EUR")[0].replace(",", "")) == pytest.approx(2.5 * 1008 * 24 * days, rel=2e-3)
    assert "assume.matmul 0.6 (NVIDIA H100 SXM5 80 GB): " in text and "(stated for pretrain)" in text


def test_a_cost_without_a_price_says_what_states_one(superpod):
    assert bullets(superpod)["Cost"].startswith("unknown for ") and "training.pretrain.assume.gpu_hour" in bullets(superpod)["Cost"]
    assert "none stated" in bullets(superpod)["Run"]


@pytest.mark.parametrize("name", NAMES)
def test_other_ways_to_cut_a_job_say_what_decides(name):
    for ways in [t for t in tables(report.render(project(name))["report.md"]) if t[0][0] == "Ways to cut it"]:
        assert ways[1][3] == "this job" and len(ways) == 5
        assert all(row[3].split(" ")[2] in ("more:", "less:") for row in ways[2:])


def test_the_readme_says_what_the_way_of_the_data_needs():
    told = '    zero: 3\n    data: /raid/corpus\n    input: {stage: {source: "s3://acme-corpus", target: /raid/corpus}, cache: {kind: redis, servers: ufm}}\n'
    text = readme.render(project(input=("    zero: 3\n", told)), ["slurm/slurm.conf", "training/a/launch.sh"])["README.md"]
    assert "finetune copies its data first: the AWS command line on every node, with the right to read the bucket." in text
    assert "on each of ufm\\[0001-0002\\], redis-server training/finetune/redis.conf" in text or "on each of ufm[0001-0002], redis-server training/finetune/redis.conf" in text
    assert "once more when TRAIN_STOP_SIGNAL comes" in text.replace("\\", "")
    plain = readme.render(project("lab"), ["slurm/slurm.conf", "training/a/launch.sh"])["README.md"]
    assert "copies its data" not in plain and "TRAIN_STOP_SIGNAL" not in plain.replace("\\", "")


@pytest.mark.parametrize(
    ("edit", "hour"),
    [
        ({}, 39.33),
        ({"capacity-block": "capacity-reservation"}, 55.04),
        ({"    capacity: {kind: capacity-block, id: cr-0a1b2c3d4e5f67890}\n": ""}, 55.04),
    ],
)
def test_the_hours_of_a_cloud_cost_what_its_machine_type_does(edit, hour):
    """16 p5.48xlarge of 8 GPUs: the hours times the price of the machine over its GPUs, and the board power of the GPUs beside it."""
    text = (BLUEPRINTS / "aws-p5.yaml").read_text()
    for old, new in edit.items():
        assert old in text
        text = text.replace(old, new)
    state = pipeline.run(text, "aws-p5.yaml")
    found = bullets(report.render(state.project)["report.md"])
    days = float(found["Run"].split(" days")[0])
    assert float(found["Cost"].split()[1].replace(",", "")) == pytest.approx(hour * 16 * 24 * days, rel=2e-3)
    assert f"{hour:g} USD an hour" in found["Cost"] and "training.pretrain.assume.gpu_hour" in found["Cost"]
    assert float(found["Energy"].split()[1].replace(",", "")) == pytest.approx(16 * 8 * 700 * 24 * days / 1e6, rel=2e-3)
    assert "8 of 700 W" in found["Energy"] and "training.pretrain.assume.node_power" in found["Energy"]


def test_a_spot_price_is_unknown():
    text = (BLUEPRINTS / "aws-p5.yaml").read_text().replace("{kind: capacity-block, id: cr-0a1b2c3d4e5f67890}", "{kind: spot}")
    state = pipeline.run(text, "aws-p5.yaml", "lab")
    assert bullets(report.render(state.project)["report.md"])["Cost"].endswith("GPU-hours: a spot price changes by the hour (training.pretrain.assume.gpu_hour)")
