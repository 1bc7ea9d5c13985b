"""The whole flow on one page: text → Source → Blueprint → Design → Job → Placement → Tree.

Every stage is a pure function; each is judged before the next one runs. The only module that knows all stages.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from . import catalog, checks, source
from .blueprint import Blueprint, assemble, parse, resolve
from .blueprint.intact import MAPS, Rest, intact
from .blueprint.mistakes import at
from .blueprint.training import Parallel, Training
from .catalog.tpus import as_gpu
from .checks import Profile
from .checks.duties import job_input, model_of, read_rate, write_rate
from .checks.folded import folded
from .checks.subject import Subject
from .design import Design, design
from .design.fabric.growth import Moves, moves
from .diagnostics import Diagnostic, errors, stopping
from .diagnostics.report import Suppressed, gather, without_secrets
from .diagnostics.suppression import suppress
from .placement import place
from .placement.detours import detours
from .placement.project import Project
from .source import Document, traced
from .training import Job, JobSpec
from .training import plan as plan_job
from .training.assume import Assumptions
from .training.auto import chosen_plan, no_plan
from .training.checkpoints import ASSUMED_SAVE_S
from .training.course import Wanted
from .training.failures import Failures
from .training.links import links, node_rates
from .training.plan import stepped
from .training.search import CHOICES, NothingFits, search

if TYPE_CHECKING:
    from .review import Review, Side

Path = tuple[str | int, ...]
_OF_THE_WHOLE = frozenset({"nothing-to-schedule", "path-not-mounted"})  # what is missed may be among what was left out


@dataclass(frozen=True)
class Run:
    """How far the flow came: a later value is None when an earlier stage found an error.

    ``decided`` are the sizes of jobs that said ``parallel: auto``, by their paths in ``blueprint``, where they stand from then on.
    """

    document: Document
    profile: Profile = "production"
    findings: tuple[Diagnostic, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    blueprint: Blueprint | None = None
    design: Design | None = None
    jobs: Mapping[str, Job] = field(default_factory=dict)
    decided: Mapping[Path, tuple[Any, str]] = field(default_factory=dict)
    project: Project | None = None


def run(text: bytes | str, name: str, profile: Profile = "production", over: Iterable[tuple[bytes | str, str]] = (), sets: Iterable[str] = (), room: int = 1, judge: bool = True, placed: bool = True) -> Run:
    """The flow up to the placement. ``name`` is the file's name in messages, ``profile`` how strictly the checks judge.

    ``over`` are further files (text and name) and ``sets`` single values (``nodes.gpu.count=64``) that are laid over the blueprint.
    ``room`` is how many times larger than a blueprint the text may be. Without ``judge`` the checks of the designed cluster are left out,
    which a placement does not need: they lay every cable. Without ``placed`` the flow ends with the jobs, for a caller who has a fabric of
    his own to place them on.
    """
    document, findings = assemble((text, name), over, sets, room)
    state = Run(document, profile, tuple(findings))
    if document.data is not None:
        state = _blueprint(state)  # also beside faults of single values, so that one run tells all
    for stage in (_referenced, _cut, _checked, *((_judged,) if judge else ()), *((_placed,) if placed else ())):
        if stopping(state.findings):
            state = _besides(state, stage is not _referenced) if stage in (_referenced, _cut, _checked) else state
            break
        state = stage(state)
    return _allowed(replace(state, findings=folded(traced(document, state.findings), document.place)), judge)


def tree(state: Run) -> dict[str, str]:
    """Every file of a run without errors: path below the output folder → text."""
    from .render import render
    from .targets import PLANS, readme, targets

    assert state.blueprint and state.project
    out = {".iacgen/resolved.yaml": render("resolved.yaml.j2", blueprint=resolve(state.blueprint))}
    project = replace(state.project, left=tuple(sorted({finding.id: finding for finding in (*(s.finding for s in state.suppressed), *state.findings)}.values(), key=lambda f: f.id)))
    planned = any(pool.only_planned for pool in project.design.pools.values())
    for target in targets(PLANS if planned else None):
        files = target(project)
        clash = out.keys() & files.keys()
        if clash:
            raise RuntimeError(f"two targets write {', '.join(sorted(clash))}")
        out |= files
    out |= readme.render(state.project, tuple(sorted({*out, "README.md"})))
    return dict(sorted(out.items()))


def recabled(before: Run, after: Run) -> dict[str, Moves]:
    """Fabric → what becomes of its cables, for those where any changes; empty where one of the runs has no design."""
    old, new = (run.design.fabrics if run.design else None for run in (before, after))
    if old is None or new is None:
        return {}
    fates = {name: moves(old.get(name), new.get(name)) for name in sorted(old.keys() | new.keys())}
    return {name: fate for name, fate in fates.items() if fate.disturbs or fate.new}


def reviewed(name: str, before: Run | None, after: Run | None) -> Review:
    """What the change from one run to the other does; None is a blueprint that is not there. Nothing secret is in it."""
    from .review import review

    masks = [without_secrets(run.document) for run in (before, after) if run]

    def said(text: str, path: Path) -> str:
        for mask in masks:
            text = mask(text, path)
        return text

    return review(name, before and _side(before), after and _side(after), said)


def _side(state: Run) -> Side:
    from .review import Side

    found = tuple(entry.finding for entry in gather(state.findings, state.document).entries)
    return Side(state.document.name, state.blueprint, state.design, state.project, found, tree(state) if state.project else {})


def _blueprint(state: Run) -> Run:
    blueprint, findings = parse(state.document.data, state.document.written, state.document.unread)
    return replace(state, blueprint=blueprint, findings=(*state.findings, *findings))


def _referenced(state: Run) -> Run:
    assert state.blueprint
    return replace(state, findings=(*state.findings, *checks.run("references", state.blueprint, state.profile)))


def _cut(state: Run) -> Run:
    """Jobs that leave their cut open get the fastest that fits; its sizes stand in the blueprint from here on."""
    assert state.blueprint
    findings, decided, training = list(state.findings), dict(state.decided), dict(state.blueprint.training)
    for name, wanted in training.items():
        if wanted.parallel is None:
            chosen, found = cut(name, wanted, state.blueprint, state.document)
            findings += found
            training[name] = wanted.model_copy(update=chosen)
            decided |= {("training", name, key): (value.model_dump(exclude_none=True) if key == "parallel" else value, "auto") for key, value in chosen.items()}
    return replace(state, blueprint=state.blueprint.model_copy(update={"training": training}), decided=decided, findings=tuple(findings))


def _besides(state: Run, referenced: bool) -> Run:
    """After an error in the language or a reference: what can be said all the same of the entries that nothing is wrong with."""
    rest = Rest(copy.deepcopy(state.document.data), state.blueprint) if referenced else intact(state.document.data, state.findings, state.document.unread)
    if rest.blueprint is None:
        return state
    blueprint, unknown = rest.blueprint, [] if referenced else checks.run("references", rest.blueprint, state.profile)
    found: list[Diagnostic] = []
    misnamed = any(f.on_key and len(f.path) == 2 and f.path[0] in MAPS for f in state.findings) or () in rest.unsure
    if not misnamed:  # else what refers to the right name is not at fault
        found += [f for f in unknown if at(rest.data, f.path) not in rest.gone]
    wrong = {f.path[:2] for f in errors((*state.findings, *unknown)) if f.slug != "unknown-key"} | rest.unsure
    for name, wanted in blueprint.training.items():
        if wanted.nodes in blueprint.nodes and not {("training", name), ("nodes", wanted.nodes)} & wrong and (spec := job_spec(name, wanted, blueprint)):
            if wanted.parallel:
                found += plan_job(spec)[1]
            elif spec.node_bytes_per_s and not referenced:  # else its fabric may be what is left out here, or it was cut before
                found += cut(name, wanted, blueprint, state.document)[1]
    if sound := rest.without(lambda left: [f.path for f in errors(checks.run("references", left, state.profile))]):
        found += [f for f in errors(checks.run("blueprint", sound, state.profile)) if f.slug not in _OF_THE_WHOLE]
        found += _designed_besides(state, rest)
    return replace(state, findings=(*state.findings, *(_as_written(f, rest) for f in found)))


def _designed_besides(state: Run, rest: Rest) -> list[Diagnostic]:
    """Errors of the design of the entries that nothing is wrong with, then of those beside what cannot be designed, and so on."""
    found: list[Diagnostic] = []

    def wrong(left: Blueprint) -> list[Path]:
        for stage in ("references", "blueprint"):
            if told := errors(checks.run(stage, left, state.profile)):
                return [f.path for f in told]
        told = errors(design(left)[1])
        found.extend(f for f in told if f.slug not in _OF_THE_WHOLE)
        return [f.path for f in told]

    rest.without(wrong)
    return found


def _as_written(finding: Diagnostic, rest: Rest) -> Diagnostic:
    """The finding at the keys that stand in the file, where some of them are misspelt."""
    return replace(finding, path=rest.written(finding.path), related=tuple(replace(r, path=rest.written(r.path)) for r in finding.related))


def _checked(state: Run) -> Run:
    """The checks, the design and the arithmetic of the jobs together, so that the user sees all that is wrong in one run."""
    assert state.blueprint
    findings, jobs, designed = checks.run("blueprint", state.blueprint, state.profile), {}, None
    if not errors(findings):
        designed, found = design(state.blueprint)
        findings += found
    if designed is None:
        told = {(f.id, f.path) for f in findings}
        rest = Rest(copy.deepcopy(state.document.data)).leave_out([f.path for f in errors(findings)])
        findings += [f for f in _designed_besides(state, rest) if (f.id, f.path) not in told]
    for name, wanted in state.blueprint.training.items():
        if spec := job_spec(name, wanted, state.blueprint):
            job, found = plan_job(spec)
            findings += found
            jobs |= {name: stepped(job)} if job else {}
    return replace(state, design=designed, jobs=jobs, findings=(*state.findings, *findings))


def _judged(state: Run) -> Run:
    """The checks that look at the designed cluster and its jobs."""
    assert state.blueprint and state.design
    subject = Subject(state.blueprint, state.design, state.jobs)
    return replace(state, findings=(*state.findings, *checks.run("cluster", subject, state.profile)))


def _placed(state: Run) -> Run:
    assert state.blueprint and state.design
    findings, placements, jobs = list(state.findings), {}, dict(state.jobs)
    for name, job in state.jobs.items():
        placement, found = place(state.design, state.blueprint.training[name].nodes, job)
        findings += found
        if placement:
            placements |= {name: placement}
            jobs |= {name: stepped(job, detours(placement.cost, job.traffic, links(job.spec).network, node_rates(job.spec)))}
    project = None if stopping(findings) else Project(state.design.name, state.design, jobs, placements)
    return replace(state, findings=tuple(findings), project=project)


def _allowed(state: Run, judged: bool) -> Run:
    """Set aside what comments in the file allow, and add what is wrong with the comments; of a cluster that was not ``judged`` they may
    allow what was not looked for."""
    texts = {state.document.name: state.document.text, **state.document.others}
    spoken = [comment for name, text in texts.items() for comment in source.comments(text, name)]
    if not spoken or state.document.data is None:
        return replace(state, project=None if errors(state.findings) else state.project)
    from .explain import kinds

    outcome = suppress(state.findings, spoken, state.document, kinds(), state.profile, complete=judged and not stopping(state.findings))
    project = None if errors(outcome.findings) else state.project
    return replace(state, findings=outcome.findings, suppressed=outcome.suppressed, project=project)


def job_spec(name: str, wanted: Training, blueprint: Blueprint) -> JobSpec | None:
    """The numbers that the training room needs, out of the blueprint and the catalog; None on nodes without GPUs and TPUs. The torus of a pod
    of TPUs counts as its NVLink."""
    pool = blueprint.nodes[wanted.nodes]
    system = catalog.system(pool.system)
    chip = catalog.gpu(system.gpu) if system.gpu else as_gpu(catalog.tpu(system.tpu)) if system.tpu else None
    if chip is None:
        return None
    store = blueprint.storage.get(wanted.checkpoint.to) if wanted.checkpoint else None
    megatron, cut, off = wanted.framework == "megatron", wanted.parallel or Parallel(), wanted.offload
    usable = max(1, pool.free)
    return JobSpec(
        name=name,
        model=model_of(blueprint, wanted),
        gpu=chip,
        nodes=wanted.count or usable,
        usable_nodes=usable,
        gpus_per_node=system.gpus or system.tpus,
        sequence=wanted.sequence,
        global_batch=wanted.global_batch,
        micro_batch=wanted.micro_batch,
        tensor=cut.tensor,
        pipeline=cut.pipeline,
        virtual=cut.virtual,
        context=cut.context,
        expert=cut.expert,
        expert_tensor=cut.expert_tensor,
        expert_capacity=cut.expert_capacity,
        sequence_parallel=wanted.framework != "deepspeed" and cut.sequence and cut.tensor > 1,
        first_layers=cut.first_layers,
        last_layers=cut.last_layers,
        embedding_as_layer=cut.embedding_as_layer,
        loss_as_layer=cut.loss_as_layer,
        framework=wanted.framework,
        framework_version=tuple(map(int, getattr(blueprint.software, wanted.framework, "").split("."))) if wanted.framework != "fsdp" else (),
        zero=wanted.zero if wanted.zero is not None else 0 if megatron else 3,
        shard_group=wanted.shard_group,
        secondary_group=wanted.secondary_group,
        offload_optimizer=(off.optimizer if off else None) or "none",
        offload_weights=(off.weights if off else None) or "none",
        offload_path=off.path if off else "/local",
        host_memory_gib=system.memory_gib,
        host_nvme_tb=system.local_nvme_tb,
        fp8=wanted.precision == "fp8",
        gradients=wanted.gradients,
        recompute=wanted.recompute,
        distributed_optimizer=megatron,
        entrypoint=wanted.script,
        arguments=wanted.arguments,
        data_path=wanted.data,
        checkpoint_to=wanted.checkpoint.to if wanted.checkpoint else None,
        checkpoint_target_s=(wanted.checkpoint.target or ASSUMED_SAVE_S) if wanted.checkpoint else None,
        checkpoint_promised=bool(wanted.checkpoint and wanted.checkpoint.target),
        store_read_bytes_per_s=read_rate(store) if store else None,
        store_write_bytes_per_s=write_rate(store) if store else None,
        failures=Failures(wanted.failures.per_1000_node_days, wanted.failures.restart, wanted.failures.repair, wanted.failures.availability),
        input=job_input(blueprint, wanted),
        host_cpus=system.cpus,
        node_bytes_per_s=_adapters(blueprint, wanted.nodes),
        nvlink_gpus=catalog.tpu(system.tpu).pod_chips if system.tpu else system.nvlink_domain_gpus,
        assume=Assumptions(**{f.name: value for f in fields(Assumptions) if (value := getattr(wanted.assume, f.name, None)) is not None}),
        wanted=_run(wanted),
        origin=("training", name),
    )


def _run(wanted: Training) -> Wanted:
    """What a job says of its whole run."""
    said = wanted.assume
    return Wanted(wanted.tokens, said.node_power, said.pue, said.gpu_hour, said.currency or "USD") if said else Wanted(wanted.tokens)


def _adapters(blueprint: Blueprint, pool: str) -> float | None:
    """Bytes a second of the compute adapters of a pool's nodes, one direction; None where no fabric joins them."""
    system = catalog.system(blueprint.nodes[pool].system)
    nic = system.nics.get("compute")
    joined = system.cloud or any(fabric.purpose == "compute" and pool in fabric.connects for fabric in blueprint.fabrics.values())
    return nic.count * nic.gbps * 1e9 / 8 if nic and joined else None


def cut(name: str, wanted: Training, blueprint: Blueprint, document: Document) -> tuple[dict[str, Any], list[Diagnostic]]:
    """What to put into a job that says ``parallel: auto``, and what there is to say about it; nothing to put when no way fits."""
    spec = job_spec(name, wanted, blueprint)
    if spec is None:
        return {"parallel": Parallel()}, []  # a check says that its nodes have no GPUs
    written = {key for key in ("micro_batch", "recompute") if ("training", name, key) in document.values}
    free = frozenset({"micro_batch", "recompute"} - written | ({"zero"} if wanted.zero is None and wanted.framework != "megatron" else set()))
    found = search(spec, free)
    if isinstance(found, NothingFits):
        return {}, [no_plan(spec, found, free)]
    plan = found.best.spec
    sizes = {key: getattr(plan, key) for key in Parallel.model_fields if key in CHOICES}
    chosen = {"parallel": Parallel(**sizes, sequence=plan.sequence_parallel or plan.tensor == 1), **{key: getattr(plan, key) for key in sorted(free)}}
    return chosen, [chosen_plan(found)]


__all__ = ["Design", "Run", "job_spec", "recabled", "run", "tree"]
