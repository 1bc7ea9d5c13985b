"""A local AWS: moto's server on 127.0.0.1, with what moto 5.2.1 lacks for a GPU cluster built in.

usage: moto_plus.py PORT        ready when GET /moto-api/ answers 200

Added: the client token of EC2, placement groups, the life cycle of an FSx for Lustre file system, data repository associations, instance monitoring.
Mended, because each showed as a difference in every later plan: descriptions of security group rules, a launch template's own
tags, security groups of instances, the VPC of a private zone, tags of DHCP options. Everything added keeps its
state in moto's own backends, so account, region and /moto-api/reset hold for it as well.
"""

from __future__ import annotations

import json
import sys
import threading
import time
import uuid
from functools import wraps

import moto
from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.instances import InstanceBackend
from moto.ec2.models.launch_templates import LaunchTemplateBackend
from moto.ec2.models.security_groups import SecurityGroupRule
from moto.ec2.responses import EC2Response
from moto.fsx.models import FileSystem, FSxBackend
from moto.fsx.responses import FSxResponse
from moto.route53.responses import Route53


def extend(cls):
    """Put the decorated function into ``cls`` under its name; it gets what was there before as ``original``."""

    def put(function):
        original = getattr(cls, function.__name__, None)

        @wraps(function)
        def method(self, *args, **kwargs):
            return function(self, original, *args, **kwargs)

        setattr(cls, function.__name__, method)
        return method

    return put


def kept(backend, name):
    """A dict that lives and dies with a moto backend."""
    return backend.__dict__.setdefault(name, {})


# --- EC2: a request that comes twice ------------------------------------------------------------------------------------

_one_at_a_time = threading.RLock()


@extend(EC2Response)
def call_action(self, original):
    """A request whose answer was lost is sent again with the same token; the service then answers as it did the first time."""
    token = self._get_param("ClientToken")
    if not token:
        return original(self)
    with _one_at_a_time:
        answers = kept(self.ec2_backend, "answers_by_token")
        key = (self._get_action(), token)
        if key in answers:
            return answers[key]
        status, headers, body = original(self)
        if status < 300:
            answers[key] = status, dict(headers), body
        return status, headers, body


# --- EC2: placement groups -------------------------------------------------------------------------------------------


@extend(EC2Response)
def create_placement_group(self, _):
    groups, name = kept(self.ec2_backend, "placement_groups"), self._get_param("GroupName")
    if name in groups:
        raise EC2ClientError("InvalidPlacementGroup.Duplicate", f"The placement group '{name}' already exists.")
    tags = self._parse_tag_specification().get("placement-group", {})
    groups[name] = {
        "GroupName": name,
        "GroupId": f"pg-{uuid.uuid4().hex[:17]}",
        "GroupArn": f"arn:aws:ec2:{self.region}:{self.current_account}:placement-group/{name}",
        "Strategy": self._get_param("Strategy", "cluster"),
        "State": "available",
        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
    }
    return ActionResult({"PlacementGroup": groups[name]})


def _known_groups(self, names):
    groups = kept(self.ec2_backend, "placement_groups")
    unknown = [name for name in names if name not in groups]
    if unknown:
        raise EC2ClientError("InvalidPlacementGroup.Unknown", f"The Placement Group '{unknown[0]}' is unknown.")
    return groups


@extend(EC2Response)
def describe_placement_groups(self, _):
    names = self._get_param("GroupNames", []) or []
    groups = _known_groups(self, names)
    return ActionResult({"PlacementGroups": [groups[name] for name in names or groups]})


@extend(EC2Response)
def delete_placement_group(self, _):
    name = self._get_param("GroupName")
    del _known_groups(self, [name])[name]
    return ActionResult({})


# --- EC2: monitoring -------------------------------------------------------------------------------------------------


def _monitor(self, state):
    ids = self._get_param("InstanceIds", [])
    for instance in self.ec2_backend.get_multi_instances_by_id(ids):
        instance.monitoring_state = state
    return ActionResult({"InstanceMonitorings": [{"InstanceId": i, "Monitoring": {"State": state}} for i in ids]})


@extend(EC2Response)
def monitor_instances(self, _):
    return _monitor(self, "enabled")


@extend(EC2Response)
def unmonitor_instances(self, _):
    return _monitor(self, "disabled")


# --- EC2: what moto forgets ------------------------------------------------------------------------------------------

# The description of a rule that names a group or a prefix list lies where moto does not look.
SecurityGroupRule.description = property(
    lambda rule: next((d["Description"] for d in (rule.ip_range, rule.source_group) if d and d.get("Description")), None)
)


@extend(LaunchTemplateBackend)
def create_launch_template(self, original, name, description, data, tag_spec):
    """The template's own tags are no part of what it gives its instances."""
    if "TagSpecifications" in data:
        data["TagSpecifications"] = [t for t in data["TagSpecifications"] if t.get("ResourceType") != "launch-template"]
        if not data["TagSpecifications"]:
            del data["TagSpecifications"]
    return original(self, name, description, data, tag_spec)


