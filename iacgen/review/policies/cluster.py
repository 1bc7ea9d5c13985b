"""What changing the whole file's own keys means: names, and entries of maps that come and go."""

from __future__ import annotations

from ..model import Effect
from ..rule import Example, Rule, Table, always, any_cloud_store, comes, controls, edit, goes, holds_data, kind_is, on_aws, other_kind, renamed, shares_servers

_SITE = "sites.spare={kind: on-prem}"
_POOL = "nodes.pre={site: lab-room, system: generic-1u, count: 2}"
_CLOUD_POOL = "nodes.pre={site: ohio, system: m7i.4xlarge, count: 2}"
_FABRIC = "fabrics.oob={site: lab-room, purpose: out-of-band, connects: [gpu, ctl], technology: ethernet, switch: sn2201}"
_RENAMED_FABRIC = "fabrics.oob2={site: lab-room, purpose: out-of-band, connects: [gpu, ctl], technology: ethernet, switch: sn2201}"
_BUCKET = "storage.corpus={kind: s3, site: ohio}"
_FSX = "storage.extra={kind: fsx-lustre, site: ohio, capacity: 1200GiB, mount: /extra}"
_LUSTRE = "storage.work={kind: lustre, site: hall-a, servers: oss, metadata: mds, fabric: storage, capacity: 1PB, read: 20GB/s, write: 10GB/s, mount: /work}"
_SERVERS = ("nodes.ossb={site: hall-a, system: lustre-oss, count: 8}", "nodes.mdsb={site: hall-a, system: lustre-mds, count: 2}")
_ALONE = _LUSTRE.replace("oss,", "ossb,").replace("mds,", "mdsb,")
_MODEL = "models.our-1b={layers: 16, hidden: 2048, heads: 16, ffn_hidden: 8192, vocabulary: 50304}"
_JOB = "training.tune={model: llama-3-8b, nodes: gpu, sequence: 8192, global_batch: 128, framework: fsdp}"
_NCCL = "nccl={set: {NCCL_IB_TIMEOUT: '22'}}"

_RENAMING = "A name is an identity: the entry of the old name goes and another one comes, though both say the same."

SITES = (
    Rule(other_kind, Effect.IMPOSSIBLE, "A hall does not become a region of a cloud, nor the other way round.", "Add a site under a new name, move pools and data to it, then remove {name}.", edit("lab", "sites.spare={kind: aws, region: us-east-2, zone: us-east-2a}", old=_SITE)),
    Rule(comes, Effect.RECONFIGURE, "A new site touches nothing that stands.", "Build its racks, or run terraform apply in its own root under terraform/{name}.", edit("lab", _SITE)),
    Rule(renamed, Effect.DESTROY, _RENAMING + " A site's machines, and in a cloud its file systems, are bound to it; each root of Terraform has a state of its own.", "Keep the name {name}. To rename a cloud site all the same, move its folder together with its state and read the plan.", edit("lab", "sites.spare2={kind: on-prem}", also=(), old=_SITE)),
    Rule(goes & kind_is("aws", "it was one of AWS"), Effect.DESTROY, "With the site its folder of Terraform goes, and nothing of the account is described any more; terraform destroy is refused by prevent_destroy at file systems, buckets and the key.", "Save the data elsewhere, take prevent_destroy out of storage.tf and security.tf in a commit of its own, run terraform destroy, and only then remove the site.", edit("lab", "", old="sites.cloud={kind: aws, region: us-east-2, zone: us-east-2a}")),
    Rule(always, Effect.STOP, "All that stands in the hall leaves the cluster.", "Drain the nodes of the hall and move their file systems before the entry goes.", edit("lab", "", old=_SITE)),
)

