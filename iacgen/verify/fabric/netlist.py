"""A plan as the netlist that ibsim reads: the format of ibnetdiscover, each link on both of its ends."""

from __future__ import annotations

from collections.abc import Iterator

from .plan import Plan

_SWITCH = "vendid=0x2c9\ndevid=0xd2f2"
_ADAPTER = "vendid=0x2c9\ndevid=0x1021"
# The speed as which ibsim 0.10 brings every link up: it does not know today's.
_WIDTH = "4xSDR"


def netlist(plan: Plan) -> str:
    """The text. The manager's adapter is the first, where ibsim attaches whoever asks for no other."""
    ends: dict[str, list[tuple[int, str, int]]] = {name: [] for name in (*plan.switches, *plan.adapters)}
    for link in plan.links:
        ends[link.a].append((link.a_port, link.b, link.b_port))
        ends[link.b].append((link.b_port, link.a, link.a_port))
    blocks = [_switch(plan, name, ends[name]) for name in plan.switches] + [_adapter(plan, name, ends[name]) for name in plan.adapters]
    return "\n\n".join(blocks) + "\n"


def sizes(plan: Plan) -> tuple[str, ...]:
    """ibsim's limits on nodes, switches and ports, raised to this plan: its defaults are 2,048 nodes and 256 switches."""
    nodes = len(plan.switches) + len(plan.adapters)
    ports = sum(n + 1 for n in plan.ports.values()) + 2 * len(plan.adapters)
    return ("-N", str(nodes + 8), "-S", str(len(plan.switches) + 8), "-P", str(ports + 64))


def node_id(plan: Plan, name: str) -> str:
    """How a netlist names a node: its kind and GUID."""
    return f"{'S' if name in plan.ports else 'H'}-{plan.guids[name]:016x}"


def _switch(plan: Plan, name: str, ends: list[tuple[int, str, int]]) -> str:
    guid = plan.guids[name]
    head = f'{_SWITCH}\nsysimgguid={guid:#x}\nswitchguid={guid:#x}({guid:x})\nSwitch\t{plan.ports[name]} "{node_id(plan, name)}"\t\t# "{name}" enhanced port 0 lid 0 lmc 0'
    return "\n".join([head, *_ports(plan, ends)])


def _ports(plan: Plan, ends: list[tuple[int, str, int]]) -> Iterator[str]:
    for port, far, far_port in sorted(ends):
        guid = "" if far in plan.ports else f"({plan.port_guid(far):x})"
        yield f'[{port}]\t"{node_id(plan, far)}"[{far_port}]{guid}\t\t# "{far}" lid 0 {_WIDTH}'


def _adapter(plan: Plan, name: str, ends: list[tuple[int, str, int]]) -> str:
    guid = plan.guids[name]
    head = f'{_ADAPTER}\nsysimgguid={guid:#x}\ncaguid={guid:#x}\nCa\t1 "{node_id(plan, name)}"\t\t# "{name}"'
    lines = [f'[{port}]({plan.port_guid(name):x}) \t"{node_id(plan, far)}"[{far_port}]\t\t# lid 0 lmc 0 "{far}" lid 0 {_WIDTH}' for port, far, far_port in sorted(ends)]
    return "\n".join([head, *lines])
