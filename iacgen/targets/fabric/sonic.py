"""SONiC: what all switches of a RoCE fabric have alike, and what each has of its own, as tables of its configuration database.

``sonic-cfggen -H -k HWSKU -j common.json -j <switch>.json --print-data`` joins them with the switch's own port layout into one
config_db.json. Sources: sonic-net/sonic-buildimage, src/sonic-yang-models and the templates of Mellanox switches.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...design.fabric.model import Fabric, Qos
from .neighbours import SEGMENT, Far, Router

NAME = "ROCE"  # of every map and profile
# Marking begins and is certain at these bytes in the lossless queue: what Cumulus and Onyx set on the same switches (RoCE, lossless).
ECN_MIN_BYTES, ECN_MAX_BYTES = 150_000, 1_500_000
# A cable length that buffers are reckoned for where none is known.
_ASSUMED_CABLE_M = 40
_SHORT_ROW = 16  # fields
Table = Mapping[str, Any]


def common(fabric: Fabric, routes: bool) -> str:
    """``common.json``: maps, queues' schedulers, marking, watchdog, and how routes are made."""
    assert fabric.qos
    return printed(quality(fabric.qos) | (_routing() if routes else {}))


def quality(qos: Qos) -> dict[str, Table]:
    """Maps and profiles. A traffic class, its queue and its priority group have the number of the priority."""
    classes = {str(n): str(n) for n in range(8)}
    marked = {qos.dscp: qos.priority, qos.cnp_dscp: qos.cnp_priority}
    groups = {str(n): str(n if n == qos.priority else 0) for n in range(8)}
    marking = {f"{colour}_{edge}_threshold": str(at) for colour in ("green", "yellow", "red") for edge, at in (("min", ECN_MIN_BYTES), ("max", ECN_MAX_BYTES))}
    return {
        "DSCP_TO_TC_MAP": {NAME: {str(dscp): str(marked.get(dscp, 0)) for dscp in range(64)}},
        "TC_TO_QUEUE_MAP": {NAME: classes},
        "TC_TO_PRIORITY_GROUP_MAP": {NAME: groups},
        "MAP_PFC_PRIORITY_TO_QUEUE": {NAME: classes},
        "SCHEDULER": {"lossless": {"type": "DWRR", "weight": "50"}, "lossy": {"type": "DWRR", "weight": "50"}, "notifications": {"type": "STRICT"}},
        "WRED_PROFILE": {NAME: {"ecn": "ecn_all", "wred_green_enable": "true", "wred_yellow_enable": "true", "wred_red_enable": "true", **marking}},
        "PFC_WD": {"GLOBAL": {"POLL_INTERVAL": "200"}},
        **_buffers(),
    }


def _buffers() -> dict[str, Table]:
    """Pools and profiles; the headroom of lossless traffic follows from speed and cable (buffer_model dynamic)."""
    pools = {f"{way}_{kind}_pool": {"type": way, "mode": "dynamic"} for way in ("ingress", "egress") for kind in ("lossless", "lossy")}
    profiles = {
        f"{way}_{kind}_profile": {"pool": f"{way}_{kind}_pool", "size": "9216" if (way, kind) == ("egress", "lossy") else "0", "dynamic_th": "3" if (way, kind) == ("ingress", "lossy") else "7"}
        for way in ("ingress", "egress")
        for kind in ("lossless", "lossy")
    }
    return {
        "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "0"}},
        "BUFFER_POOL": pools,
        "BUFFER_PROFILE": profiles,
    }


def _routing() -> dict[str, Table]:
    return {
        "BGP_GLOBALS_AF": {"default|ipv4_unicast": {"max_ebgp_paths": "256"}, "default|l2vpn_evpn": {"advertise-all-vni": "true"}},
        "ROUTE_REDISTRIBUTE": {"default|connected|bgp|ipv4": {}},
    }


