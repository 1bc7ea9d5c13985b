"""What a Terraform plan would build at an AWS site, held against the design. The templates have no part in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

_Resources = dict[str, dict[str, dict[str, Any]]]


def differences(plan: dict[str, Any], design: Any, site: str) -> Iterator[str]:
    """In words, each way in which the plan (as ``terraform show -json`` prints it) is not the design of ``site``."""
    planned = _by_type(plan)
    for check in (_machines, _names, _network, _templates, _file_systems, _buckets, _openings):
        yield from check(planned, design, site)
    yield from _among_themselves(plan, planned, design.sites[site])


def _among_themselves(plan: dict[str, Any], planned: _Resources, site: Any) -> Iterator[str]:
    """EFA passes only inside a group that lets all of it to itself, in and out; which group a rule names is known by reference alone."""
    resources = plan.get("configuration", {}).get("root_module", {}).get("resources", [])
    for way in ("ingress", "egress"):
        kind = f"aws_vpc_security_group_{way}_rule"
        rules = [r for r in resources if r["type"] == kind]
        whole = [r["address"] for r in rules if r["expressions"].get("ip_protocol", {}).get("constant_value") == "-1" and _groups(r["expressions"])]
        built = Counter((v["from_port"], v["to_port"]) for address, v in planned.get(kind, {}).items() if ".port[" in address)
        if site.security_group is None and site.member_ports is not None:
            yield from _compare(f"ports among the machines ({way})", built, Counter(site.member_ports))
        elif site.security_group is None and not any(address.startswith(name) for name in whole for address in planned.get(kind, {})):
            yield f"no {way} rule lets all traffic of a security group to itself: EFA does not pass"
        elif site.security_group and any(".self" in address or ".port[" in address for address in planned.get(kind, {})):
            yield f"{way} rules for a group whose rules are its owner's"


def _network(planned: _Resources, design: Any, site: str) -> Iterator[str]:
    """A network of the account is used and left as it is; without one there is one of the site's range."""
    wanted = design.sites[site]
    built = Counter(v["cidr_block"] for v in planned.get("aws_vpc", {}).values())
    yield from _compare("networks", built, Counter() if wanted.existing else Counter([wanted.network]))
    if not wanted.existing:
        return
    for kind in ("aws_subnet", "aws_nat_gateway", "aws_route_table", "aws_vpc_endpoint"):
        yield from _compare(kind, Counter(planned.get(kind, {}).keys()), Counter())
    used = [nic for v in planned.get("aws_launch_template", {}).values() for nic in v["network_interfaces"]] + list(planned.get("aws_instance", {}).values())
    elsewhere = {nic["subnet_id"] for nic in used if nic.get("subnet_id")} - {wanted.existing.subnet}
    if elsewhere:
        yield f"machines in {', '.join(sorted(elsewhere))} and not in {wanted.existing.subnet}"


def _groups(rule: dict[str, Any]) -> set[str]:
    """Security groups that a rule stands in and names as its other end."""
    own, other = (set(rule.get(key, {}).get("references", ())) for key in ("security_group_id", "referenced_security_group_id"))
    return {name for name in own & other if name.endswith(".id")}


def _by_type(plan: dict[str, Any]) -> _Resources:
    """Type → address → values. An instance of ``for_each`` has its key under ``key``."""
    out: _Resources = {}
    for resource in plan["planned_values"]["root_module"].get("resources", []):
        if resource["mode"] == "managed":
            out.setdefault(resource["type"], {})[resource["address"]] = {**resource.get("values", {}), "key": resource.get("index")}
    return out


def _hosts(design: Any, site: str) -> set[str]:
    return {host for pool in design.pools.values() if pool.site == site for host in pool.hosts}


def _machines(planned: _Resources, design: Any, site: str) -> Iterator[str]:
    names = Counter((values.get("tags") or {}).get("Name") for values in planned.get("aws_instance", {}).values())
    yield from _compare("machines", names, Counter(_hosts(design, site)))
    for address, values in planned.get("aws_instance", {}).items():
        if not all(disk.get("encrypted") for disk in values.get("root_block_device") or [{}]):
            yield f"{address}: the system disk is not encrypted"


