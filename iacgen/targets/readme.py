"""README.md of the tree: what lies here, what to run next, in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from shlex import quote

from iacgen.design.model import Design, Lustre, Site
from iacgen.placement.project import Project
from iacgen.render import fold
from iacgen.render import render as render_template
from iacgen.training import Job

_WHAT = {
    "report.md": "the design on a page: counts, power, memory, placement, assumptions",
    "report.html": "the same page with its drawings, for a browser; it asks no network for anything",
    "terraform": "Terraform root of a cloud site; data in terraform.tfvars.json, the rest is fixed",
    "ansible": "playbook, roles and inventory of an on-prem site; data in inventory/, the rest is fixed",
    "slurm": "Slurm's files; for each job its batch script, its rank file and the health check of its nodes",
    "kubernetes": "manifests",
    "fabric": "cables, ports, parts to buy, addresses, files of managers and switches; its README.md says who reads which",
    "facility": "racks, power and cooling; a drawing of the racks of each hall",
    "nccl": "NCCL's environment in the dialect of each reader; for each pool a job that measures its fabric",
    "training": "framework configuration, environment, launch scripts and data path of a job; its rank file, and its hostfile for DeepSpeed, mpirun and horovodrun",
    "monitoring": "scrape configuration, alert rules, dashboards",
    ".iacgen": "the blueprint with every default written out, and the list of files for the next run",
}
_ONE_FOLDER_EACH = {"terraform", "ansible", "fabric", "training"}
"""Folders that hold one folder for each thing, listed one by one."""

DISTRIBUTION = {"22.05": "Debian 12", "24.11": "Debian 13"}
"""Which system packages a Slurm version; the role and the boot script refuse any other version."""


@dataclass(frozen=True)
class Step:
    """One thing to do: a sentence before the commands, the lines of shell, and what must be there first."""

    title: str
    text: str
    commands: tuple[str, ...]
    before: tuple[str, ...] = ()


def render(project: Project, paths: Sequence[str]) -> dict[str, str]:
    """``README.md`` for a tree of these paths."""
    tops = {path.partition("/")[0] for path in paths}
    purpose = project.design.descriptions.get(())
    text = render_template("readme/README.md.j2", name=project.name, purpose=purpose, entries=entries(paths), steps=steps(project, tops, tuple(path for path in paths if path.startswith("nccl/acceptance-"))))
    return {"README.md": text}


def entries(paths: Sequence[str]) -> tuple[tuple[str, str, int], ...]:
    """(path, what it is, files) of everything at the top of the tree, in the order of the table above.

    Raises KeyError for a folder that has no words yet.
    """
    files = Counter(_entry(path) for path in paths if path != "README.md")
    order = list(_WHAT)
    return tuple((path, _WHAT[top], n) for (top, path), n in sorted(files.items(), key=lambda e: (order.index(_known(e[0][0])), e[0][1])))


def _entry(path: str) -> tuple[str, str]:
    top, _, rest = path.partition("/")
    if not rest:
        return top, top
    return (top, f"{top}/{rest.partition('/')[0]}/") if top in _ONE_FOLDER_EACH else (top, f"{top}/")


def _known(top: str) -> str:
    if top not in _WHAT:
        raise KeyError(f"README.md has no words for {top}")
    return top


def steps(project: Project, tops: set[str], measured: Sequence[str] = ()) -> tuple[Step, ...]:
    """What to do, in order; only what the tree has files for. ``measured`` are the acceptance jobs."""
    design = project.design
    verify = f"Hands each file to the program that will read it. What is not installed is named. In a checkout of iacgen that is .venv/bin/iacgen verify out/{project.name}, from its root."
    out = [Step("Ask the programs", verify, ("iacgen verify .",))]
    for site in sorted(design.sites.values(), key=lambda s: s.name):
        if site.kind == "aws" and "terraform" in tops:
            out.append(_terraform(site, design))
        if site.kind == "on-prem" and any(f.site == site.name and f.tiers for f in design.fabrics.values()) and "fabric" in tops:
            out.append(_wire(site.name, design))
        if site.kind == "on-prem" and "ansible" in tops:
            out.append(_ansible(site.name, design))
    if measured:
        out.append(_accept(project, measured))
    if project.jobs and tops & {"slurm", "training"}:
        out.append(_train(project))
    return tuple(out)


def _terraform(site: Site, design: Design) -> Step:
    root, heads = f"terraform -chdir=terraform/{site.name}", design.scheduler is not None and design.scheduler.site == site.name
    reach = (f"{root} output head  # the instance of each head node", f"aws ssm start-session --region {site.region} --target i-0123456789abcdef0  # that instance")
    return Step(
        f"Build {site.name}",
        f"Runs with the credentials of your shell. A backend for the state goes into terraform/{site.name}/backend.tf, which stays untouched when this tree is generated again.",
        ("export TF_VAR_ami=ami-0123456789abcdef0  # your image", f"{root} init", f"{root} plan -out=cluster.plan", f"{root} apply cluster.plan", *(reach if heads else ())),
        tuple(_of_image(site.name, design)),
    )


def _wire(site: str, design: Design) -> Step:
    """No command of ours pulls a cable."""
    fabrics = sorted((f for f in design.fabrics.values() if f.site == site and f.tiers), key=lambda f: f.name)
    folders = ", ".join(f"fabric/{f.name}" for f in fabrics)
    routed = [f"fabric/{f.name}/switches" for f in fabrics if f.qos]
    switches = f" Switches of {' and '.join(routed)} take their files next, as the README.md beside them says." if routed else ""
    return Step(f"Wire {site}", f"In each of {folders}: buy by bill-of-materials.csv, cable by p2p.csv, whose labels stand on both ends, and have what was cabled held against cables.csv.{switches}", ())


def _ansible(site: str, design: Design) -> Step:
    munge = design.scheduler is not None and design.scheduler.site == site
    key = ("[ -s ~/munge.key.b64 ] || (umask 077; head -c 128 /dev/urandom | base64 -w0 >~/munge.key.b64)", 'export IACGEN_MUNGE_KEY_B64="$(cat ~/munge.key.b64)"') if munge else ()
    lustre = any(s.kind == "lustre" and s.site == site for s in design.storage.values())
    first = ("ansible-playbook site.yml -e '{\"lustre_server_format_allowed\": true}'  # this once: blank devices are formatted",) if lustre else ()
    return Step(
        f"Set up {site}",
        "Running it again changes nothing that is right already.",
        (f"cd ansible/{site}", *key, "ansible 'all:!hosts_down' -m ansible.builtin.ping", *first, "ansible-playbook site.yml", "cd ../.."),
        tuple(_of_hosts(site, design)),
    )


def _accept(project: Project, scripts: Sequence[str]) -> Step:
    """From where jobs are submitted, too."""
    note, folder, root = _submitting(project.design)
    text = f"{note} Before any job: each script fails where the fabric is slower than its links should be, or computes wrong values. It says what it expects, and why."
    return Step("Accept the fabric", text, (f"cd {folder}", *(f"sbatch {root}{script}" for script in scripts)), ("nccl-tests, built with MPI, on PATH of the GPU hosts.",))


def _submitting(design: Design) -> tuple[str, str, str]:
    """From where jobs of Slurm are submitted, in words; the folder there; and what stands before a path of this tree."""
    assert design.scheduler
    if design.sites[design.scheduler.site].kind == "aws":
        shared = sorted(s.mount for s in design.storage.values() if s.kind == "fsx-lustre")
        note = "On the head node, in a login shell: every machine keeps its own copy of this folder in /opt/cluster. The Terraform output named head is the instance id."
        return note, quote(shared[0] if shared else "/opt/cluster"), "/opt/cluster/"
    note, where = _where(design)
    return note, f"{quote(where)}/{design.name}", ""


def _train(project: Project) -> Step:
    design, jobs = project.design, sorted(project.jobs)
    before = tuple(_of_script([project.jobs[name] for name in jobs], design))
    if design.scheduler is None:
        return _by_hand(project, before)
    note, folder, root = _submitting(design)
    return Step("Train", note, (f"cd {folder}", *(f"sbatch {root}slurm/{job}.sbatch" for job in jobs)), before)


def _by_hand(project: Project, before: tuple[str, ...]) -> Step:
    """Without a scheduler: DeepSpeed's own launcher reaches the hosts; of other jobs torchrun starts each host's ranks."""
    _, where = _where(project.design)
    cloud = any(project.design.sites[pool.site].kind == "aws" for pool in project.design.pools.values() if pool.gpu)
    folder = "/opt/cluster" if cloud else f"{quote(where)}/{project.name}"
    commands = [f"cd {folder}"]
    for name, job in sorted(project.jobs.items()):
        first = project.placements[name].hosts[0]
        if job.spec.framework == "deepspeed":
            commands.append(f"bash training/{name}/launch.sh  # on {first}")
        else:
            commands.append(f"bash training/{name}/torchrun.sh  # on each host of training/{name}/hostfile; or once mpirun.sh, on {first}")
    needs = ["pdsh on the host that starts, and from it SSH to each host of the job without a password."] if any(job.spec.framework == "deepspeed" for job in project.jobs.values()) else []
    note = "No scheduler is in the blueprint: a job starts by hand, from a copy of this folder at the same place on every node."
    return Step("Train", note, tuple(commands), (*before, *needs))


def _where(design: Design) -> tuple[str, str]:
    """From where jobs are submitted, in words, and the folder that takes a copy of this one."""
    store = min((s for s in design.storage.values() if s.kind == "lustre" and s.clients), key=lambda s: (_submits_from(design, s)[0], s.mount), default=None)
    where = store.mount if store else "/srv"
    host = _submits_from(design, store)[1] if store else ""
    note = f"On a host that mounts {where}, such as {host}, from a copy of this folder there." if store else f"From a copy of this folder at the same place on every node, such as {where}."
    return note, where


def _submits_from(design: Design, store: Lustre) -> tuple[int, str]:
    """(0 for a host without GPUs, 1 for one with them, the host): the first host in service of the first client pool of that kind."""
    pools = sorted((design.pools[name] for name in store.clients), key=lambda pool: (pool.gpu is not None, pool.name))
    up = [(int(pool.gpu is not None), host) for pool in pools for host in pool.hosts if host not in pool.down]
    return up[0] if up else (1, pools[0].hosts[0])


def _of_hosts(site: str, design: Design) -> Iterator[str]:
    """What a hall needs before Ansible sets it up."""
    pools = [pool for pool in design.pools.values() if pool.site == site]
    fabrics = [f for f in design.fabrics.values() if f.site == site]
    yield "Here: ansible-core 2.16 or later (proven with 2.19)."
    yield "On every host: Debian 12 or 13 or Ubuntu 22.04 or 24.04, reachable by SSH at its planned management address, with sudo. The first play refuses another system, and other memory or GPUs than the catalog says."
    if scheduler := design.scheduler if design.scheduler and design.scheduler.site == site else None:
        yield f"Slurm {scheduler.version} is what {DISTRIBUTION[scheduler.version]} packages; another system needs packages of that version in a repository of yours."
    own = f"in a file of yours, ansible/{site}/inventory/group_vars/all/site.yml, which is never overwritten"
    if any(pool.gpu for pool in pools):
        yield f"NVIDIA driver {design.software.driver}: packages from a repository that you set up on the GPU hosts; nvidia_driver_packages names them ({own})."
    if any(f.technology in ("infiniband", "roce") for f in fabrics):
        yield "DOCA-OFED: set doca_ofed_repository and doca_ofed_repository_key in the same file."
    if any(s.kind == "lustre" and s.site == site for s in design.storage.values()):
        yield f"Lustre {design.software.lustre}: packages from a repository of yours; lnet_client_packages and lnet_server_packages name them."
        yield "Lustre devices under the names in inventory/group_vars/lustre_servers.yml, as multipath aliases. A blank one is formatted only while lustre_server_format_allowed is true."
    for fabric in fabrics:
        if fabric.manager and fabric.manager.kind == "ufm":
            yield f"UFM for {fabric.name}, set up by hand on {' and '.join(fabric.manager.hosts)}: no role installs it."


def _of_image(site: str, design: Design) -> Iterator[str]:
    """What a cloud site needs before Terraform builds it."""
    here = design.scheduler is not None and design.scheduler.site == site
    tools = " and the AWS command line with its session manager plugin" if here else ""
    yield f"Here: Terraform 1.7 or later{tools}; in the account, quota for the machines in {design.sites[site].zone}."
    has = ["cloud-init", "systemd", "the Session Manager agent"]
    has += [f"NVIDIA driver {design.software.driver}", "EFA software"] if any(p.gpu for p in design.pools.values() if p.site == site) else []
    has += ["a Lustre client for its kernel"] if any(s.kind == "fsx-lustre" and s.site == site for s in design.storage.values()) else []
    yield f"An image of yours: apt-based, with {', '.join(has)}. TF_VAR_head_ami may name another one for the head nodes."
    if here and design.scheduler:
        version = design.scheduler.version
        yield f"Slurm must be exactly {version}: in the image, or from its package sources, as {DISTRIBUTION[version]} has it. A machine with another version stops at boot and says so."


def _of_script(jobs: Sequence[Job], design: Design) -> Iterator[str]:
    """What of the jobs is the user's own."""
    paths = sorted({job.spec.entrypoint for job in jobs})
    yield f"The training script is yours: {', '.join(paths)}, at the same path on every node."
    frameworks = {"deepspeed": f"DeepSpeed {design.software.deepspeed}", "megatron": f"Megatron-LM with megatron-core {design.software.megatron}", "fsdp": "what the script builds FSDP with (Accelerate, or TorchTitan up to 0.2.2)"}
    wanted = [words for name, words in frameworks.items() if any(job.spec.framework == name for job in jobs)]
    yield f"So is the Python environment, with {', '.join(['torch for CUDA', *wanted])} and NCCL {design.software.nccl}: on PATH, or its python in PYTHON."
    yield "Tokenizer, data, learning rate and run length are arguments of the script: add them to training.<job>.arguments (data to training.<job>.data) and generate again."
    if any(job.spec.framework != "megatron" and job.spec.checkpoint_to for job in jobs):
        yield "Outside Megatron the script saves by itself: to TRAIN_CHECKPOINTS, every TRAIN_SAVE_INTERVAL steps, and once more when TRAIN_STOP_SIGNAL comes, after which it ends with 0."
    if any(job.spec.framework == "megatron" and job.spec.checkpoint_to for job in jobs):
        yield "Megatron saves as its --save and --save-interval say, and by --exit-signal-handler before its time is up."
    yield from _of_data(jobs, design)


def _of_data(jobs: Sequence[Job], design: Design) -> Iterator[str]:
    """What the way of the data needs of the user."""
    if any(job.spec.framework != "megatron" for job in jobs):
        yield "Outside Megatron the script takes the settings of its loader from the environment: TRAIN_LOADER_* of training/<job>/data.env, which says of each where it goes and why."
    for job in sorted(jobs, key=lambda job: job.name):
        stage, cache = job.reading.input.stage, job.reading.input.cache
        if stage:
            told = "" if stage.source else f", and STAGE_FROM with the bucket: sbatch --export=ALL,STAGE_FROM=s3://BUCKET/PREFIX slurm/{job.name}.sbatch"
            yield f"{job.name} copies its data first: the AWS command line on every node, with the right to read the bucket{told}."
        if cache and cache.pool:
            run = {"redis": f"redis-server training/{job.name}/redis.conf", "memcached": f"training/{job.name}/memcached.conf as Debian's /etc/memcached.conf"}[cache.kind]
            hosts = fold([host for host in design.pools[cache.pool].hosts if host not in design.pools[cache.pool].down])
            yield f"{job.name} reads by a cache: on each of {hosts}, {run}. Nobody but the cluster may reach them: they ask for no password."