def switch(router: Router, qos: Qos) -> str:
    """``<switch>.json``: name, addresses, and for every port that is used its class, queues and buffers."""
    used = [far.port.name for far in router.ports]
    lossless, lossy = str(qos.priority), [str(n) for n in range(8) if n not in (qos.priority, qos.cnp_priority)]
    queue = {"scheduler": "lossless", "wred_profile": NAME}
    per_port = {
        "dscp_to_tc_map": NAME, "tc_to_queue_map": NAME, "tc_to_pg_map": NAME, "pfc_to_queue_map": NAME,
        "pfc_enable": lossless, "pfcwd_sw_enable": lossless,
    }  # fmt: skip
    tables: dict[str, Table] = {
        "DEVICE_METADATA": {"localhost": _metadata(router)},
        "PORT": {far.port.name: _port(router, far) for far in router.ports},
        "PORT_QOS_MAP": dict.fromkeys(used, per_port),
        "QUEUE": {f"{port}|{n}": queue if n == lossless else {"scheduler": "notifications" if n == str(qos.cnp_priority) else "lossy"} for port in used for n in (lossless, str(qos.cnp_priority), *lossy[:1])},
        "PFC_WD": {port: {"action": "drop", "detection_time": "200", "restoration_time": "200"} for port in used},
        "CABLE_LENGTH": {"AZURE": {far.port.name: f"{_metres(far)}m" for far in router.ports}},
        "BUFFER_PG": {f"{port}|{n}": {"profile": "NULL" if n == lossless else "ingress_lossy_profile"} for port in used for n in dict.fromkeys((lossless, "0"))},
        "BUFFER_QUEUE": {f"{port}|{n}": {"profile": f"egress_{kind}_profile"} for port in used for n, kind in _queues(qos)},
    }
    return printed(tables | (_segment(router) if router.hosts else {}) | (_router(router) if router.routes else {}))


def _port(router: Router, far: Far) -> Table:
    speed = {"speed": str(far.gbps * 1000)} if router.slower(far) else {}  # in Mb/s, where the port layout has another
    return {"admin_status": "up", "mtu": "9100", "description": f"{far.device} {far.device_port}", **speed}


def _segment(router: Router) -> dict[str, Table]:
    """The segment of the hosts, and on a router the tunnels that carry it to the other leaves."""
    vlan = f"Vlan{SEGMENT}"
    tables: dict[str, Table] = {
        "VLAN": {vlan: {"vlanid": str(SEGMENT)}},
        "VLAN_MEMBER": {f"{vlan}|{far.port.name}": {"tagging_mode": "untagged"} for far in router.hosts},
    }
    if router.routes:
        tables |= {
            "VXLAN_TUNNEL": {"vtep": {"src_ip": str(router.loopback)}},
            "VXLAN_EVPN_NVO": {"nvo": {"source_vtep": "vtep"}},
            "VXLAN_TUNNEL_MAP": {f"vtep|map_{SEGMENT}_{vlan}": {"vlan": vlan, "vni": str(SEGMENT)}},
        }
    return tables


def _queues(qos: Qos) -> list[tuple[str, str]]:
    """Ranges of queues with one profile."""
    n = qos.priority
    return [(span, kind) for span, kind in ((f"0-{n - 1}" if n > 1 else "0", "lossy"), (str(n), "lossless"), (f"{n + 1}-7" if n < 6 else "7", "lossy")) if not (kind == "lossy" and ((span == "0" and n == 0) or (span == "7" and n == 7)))]


def _metres(far: Far) -> int:
    return _ASSUMED_CABLE_M if far.length_m is None else max(1, -(-int(far.length_m * 10) // 10))


def _metadata(router: Router) -> dict[str, str]:
    assert router.model.sonic
    own = {"hostname": router.name, "hwsku": router.model.sonic.hwsku[router.speed.gbps], "type": "LeafRouter" if router.kind == "leaf" else "SpineRouter", "buffer_model": "dynamic"}
    if router.routes:
        own |= {"bgp_asn": str(router.asn), "docker_routing_config_mode": "unified", "frr_mgmt_framework_config": "true"}
    return own


def _router(router: Router) -> dict[str, Table]:
    links = [far.port.name for far in router.links]
    return {
        "LOOPBACK_INTERFACE": {"Loopback0": {}, f"Loopback0|{router.loopback}/32": {}},
        "INTERFACE": {port: {"ipv6_use_link_local_only": "enable"} for port in links},
        "BGP_GLOBALS": {"default": {"local_asn": str(router.asn), "router_id": str(router.loopback), "load_balance_mp_relax": "true"}},
        "BGP_NEIGHBOR": {f"default|{port}": {"peer_type": "external", "capability_ext_nexthop": "true"} for port in links},
        "BGP_NEIGHBOR_AF": {f"default|{port}|{family}": {"admin_status": "up"} for port in links for family in ("ipv4_unicast", "l2vpn_evpn")},
    }


def printed(tables: Mapping[str, Table]) -> str:
    """Tables as JSON, one line a row, and of a long row one line a field, so that a changed port is a changed line."""
    return _lines({name: _lines({key: json.dumps(row) if len(row) <= _SHORT_ROW else _lines({k: json.dumps(v) for k, v in row.items()}) for key, row in table.items()}) for name, table in tables.items()}) + "\n"


def _lines(fields: Mapping[str, str]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {text}" for key, text in fields.items()) + "\n}" if fields else "{}"
