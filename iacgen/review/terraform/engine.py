"""A plan by Terraform's rules: what differs is updated, what cannot be updated is replaced, and what a replaced instance gave is unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .root import Arguments, Instances, Read, Ref, instances

Actions = tuple[str, ...]
CREATE: Actions = ("create",)
UPDATE: Actions = ("update",)
DELETE: Actions = ("delete",)
REPLACE: Actions = ("delete", "create")

# Arguments that the provider cannot change in place: "Forces new resource" in its documentation (hashicorp/aws 5.100).
_FORCES_NEW: dict[str, frozenset[str]] = {
    kind: frozenset(arguments.split())
    for kind, arguments in {
        "aws_default_security_group": "vpc_id",
        "aws_fsx_data_repository_association": "file_system_id data_repository_path",
        "aws_fsx_lustre_file_system": "subnet_ids security_group_ids kms_key_id",
        "aws_iam_instance_profile": "name_prefix",
        "aws_iam_role": "name_prefix",
        "aws_iam_role_policy": "role",
        "aws_instance": "subnet_id launch_template root_block_device user_data",
        "aws_kms_alias": "name",
        "aws_launch_template": "name",
        "aws_nat_gateway": "allocation_id subnet_id",
        "aws_placement_group": "name",
        "aws_route": "route_table_id",
        "aws_route53_record": "zone_id name",
        "aws_route53_zone": "name",
        "aws_route_table": "vpc_id",
        "aws_route_table_association": "subnet_id",
        "aws_s3_bucket": "bucket_prefix",
        "aws_s3_bucket_lifecycle_configuration": "bucket",
        "aws_s3_bucket_public_access_block": "bucket",
        "aws_s3_bucket_server_side_encryption_configuration": "bucket",
        "aws_s3_bucket_versioning": "bucket",
        "aws_s3_object": "bucket",
        "aws_secretsmanager_secret": "name",
        "aws_security_group": "name vpc_id",
        "aws_subnet": "vpc_id availability_zone cidr_block",
        "aws_vpc": "cidr_block",
        "aws_vpc_dhcp_options": "domain_name",
        "aws_vpc_dhcp_options_association": "vpc_id dhcp_options_id",
        "aws_vpc_endpoint": "vpc_id service_name",
        "aws_vpc_security_group_egress_rule": "security_group_id",
        "aws_vpc_security_group_ingress_rule": "security_group_id",
    }.items()
}
# FSx for Lustre grows in place and never shrinks: the provider replaces it (resource documentation, storage_capacity).
_ONLY_GROWS = {("aws_fsx_lustre_file_system", "storage_capacity")}
# lifecycle.prevent_destroy of templates/terraform/aws/{storage,security}.tf.
_KEPT = ("aws_fsx_lustre_file_system.data", "aws_s3_bucket.data", "aws_kms_key.main")


@dataclass(frozen=True)
class Predicted:
    """What a plan will show. ``actions`` has the words of Terraform's own JSON, without what stays; ``refused`` are the instances that
    ``prevent_destroy`` keeps, and then there is no plan to apply. ``left_behind`` are those of a root that the new tree no longer has:
    no plan will speak of them, they stay in the account and in its state."""

    actions: Mapping[str, Actions] = field(default_factory=dict)
    refused: tuple[str, ...] = ()
    left_behind: tuple[str, ...] = ()

    @property
    def outcome(self) -> str:
        """``refused``, ``orphaned``, ``changes`` or ``nothing``."""
        return "refused" if self.refused else "orphaned" if self.left_behind else "changes" if self.actions else "nothing"


def actions(old: Mapping[str, str], new: Mapping[str, str], site: str) -> Predicted:
    """What ``terraform plan`` shows in ``terraform/<site>`` of the tree ``new`` when the tree ``old`` is applied: path → text each."""
    before, after = instances(old, site), instances(new, site)
    if before and not after:
        return Predicted(left_behind=tuple(sorted(before)))
    plan = _Plan(before, after)
    return Predicted(plan.actions, plan.refused)


@dataclass(frozen=True)
class _Plan:
    before: Instances
    after: Instances

    @cached_property
    def actions(self) -> dict[str, Actions]:
        decided: dict[str, Actions] = {}
        for address in self.after:
            self._decide(address, decided)
        decided |= dict.fromkeys(self.before.keys() - self.after.keys(), DELETE)
        return {address: decided[address] for address in sorted(decided) if decided[address]}

    @cached_property
    def refused(self) -> tuple[str, ...]:
        """Who is asked after a refusal is not asked at all: a plan that fails names the first on each way only."""
        hit = [address for address, asked in self.actions.items() if "delete" in asked and _resource(address) in _KEPT]
        resources = {_resource(address) for address in hit}
        return tuple(address for address in hit if not resources & self._above(_resource(address)))

    def _decide(self, address: str, decided: dict[str, Actions]) -> Actions:
        if address not in decided:
            decided[address] = self._asked(address, self.after[address], decided)
        return decided[address]

    def _asked(self, address: str, wanted: Arguments, decided: dict[str, Actions]) -> Actions:
        unknown = {name for name, value in wanted.items() if any(self._is_unknown(ref, decided) for ref in _refs(value))}
        if address not in self.before:
            return CREATE
        had = self.before[address]
        kind = address.partition(".")[0]
        differs = unknown | {name for name in wanted.keys() | had.keys() if wanted.get(name) != had.get(name)}
        shrunk = any((kind, name) in _ONLY_GROWS and wanted[name] < had[name] for name in differs)
        if shrunk or differs & _FORCES_NEW.get(kind, frozenset()):
            return REPLACE
        return UPDATE if differs else ()

    def _is_unknown(self, ref: Ref | Read, decided: dict[str, Actions]) -> bool:
        if isinstance(ref, Ref):
            return "create" in self._decide(ref.address, decided)
        ours = self._by_resource.get(ref.resource, ())
        return any(address not in self.after or self._decide(address, decided) for address in ours)

    @cached_property
    def _by_resource(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for address in self.before.keys() | self.after.keys():
            found.setdefault(_resource(address), []).append(address)
        return found

    @cached_property
    def _uses(self) -> dict[str, set[str]]:
        uses: dict[str, set[str]] = {}
        for address, arguments in [*self.before.items(), *self.after.items()]:
            uses.setdefault(_resource(address), set()).update(_named(ref) for value in arguments.values() for ref in _refs(value))
        return uses

    def _above(self, resource: str) -> set[str]:
        seen: set[str] = set()
        todo = [resource]
        while todo:
            fresh = self._uses.get(todo.pop(), set()) - seen
            seen |= fresh
            todo += fresh
        return seen


def _resource(address: str) -> str:
    return address.partition("[")[0]


def _named(ref: Ref | Read) -> str:
    return ref.resource if isinstance(ref, Read) else _resource(ref.address)


def _refs(value: Any) -> Iterator[Ref | Read]:
    if isinstance(value, Ref | Read):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _refs(part)