def _names(planned: _Resources, design: Any, site: str) -> Iterator[str]:
    records = Counter(values["name"].rstrip(".") for values in planned.get("aws_route53_record", {}).values())
    domain = design.sites[site].domain
    yield from _compare("names in the private zone", records, Counter(f"{host}.{domain}" for host in _hosts(design, site)))


def _templates(planned: _Resources, design: Any, site: str) -> Iterator[str]:
    for address, values in planned.get("aws_launch_template", {}).items():
        pool = design.pools.get(values["key"])
        if pool is None or pool.site != site:
            yield f"{address} belongs to no pool of the site"
            continue
        if values["instance_type"] != pool.system.id:
            yield f"{address}: {values['instance_type']} for {pool.system.id}"
        kinds = Counter(nic["interface_type"] for nic in values["network_interfaces"])
        yield from _compare(f"interfaces of {address}", kinds, Counter({"interface": 1, "efa-only": pool.efa} if pool.efa else {"interface": 1}))
        targets = [t["capacity_reservation_id"] for spec in values["capacity_reservation_specification"] for t in spec["capacity_reservation_target"]]
        if targets != [pool.capacity.id] * (pool.capacity.id is not None):
            yield f"{address}: reservation {targets} for {pool.capacity.id}"
        grouped = pool.capacity.id is None and pool.efa > 0 if pool.placement_group is None else pool.placement_group
        if bool(values["placement"]) != grouped:
            yield f"{address}: {'a' if values['placement'] else 'no'} placement group"
        markets = [options["market_type"] for options in values["instance_market_options"]]
        if markets != [pool.capacity.kind] * (pool.capacity.kind in ("spot", "capacity-block")):
            yield f"{address}: market {markets} for {pool.capacity.kind}"
        if any(o["http_tokens"] != "required" or o["http_put_response_hop_limit"] != 1 for o in values["metadata_options"] or [{"http_tokens": ""}]):
            yield f"{address}: the first version of the metadata service is open"


def _file_systems(planned: _Resources, design: Any, site: str) -> Iterator[str]:
    built = Counter(
        (v["key"], v["storage_capacity"], v["per_unit_storage_throughput"]) for v in planned.get("aws_fsx_lustre_file_system", {}).values()
    )
    wanted = Counter(
        (s.name, s.capacity_gib, s.throughput_mbps_per_tib) for s in design.storage.values() if s.site == site and s.kind == "fsx-lustre"
    )
    yield from _compare("file systems (name, GiB, MB/s for each TiB)", built, wanted)


def _buckets(planned: _Resources, design: Any, site: str) -> Iterator[str]:
    wanted = Counter(s.name for s in design.storage.values() if s.site == site and s.kind == "s3")
    # Beside the buckets of the blueprint there is the one that machines boot from; it is no instance of for_each.
    for kind in ("aws_s3_bucket", "aws_s3_bucket_versioning", "aws_s3_bucket_public_access_block", "aws_s3_bucket_server_side_encryption_configuration"):
        built = Counter(v["key"] for v in planned.get(kind, {}).values() if v["key"] is not None)
        yield from _compare(kind, built, wanted)


def _openings(planned: _Resources, design: Any, site: str) -> Iterator[str]:
    for address, values in planned.get("aws_vpc_security_group_ingress_rule", {}).items():
        if values.get("cidr_ipv4") == "0.0.0.0/0" or values.get("cidr_ipv6") == "::/0":
            yield f"{address} lets the whole world in"


def _compare(what: str, built: Counter[Any], wanted: Counter[Any]) -> Iterator[str]:
    if built == +wanted:
        return
    more, less = sorted(map(str, (built - wanted).elements())), sorted(map(str, (wanted - built).elements()))
    parts = [f"{word} {', '.join(names[:5])}{f' and {len(names) - 5} more' if len(names) > 5 else ''}" for word, names in (("too many:", more), ("missing:", less)) if names]
    yield f"{what}: {'; '.join(parts)}"