NODES = (
    Rule(comes, Effect.RECONFIGURE, "New machines join; those that run are left alone, and what a fabric lays anew is said at the fabric.", "Run ansible-playbook site.yml (new hosts first: --limit), or terraform apply, then put Slurm's files on every machine.", edit("lab", _POOL)),
    Rule(renamed & on_aws, Effect.REPLACE, _RENAMING + " aws_instance is keyed by host name, so that every machine of the pool is destroyed and another one bought; Slurm forgets the old hosts.", "Keep the name {name}; or drain its hosts first: scontrol update NodeName=<hosts> State=DRAIN Reason=rename.", edit("aws-p5", "nodes.prep={site: ohio, system: m7i.4xlarge, count: 2}", old=_CLOUD_POOL)),
    Rule(renamed, Effect.STOP, _RENAMING + " Every host of the pool gets another name in DNS, Slurm and Lustre.", "Keep the name {name}; or drain the hosts, rename them all at once, and restart slurmctld and slurmd.", edit("lab", "nodes.prep={site: lab-room, system: generic-1u, count: 2}", old=_POOL)),
    Rule(holds_data, Effect.DESTROY, "The pool's disks are the targets of a Lustre: with the servers their data goes, and files that have objects there are lost.", "Copy the file system away and remove its entry first; or empty the targets: lctl set_param osp.<target>.max_create_count=0 on the metadata servers, then lfs_migrate.", Example("superpod-h100", ("storage.scratch.servers=ossb", _SERVERS[0]), ())),
    Rule(controls, Effect.STOP, "The hosts of slurmctld go, with the state of the queue that they hold.", "Move the controllers first, with StateSaveLocation, as the policy of scheduler.controllers says.", Example("lab", (_POOL, "scheduler.controllers=pre"), ())),
    Rule(on_aws, Effect.REPLACE, "terraform apply ends the pool's machines with all that lies on their own disks.", "Drain them before: scontrol update NodeName=<hosts of {name}> State=DRAIN Reason=removed; wait until squeue is empty, then apply.", edit("aws-p5", "", old=_CLOUD_POOL)),
    Rule(always, Effect.DRAIN, "The hosts leave Slurm, the inventory and the fabrics; jobs on them are lost.", "Drain them before: scontrol update NodeName=<hosts of {name}> State=DRAIN Reason=removed; then roll the files out.", edit("lab", "", old=_POOL)),
)

FABRICS = (
    Rule(comes, Effect.RECABLE, "A new network is switches to rack and cables to pull to every host it connects.", "Cable by fabric/{name}/p2p.csv, configure its switches, then bring up the hosts' ports.", edit("lab", _FABRIC)),
    Rule(renamed, Effect.RECONFIGURE, _RENAMING + " Switches are named after their fabric; where nothing else differs the cables stay, and labels and switch names change.", "Keep the name {name}; or rename the switches and print their labels anew.", edit("lab", _RENAMED_FABRIC, old=_FABRIC)),
    Rule(always, Effect.RECABLE, "The network goes with its switches and cables, and with it what crossed it.", "Move its traffic first; then take out the cables that fabric/{name}/p2p.csv of the old tree lists.", edit("lab", "", old=_FABRIC)),
)

STORAGE = (
    Rule(comes & on_aws, Effect.RECONFIGURE, "A new file system or bucket is made beside what is there; machines that run read their fstab at their first boot only.", "Run terraform apply; mount a new file system on running machines by hand, or replace them.", edit("aws-p5", _BUCKET)),
    Rule(comes & shares_servers, Effect.DESTROY, "Its servers hold another file system. The role formats blank devices alone and refuses these; who wipes them to get on has lost the data that lies there.", "Name servers of its own; two file systems share servers only where each has devices of its own.", edit("superpod-h100", _LUSTRE)),
    Rule(comes, Effect.RECONFIGURE, "Blank disks of new servers are formatted and clients mount it; what is there is left alone.", "Run ansible-playbook site.yml once with lustre_server_format_allowed as the tree's README.md has it, and --limit its servers, then without on the clients.", edit("superpod-h100", _ALONE, also=_SERVERS)),
    Rule(other_kind, Effect.DESTROY, "Another kind of store is another store: nothing of {old} is taken over, and on AWS prevent_destroy refuses to remove it.", "Add the new store under a new name, copy the data, point the jobs there, then remove {name}.", edit("aws-p5", "storage.extra={kind: s3, site: ohio}", also=(), old="storage.extra={kind: fsx-lustre, site: ohio, capacity: 1200GiB, mount: /extra}")),
    Rule(renamed & on_aws, Effect.DESTROY, _RENAMING + " The file system is keyed by its name in Terraform: an empty one would be made and the old one destroyed, which prevent_destroy refuses, so that no plan is made at all.", "Keep the name {name}; or first move it in the state with terraform state mv and read the plan.", edit("aws-p5", "storage.more={kind: fsx-lustre, site: ohio, capacity: 1200GiB, mount: /extra}", old=_FSX)),
    Rule(renamed, Effect.DESTROY, _RENAMING + " Lustre's own name follows that of the section, and targets carry it on their disks.", "Keep the name, or say fsname: {name} under the new one, so that Lustre's name stays.", edit("superpod-h100", "storage.labour={kind: lustre, site: hall-a, servers: oss, metadata: mds, fabric: storage, capacity: 1PB, read: 20GB/s, write: 10GB/s, mount: /work}", old=_LUSTRE)),
    Rule(on_aws, Effect.DESTROY, "Terraform would destroy the store with its data; prevent_destroy in storage.tf refuses, and the whole plan fails with it.", "Copy the data away; then take the guard out in a commit that someone reads, apply, and put it back.", edit("aws-p5", "", old=_FSX)),
    Rule(always, Effect.DESTROY, "Servers and clients forget the file system, and its disks are free to be formatted by what comes next.", "Copy the data away and unmount it on every client (umount {name}'s mount) before the entry goes.", edit("superpod-h100", "", old=_LUSTRE)),
)

