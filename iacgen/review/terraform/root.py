"""The instances of the AWS root and the arguments that the blueprint or another instance decides: ``templates/terraform/aws`` as values.

Arguments that never vary are left out. Names that Terraform knows before an apply stand as text; what a service hands out (ids,
addresses, completed names) stands as a ``Ref`` to the instance that gives it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Arguments = dict[str, Any]
Instances = dict[str, Arguments]
_MACHINES_FETCH = ("slurm/", "nccl/", "training/")  # templates/terraform/aws/files.tf, fileset


@dataclass(frozen=True)
class Ref:
    """Something that an instance gives once it exists."""

    address: str


@dataclass(frozen=True)
class Read:
    """Of a data source that names a resource: Terraform reads it at the apply when anything of that resource is to change, so its answer
    is unknown to the plan (``read_because_dependency_pending``)."""

    resource: str


def instances(tree: Mapping[str, str], site: str) -> Instances:
    """Address → arguments of each managed instance of ``terraform/<site>``; nothing where the tree has no such root."""
    text = tree.get(f"terraform/{site}/terraform.tfvars.json")
    if text is None:
        return {}
    root = _Root(json.loads(text), tree, site)
    return root.network() | root.security() | root.storage() | root.files() | root.identities() | root.machines() | root.names()


class _Root:
    """One root's variables, and the values that several of its resources share."""

    def __init__(self, variables: dict[str, Any], tree: Mapping[str, str], site: str) -> None:
        self.var, self.tree, self.folder = variables, tree, f"terraform/{site}/"
        self.name = f"{variables['cluster']}-{variables['site']}"
        self.theirs = variables.get("existing_network")
        self.vpc = self.theirs["vpc_id"] if self.theirs else Ref("aws_vpc.main[0]")
        self.subnet = self.theirs["subnet_id"] if self.theirs else Ref("aws_subnet.private[0]")
        self.group = variables.get("security_group_id") or Ref("aws_security_group.cluster[0]")
        self.key, self.bucket = Ref("aws_kms_key.main"), Ref("aws_s3_bucket.files")
        self.user_data = [tree.get(f"{self.folder}user-data.sh.tftpl"), self.bucket, variables["region"]]

    def tags(self, **own: str) -> dict[str, str]:
        """An instance's own tags and the provider's default ones."""
        purpose = re.sub(r"[^\w .:/=+@-]", " ", self.var.get("purpose") or "")[:256].strip()
        return {"Cluster": self.var["cluster"], "Site": self.var["site"], **({"Purpose": purpose} if purpose else {}), **own}

    def network(self) -> Instances:
        if self.theirs:
            return {}
        name, vpc = self.name, self.vpc
        found: Instances = {
            "aws_vpc.main[0]": {"cidr_block": self.var["vpc_cidr"], "tags": self.tags(Name=name)},
            "aws_default_security_group.unused[0]": {"vpc_id": vpc, "tags": self.tags()},
            "aws_internet_gateway.main[0]": {"vpc_id": vpc, "tags": self.tags(Name=name)},
            "aws_eip.nat[0]": {"tags": self.tags(Name=f"{name}-nat")},
            "aws_nat_gateway.main[0]": {"allocation_id": Ref("aws_eip.nat[0]"), "subnet_id": Ref("aws_subnet.public[0]"), "tags": self.tags(Name=name)},
            "aws_route.internet[0]": {"route_table_id": Ref("aws_route_table.public[0]"), "gateway_id": Ref("aws_internet_gateway.main[0]")},
            "aws_route.nat[0]": {"route_table_id": Ref("aws_route_table.private[0]"), "nat_gateway_id": Ref("aws_nat_gateway.main[0]")},
            "aws_vpc_endpoint.s3[0]": {
                "vpc_id": vpc,
                "service_name": self.var["region"],
                "route_table_ids": Ref("aws_route_table.private[0]"),
                "tags": self.tags(Name=f"{name}-s3"),
            },
        }
        for side in ("private", "public"):
            cidr = self.var[f"{side}_cidr"]
            found[f"aws_subnet.{side}[0]"] = {"vpc_id": vpc, "availability_zone": self.var["zone"], "cidr_block": cidr, "tags": self.tags(Name=f"{name}-{side}")}
            found[f"aws_route_table.{side}[0]"] = {"vpc_id": vpc, "tags": self.tags(Name=f"{name}-{side}")}
            found[f"aws_route_table_association.{side}[0]"] = {"subnet_id": Ref(f"aws_subnet.{side}[0]"), "route_table_id": Ref(f"aws_route_table.{side}[0]")}
        return found

    def security(self) -> Instances:
        head = Ref("aws_security_group.head")
        found: Instances = {
            "aws_security_group.head": {"name": f"{self.name}-head", "vpc_id": self.vpc, "tags": self.tags(Name=f"{self.name}-head")},
            "aws_kms_key.main": {"description": self.name, "policy": [Read("aws_security_group.head"), self.var["region"]], "tags": self.tags(Name=self.name)},
            "aws_kms_alias.main": {"name": self.name, "target_key_id": self.key},
        }
        for cidr in self.var.get("admin_cidrs", []):
            found[f'aws_vpc_security_group_ingress_rule.ssh["{cidr}"]'] = {"security_group_id": head, "tags": self.tags()}
        if self.var.get("security_group_id"):
            return found
        own: Arguments = {"security_group_id": self.group, "tags": self.tags()}
        among = own | {"referenced_security_group_id": self.group}
        found["aws_security_group.cluster[0]"] = {"name": f"{self.name}-cluster", "vpc_id": self.vpc, "tags": self.tags(Name=f"{self.name}-cluster")}
        found["aws_vpc_security_group_egress_rule.internet[0]"] = own
        ports = self.var.get("member_ports")
        rules = ["self[0]"] if ports is None else [f'port["{open["from"]}-{open["to"]}"]' for open in ports]
        return found | {f"aws_vpc_security_group_{way}_rule.{rule}": among for way in ("ingress", "egress") for rule in rules}

    def storage(self) -> Instances:
        found: Instances = {}
        for name, fs in self.var.get("file_systems", {}).items():
            found[f'aws_fsx_lustre_file_system.data["{name}"]'] = {
                "storage_capacity": fs["capacity_gib"],
                "per_unit_storage_throughput": fs["throughput"],
                "subnet_ids": self.subnet,
                "security_group_ids": self.group,
                "kms_key_id": self.key,
                "tags": self.tags(Name=f"{self.name}-{name}"),
            }
            if (store := fs.get("repository")) is not None:
                found[f'aws_fsx_data_repository_association.data["{name}"]'] = {
                    "file_system_id": Ref(f'aws_fsx_lustre_file_system.data["{name}"]'),
                    "data_repository_path": Ref(f'aws_s3_bucket.data["{store}"]'),
                    "tags": self.tags(),
                }
        for name, store in self.var.get("buckets", {}).items():
            found[f'aws_s3_bucket.data["{name}"]'] = {"bucket_prefix": f"{store['prefix']}-"[:37], "tags": self.tags(Name=f"{self.name}-{name}")}
            bucket: Arguments = {"bucket": Ref(f'aws_s3_bucket.data["{name}"]')}
            for kind in ("public_access_block", "versioning", "lifecycle_configuration"):
                found[f'aws_s3_bucket_{kind}.data["{name}"]'] = bucket
            found[f'aws_s3_bucket_server_side_encryption_configuration.data["{name}"]'] = bucket | {"rule": self.key}
        return found

    def files(self) -> Instances:
        bucket: Arguments = {"bucket": self.bucket, "tags": self.tags()}
        stores = {name: Ref(f'aws_s3_bucket.data["{name}"]') for name in self.var.get("buckets", {})}
        mounts = {name: [Ref(f'aws_fsx_lustre_file_system.data["{name}"]'), fs["mount"]] for name, fs in self.var.get("file_systems", {}).items()}
        site = [self.var["cluster"], self.var["domain"], self.var["region"], self.bucket, sorted(self.var["heads"]), self.var["slurm_version"], self.name]
        found: Instances = {
            "aws_s3_bucket.files": {"bucket_prefix": f"{self.name}-files-"[:37], "tags": self.tags(Name=f"{self.name}-files")},
            "aws_s3_bucket_public_access_block.files": {"bucket": self.bucket},
            "aws_s3_bucket_server_side_encryption_configuration.files": {"bucket": self.bucket, "rule": self.key},
            "aws_s3_object.site": bucket | {"content": site},
            "aws_s3_object.fstab": bucket | {"content": mounts},
            "aws_s3_object.buckets": bucket | {"content": stores},
            "aws_secretsmanager_secret.munge": {"name": self.name, "kms_key_id": self.key, "tags": self.tags()},
        }
        boot = f"{self.folder}boot/"
        for path, text in self.tree.items():
            if path.startswith(_MACHINES_FETCH):
                found[f'aws_s3_object.tree["{path}"]'] = bucket | {"source_hash": text}
            elif path.startswith(boot) and path.endswith(".sh"):
                found[f'aws_s3_object.boot["{path.removeprefix(boot)}"]'] = bucket | {"source_hash": text}
        return found

    def identities(self) -> Instances:
        read = ("aws_s3_bucket.files", "aws_s3_bucket.data", "aws_kms_key.main", "aws_secretsmanager_secret.munge")
        policy = [*map(Read, read), self.name, sorted(self.var.get("buckets", {}))]
        found: Instances = {}
        for role in ("node", "head"):
            prefix, address = f"{self.name[:32]}-{role}-", f'aws_iam_role.machine["{role}"]'
            found[address] = {"name_prefix": prefix, "description": self.name, "tags": self.tags()}
            found[f'aws_iam_role_policy.machine["{role}"]'] = {"role": Ref(address), "policy": policy}
            found[f'aws_iam_instance_profile.machine["{role}"]'] = {"name_prefix": prefix, "role": Ref(address), "tags": self.tags()}
        return found

    def machines(self) -> Instances:
        found: Instances = {}
        for pool, spec in self.var["pools"].items():
            group, template = f'aws_placement_group.pool["{pool}"]', f'aws_launch_template.pool["{pool}"]'
            chosen = spec.get("placement_group")
            grouped = (spec.get("reservation_id") is None and spec["efa_interfaces"] > 0) if chosen is None else chosen
            if grouped:
                found[group] = {"name": f"{self.name}-{pool}", "tags": self.tags()}
            found[template] = {
                "name": f"{self.name}-{pool}",
                "instance_type": spec["instance_type"],
                "user_data": self.user_data,
                "iam_instance_profile": Ref('aws_iam_instance_profile.machine["node"]'),
                "network_interfaces": [spec["network_cards"], spec["efa_interfaces"], spec.get("efa_cards") or spec["efa_interfaces"], self.subnet, self.group],
                "placement": grouped,
                "instance_market_options": spec["purchase"] if spec["purchase"] in ("spot", "capacity-block") else None,
                "capacity_reservation_specification": spec.get("reservation_id"),
                "tags": self.tags(),
            }
            role, efa = "node" if spec["runs_jobs"] else "login", str(spec["efa_interfaces"])
            for node in spec["nodes"]:
                found[f'aws_instance.node["{node}"]'] = {
                    "launch_template": Ref(template),
                    "root_block_device": self.key,
                    "tags": self.tags(Name=node, Role=role, Pool=pool, EfaInterfaces=efa),
                }
        for node, kind in self.var["heads"].items():
            found[f'aws_instance.head["{node}"]'] = {
                "instance_type": kind,
                "subnet_id": self.subnet,
                "vpc_security_group_ids": [self.group, Ref("aws_security_group.head")],
                "iam_instance_profile": Ref('aws_iam_instance_profile.machine["head"]'),
                "user_data": self.user_data,
                "root_block_device": self.key,
                "tags": self.tags(Name=node, Role="head", EfaInterfaces="0"),
            }
        return found

    def names(self) -> Instances:
        zone, domain = Ref("aws_route53_zone.cluster"), self.var["domain"]
        found: Instances = {"aws_route53_zone.cluster": {"name": domain, "comment": self.name, "vpc": self.vpc, "tags": self.tags()}, "terraform_data.ready": {}}
        machines = {node: "node" for spec in self.var["pools"].values() for node in spec["nodes"]} | dict.fromkeys(self.var["heads"], "head")
        for node, kind in machines.items():
            found[f'aws_route53_record.machine["{node}"]'] = {"zone_id": zone, "name": domain, "records": Ref(f'aws_instance.{kind}["{node}"]')}
        if not self.theirs:
            found["aws_vpc_dhcp_options.cluster[0]"] = {"domain_name": domain, "tags": self.tags(Name=self.name)}
            found["aws_vpc_dhcp_options_association.cluster[0]"] = {"vpc_id": self.vpc, "dhcp_options_id": Ref("aws_vpc_dhcp_options.cluster[0]")}
        return found
