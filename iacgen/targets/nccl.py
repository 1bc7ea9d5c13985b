"""NCCL's environment: one set of values for each kind of GPU host, in the four dialects of its readers.

Few values, each with its reason beside it. A value equal to NCCL's default is not written, nor one that the cloud's plug-in
sets better. Which values fit which fabric: NCCL user guide 2.30, and for EFA doc/efa-env-var.md of aws-ofi-nccl.
"""

from __future__ import annotations

from dataclasses import dataclass

from iacgen.design.fabric.model import Fabric
from iacgen.design.fabric.sound import parts, rails_apart
from iacgen.design.model import Design, Pool
from iacgen.placement.project import Project
from iacgen.render import fold
from iacgen.render import render as render_template

_RAILS_SINCE = (2, 30)  # NCCL that reads <adapter>:<port>:<rail> in NCCL_IB_HCA
_ECMP_QUEUE_PAIRS = 4  # of the 2 to 4 that vendor profiles use; one of them (GCP A3 Ultra) has 4
_OWN = "^docker,lo,veth"  # NCCL takes these names as prefixes
_NEITHER_IB_NOR_BMC = "^bmc,docker,enx,ib,lo,usb,veth"  # a BMC that is reached over USB: usb0, bmc_redfish0, or enx and its address
_FILES = ("nccl.conf", "nccl.sh", "container.env")


@dataclass(frozen=True)
class Setting:
    """One environment variable and why it is set."""

    name: str
    value: str
    why: str


@dataclass(frozen=True)
class Profile:
    """The environment of one kind of GPU host; ``notes`` say why what one might expect is missing."""

    settings: tuple[Setting, ...]
    notes: tuple[str, ...]


def render(project: Project) -> dict[str, str]:
    """``nccl/`` and an ``.deepspeed_env`` for each DeepSpeed job; nothing for a cluster without GPUs.

    Pools whose hosts need different values get a folder each, ``nccl/<pool>/``: no file fits both.
    """
    design = project.design
    pools = [pool for pool in design.pools.values() if pool.system.gpus]
    profiles = {pool.name: profile(design, pool) for pool in pools}
    tree: dict[str, str] = {}
    if len(set(profiles.values())) == 1:
        tree = _files("nccl", profiles[pools[0].name], [host for pool in pools for host in pool.hosts])
    else:
        for pool in pools:
            tree |= _files(f"nccl/{pool.name}", profiles[pool.name], pool.hosts)
    for name, job in project.jobs.items():
        if job.spec.framework == "deepspeed":
            pool = design.pool_of(project.placements[name].hosts[0])
            tree[f"training/{name}/.deepspeed_env"] = render_template("nccl/deepspeed_env.j2", settings=profiles[pool.name].settings)
    return tree


def profile(design: Design, pool: Pool) -> Profile:
    """What the hosts of a GPU pool need on the fabric they are on, with what somebody sets by hand in the place of what follows."""
    planned, by_hand = _planned(design, pool), {variable.name: variable for variable in design.nccl}
    settings = tuple(setting for setting in planned.settings if setting.name not in by_hand)
    chosen = tuple(Setting(v.name, v.value, v.reason or "Set in the blueprint, without a reason.") for v in by_hand.values())
    notes = tuple(note for note in planned.notes if not any(name in note for name in by_hand))
    return Profile((*settings, *chosen), notes)


def _planned(design: Design, pool: Pool) -> Profile:
    """What follows from the fabric that a pool is on."""
    fabric = design.fabric_of(pool.name, "compute")
    technology = fabric.technology if fabric else None
    settings = [Setting("NCCL_DEBUG", "WARN", "A failed job says why. INFO writes too much beyond 1,000 ranks.")]
    notes: list[str] = []
    if technology == "efa":
        settings.append(Setting("NCCL_SOCKET_IFNAME", _OWN, "Bootstrap over the instance's own interface, whose name depends on its image."))
        notes += [
            "Not set: buffer and chunk sizes, protocol, channels, tuner. The EFA plug-in (aws-ofi-nccl) sets them for the instance type.",
            "Not set: FI_PROVIDER, FI_EFA_USE_DEVICE_RDMA, FI_EFA_FORK_SAFE, RDMAV_FORK_SAFE. Needless or harmful since libfabric 1.18.",
        ]
        return Profile(tuple(settings), tuple(notes))
    settings += _bootstrap(design, pool)
    if fabric and technology in ("infiniband", "roce"):
        settings += _adapters(fabric, pool, design.software.nccl)
        settings += _apart(fabric)
        settings += _lossless(fabric)
    if pool.system.nvlink_domain_servers > 1:
        notes += [
            "Not set: NCCL_MNNVL_ENABLE, NCCL_CUMEM_ENABLE and NCCL_NVLS_ENABLE. NCCL finds an NVLink domain of several hosts by itself.",
            "It needs NVIDIA's IMEX service on all hosts of the domain (nvidia-imex-ctl -N) and a channel in /dev/nvidia-caps-imex-channels.",
        ]
    if technology == "infiniband":
        notes.append("Not set: NCCL_IB_GID_INDEX and NCCL_IB_TC. The first is not read on InfiniBand, the second is the subnet manager's affair.")
    if technology == "roce":
        notes.append("Not set: NCCL_IB_GID_INDEX. NCCL finds the RoCE v2 entry of each port, whose index can differ between hosts.")
    return Profile(tuple(settings), tuple(notes))