TABLES: dict[str, Table] = {
    "Blueprint": {
        "name": (
            Rule(any_cloud_store, Effect.DESTROY, "Names in the account begin with the cluster's: a security group of another name is another group, which forces another file system, and a bucket of another prefix another bucket; prevent_destroy refuses to remove the old ones, and the whole plan fails with it. Slurm refuses state of another cluster name.", "Keep the name {old}; for a second cluster write a second blueprint, with a state of Terraform of its own.", edit("aws-p5", "name=other")),
            Rule(always, Effect.STOP, "The name is Slurm's ClusterName, in the hosts' domain and the output folder: slurmctld refuses a StateSaveLocation of another cluster (ClusterName mismatch in its clustername file), and jobs in the queue are lost.", "Keep the name {old}; or drain the queue, stop the daemons, remove the file clustername from StateSaveLocation, roll the tree out and start again.", edit("lab", "name=other")),
        ),
        "description": (Rule(always, Effect.NOTHING, "A line for people; on AWS it is a tag, which changes in place.", "Nothing; on AWS the next terraform apply writes the tag.", edit("lab", "description=Our cluster")),),
        "sites": SITES,
        "nodes": NODES,
        "fabrics": FABRICS,
        "storage": STORAGE,
        "scheduler": (
            Rule(comes, Effect.RESTART, "Slurm is installed and its daemons start; nothing else is touched.", "Run ansible-playbook site.yml; it starts controllers and nodes.", edit("lab", "scheduler={kind: slurm, version: '24.11', controllers: ctl}", old="scheduler=null")),
            Rule(always, Effect.STOP, "Without a scheduler no job is started and the queue is lost.", "Let the queue run empty: scontrol update PartitionName=<each> State=DRAIN; then stop slurmctld and slurmd.", edit("lab", "scheduler=null")),
        ),
        "models": (
            Rule(comes, Effect.NOTHING, "A model that no job names changes nothing.", "Nothing.", edit("lab", _MODEL)),
            Rule(always, Effect.NOTHING, "What runs goes on; a job that names the model is not generated any more.", "Keep the checkpoints' model file if you mean to load them again.", edit("lab", "", old=_MODEL)),
        ),
        "training": (
            Rule(comes, Effect.NOTHING, "The files of a new job are added under training/{name}.", "Put them on the nodes and submit: sbatch slurm/{name}.sbatch.", edit("lab", _JOB)),
            Rule(renamed, Effect.NOTHING, "The job's folder gets another name, and with it the folder of its checkpoints: a job under the new name starts from none.", "Move the checkpoints of {name} before the first start, or keep the name.", edit("lab", "training.tune2={model: llama-3-8b, nodes: gpu, sequence: 8192, global_batch: 128, framework: fsdp}", old=_JOB)),
            Rule(always, Effect.NOTHING, "A job that runs goes on; its files go, its checkpoints stay where they are.", "Let it end or scancel it; remove its checkpoints by hand when nobody wants them.", edit("lab", "", old=_JOB)),
        ),
        "nccl": (
            Rule(comes, Effect.NOTHING, "NCCL reads its variables when a job starts: jobs that run keep theirs.", "Put the new nccl.conf on the nodes; the next job has it.", edit("lab", _NCCL)),
            Rule(always, Effect.NOTHING, "NCCL reads its variables when a job starts: the next job has the planned values again.", "Put the new nccl.conf on the nodes.", edit("lab", "", old=_NCCL)),
        ),
    }
}