@extend(InstanceBackend)
def run_instances(self, original, *args, **kwargs):
    """Security groups that came in a network interface are the instance's too."""
    reservation = original(self, *args, **kwargs)
    for instance in reservation.instances:
        if not instance.security_groups and 0 in instance.nics:
            instance.security_groups = list(instance.nics[0].group_set)
    return reservation


@extend(EC2Response)
def create_dhcp_options(self, original):
    result = original(self)
    result.result["DhcpOptions"].add_tags(self._parse_tag_specification().get("dhcp-options", {}))
    return result


# --- Route 53: the VPC of a private zone -----------------------------------------------------------------------------


@extend(Route53)
def create_hosted_zone(self, original):
    """A zone with a VPC is a private one; moto waits for a flag that clients need not send."""
    result = original(self)
    zone = result.result["HostedZone"]
    vpc, region = self._get_param("VPC.VPCId"), self._get_param("VPC.VPCRegion")
    if vpc and not zone.private_zone:
        zone.private_zone = True
        zone.add_vpc(vpc, region)
        result.result["VPC"] = {"VPCId": vpc, "VPCRegion": region}
    return result


# --- FSx for Lustre --------------------------------------------------------------------------------------------------


@extend(FSxBackend)
def create_file_system(self, original, **words):
    file_system = original(self, **words)
    file_system.file_system_type_version = words.get("file_system_type_version")
    return file_system


@extend(FileSystem)
def to_dict(self, original):
    """Available at once, with the values that the service fills in."""
    facts = original(self)
    filled = {
        "MountName": self.file_system_id[-8:],
        "WeeklyMaintenanceStartTime": "7:03:00",
        "DataCompressionType": "NONE",
        "AutomaticBackupRetentionDays": 0,
        "CopyTagsToBackups": False,
    }
    lustre = filled | dict(facts.get("LustreConfiguration") or {})
    if "MetadataConfiguration" in lustre:
        gib = facts["StorageCapacity"]
        iops = 1500 if gib <= 1200 else 3000 if gib <= 2400 else 6000 if gib <= 9600 else 12000 * -(-gib // 24000)
        lustre["MetadataConfiguration"] = {"Iops": iops} | lustre["MetadataConfiguration"]
    facts |= {
        "Lifecycle": "AVAILABLE",
        "OwnerId": self.backend.account_id,
        "CreationTime": 1.7e9,
        "NetworkInterfaceIds": [f"eni-{self.file_system_id[-8:]}"],
        "LustreConfiguration": lustre,
    }
    version = getattr(self, "file_system_type_version", None)
    if version:
        facts["FileSystemTypeVersion"] = version
    return facts


def _missing(kind):
    return 400, {"x-amzn-errortype": kind}, json.dumps({"__type": kind, "message": "does not exist"})


@extend(FSxResponse)
def describe_file_systems(self, _):
    known = self.fsx_backend.file_systems
    ids = json.loads(self.body).get("FileSystemIds") or list(known)
    if any(i not in known for i in ids):
        return _missing("FileSystemNotFound")
    return json.dumps({"FileSystems": [known[i].to_dict() for i in ids]})


@extend(FSxResponse)
def create_data_repository_association(self, _):
    wanted = json.loads(self.body)
    i = f"dra-{uuid.uuid4().hex[:17]}"
    file_system = wanted["FileSystemId"]
    made = {
        "AssociationId": i,
        "ResourceARN": f"arn:aws:fsx:{self.region}:{self.current_account}:association/{file_system}/{i}",
        "Lifecycle": "AVAILABLE",
        "CreationTime": time.time(),
        "BatchImportMetaDataOnCreate": False,
        "ImportedFileChunkSize": 1024,
        "S3": {},
        "Tags": [],
    }
    made |= {key: wanted[key] for key in wanted if key != "ClientRequestToken"}
    kept(self.fsx_backend, "associations")[i] = made
    return json.dumps({"Association": made})


@extend(FSxResponse)
def describe_data_repository_associations(self, _):
    known = kept(self.fsx_backend, "associations")
    ids = json.loads(self.body).get("AssociationIds") or list(known)
    if any(i not in known for i in ids):
        return _missing("DataRepositoryAssociationNotFound")
    return json.dumps({"Associations": [known[i] for i in ids]})


@extend(FSxResponse)
def delete_data_repository_association(self, _):
    i = json.loads(self.body)["AssociationId"]
    del kept(self.fsx_backend, "associations")[i]
    return json.dumps({"AssociationId": i, "Lifecycle": "DELETING"})


@extend(FSxResponse)
def list_tags_for_resource(self, original):
    arn = json.loads(self.body).get("ResourceARN", "")
    if ":association/" in arn:
        return json.dumps({"Tags": kept(self.fsx_backend, "associations")[arn.rsplit("/", 1)[1]]["Tags"]})
    return original(self)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if moto.__version__ != "5.2.1":
        sys.exit(f"moto {moto.__version__}: what is mended here is 5.2.1; see which of it is still needed")
    from moto.server import main

    main(["-H", "127.0.0.1", "-p", sys.argv[1]])