def _bootstrap(design: Design, pool: Pool) -> list[Setting]:
    """The interface that carries plain TCP, by the name that the blueprint or the catalog has for it."""
    carrier = design.carrier_of(pool.name)
    names = ((carrier.interface,) if carrier.interface else carrier.nics[pool.name].interfaces) if carrier else ()
    if carrier and carrier.bonded and len(names) > 1:
        why = f"Bootstrap over the network {carrier.name}, whose {len(names)} ports are one bond: fabrics.{carrier.name}.interface would name it. Not over IPoIB, nor a BMC's interface."
        return [Setting("NCCL_SOCKET_IFNAME", _NEITHER_IB_NOR_BMC, why)]
    if not carrier or not names:
        others = _OWN if not carrier or carrier.technology == "infiniband" else _NEITHER_IB_NOR_BMC
        return [Setting("NCCL_SOCKET_IFNAME", others, "Bootstrap over any interface of the host itself: the catalog knows no name for the right one.")]
    return [
        Setting("NCCL_SOCKET_IFNAME", "=" + ",".join(names), f"Bootstrap over the network {carrier.name}, by the interface's exact name."),
        Setting("GLOO_SOCKET_IFNAME", ",".join(names), f"PyTorch's CPU collectives over the network {carrier.name} too; the host name may resolve to another."),
    ]


def _adapters(fabric: Fabric, pool: Pool, nccl: str) -> list[Setting]:
    """The compute adapters by exact name: without the sign of equality mlx5_1 would also take mlx5_10."""
    names = fabric.nics[pool.name].rdma_names
    if not names:
        return []
    count = f"The {len(names)} adapters of the network {fabric.name} in the order of the GPUs"
    if fabric.technology == "infiniband" and fabric.planes > 1:
        value = ",".join(f"{name}:{plane + 1}" for name in names for plane in range(fabric.planes))
        return [Setting("NCCL_IB_HCA", f"={value}", f"{count}, with the port of each in each plane, as name:port; other adapters stay out.")]
    if fabric.by_rail and _version(nccl) >= _RAILS_SINCE:
        value = ",".join(f"{name}:1:{rail}" for rail, name in enumerate(names))
        return [Setting("NCCL_IB_HCA", f"={value}", f"{count}, as name:port:rail; other adapters stay out.")]
    return [Setting("NCCL_IB_HCA", "=" + ",".join(names), f"{count}, by exact name; other adapters stay out.")]


def _apart(fabric: Fabric) -> list[Setting]:
    """Where an adapter reaches those of its own rail or plane alone; NCCL does not look, and would try others where that seems better."""
    if not rails_apart(fabric) and (fabric.technology != "infiniband" or parts(fabric) == 1):
        return []
    what = "rails" if rails_apart(fabric) else "planes"
    return [Setting("NCCL_CROSS_NIC", "0", f"Nothing joins the {what} of the network {fabric.name}: both ends of a connection take the same adapter, and NVLink brings the rest to it.")]


def _lossless(fabric: Fabric) -> list[Setting]:
    """RoCE: the class that switches and hosts keep free of loss, and enough flows for their equal-cost paths."""
    if fabric.qos is None:
        return []
    why = f"DSCP {fabric.qos.dscp} x 4 + 2 (ECT): the lossless class of the network {fabric.name}, priority {fabric.qos.priority} on its switches."
    settings = [Setting("NCCL_IB_TC", str(fabric.qos.traffic_class), why)]
    if fabric.multipath:
        why = "Several flows a connection, so that switches spread them over the paths to the spines; one flow keeps to one path."
        settings.append(Setting("NCCL_IB_QPS_PER_CONNECTION", str(_ECMP_QUEUE_PAIRS), why))
    return settings


def _files(folder: str, profile: Profile, hosts: list[str] | tuple[str, ...]) -> dict[str, str]:
    """The host-wide files. nccl.conf is NCCL's own and holds nothing of other libraries."""
    words = {"hosts": fold(hosts), "settings": profile.settings, "notes": profile.notes}
    own = [setting for setting in profile.settings if setting.name.startswith("NCCL_")]
    return {f"{folder}/{file}": render_template(f"nccl/{file}.j2", **words | ({"settings": own} if file == "nccl.conf" else {})) for file in _FILES}


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
