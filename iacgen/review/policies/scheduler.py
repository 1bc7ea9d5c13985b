"""What changing the scheduler means."""

from __future__ import annotations

from ..model import Effect
from ..rule import Rule, Table, When, always, edit, grows, reordered

_PARTITIONS = ("scheduler.partitions={train: {nodes: [gpu], default: true}}",)
_TWO = ("nodes.cpu={site: lab-room, system: hgx-h100, count: 2}", "scheduler.partitions={train: {nodes: [gpu, cpu], default: true}}")
_EDITED = "Put slurm.conf on every host, then scontrol reconfigure."
_restarts = When("a key that daemons read at start alone", lambda s: str(s.change.path[-1]) in ("AuthType", "SelectType", "SwitchType", "ProctrackType", "SlurmctldPort", "SlurmdPort", "StateSaveLocation"))

TABLES: dict[str, Table] = {
    "Slurm": {
        "version": (
            Rule(grows, Effect.RESTART, "Slurm reads state and messages of the three releases before 24.11 alone (24.05, 23.11, 23.02): from 22.05 it goes in steps, by way of 23.02 or 23.11, or slurmctld fails at its start (Slurm Upgrade Guide, Compatibility window).", "Save StateSaveLocation and the database; per step slurmdbd, then slurmctld (backup first), then slurmd; jobs that run outlive it.", edit("lab", "scheduler.version='24.11'")),
            Rule(always, Effect.STOP, "An older slurmctld does not read the state of a newer one: the queue is lost (Slurm Upgrade Guide, Reverting an upgrade).", "Let the queue run empty; go back with the state saved before the upgrade, if there is one.", edit("aws-p5", "scheduler.version='22.05'")),
        ),
        "controllers": (Rule(always, Effect.STOP, "slurmctld moves to other hosts with its state: SlurmctldHost cannot change under running daemons, and a controller without StateSaveLocation starts with an empty queue, which kills the jobs that run.", "Stop slurmctld, copy StateSaveLocation and the munge key, put slurm.conf everywhere, start the new controller, then every slurmd.", edit("superpod-h100", "scheduler.controllers=login")),),
        "topology": (Rule(always, Effect.RESTART, "TopologyPlugin is loaded when daemons start; jobs that run stay where they are, those that wait are placed by the new plugin.", "Put slurm.conf and topology.conf on every host, restart slurmctld, then slurmd on all nodes.", edit("superpod-h100", "scheduler.topology=block")),),
        "partitions": (
            Rule(When("an entry or all of them come", lambda s: s.change.old is None), Effect.RECONFIGURE, "A new queue; where partitions were left out, it takes the place of the one named train, whose waiting jobs are lost unless the new one has its name.", _EDITED, edit("lab", _PARTITIONS[0])),
            Rule(always, Effect.DRAIN, "slurmctld kills the jobs of a partition that is gone when it reads the new file.", "First scontrol update PartitionName={entry} State=DRAIN, wait until squeue -p {entry} is empty, then put slurm.conf on every host and run scontrol reconfigure.", edit("lab", "", also=_PARTITIONS, old="scheduler.partitions.debug={nodes: [gpu]}")),
        ),
        "parameters": (
            Rule(_restarts, Effect.RESTART, "slurm.conf(5) has the key read at the start of the daemons alone.", "Put slurm.conf on every host, restart slurmctld, then slurmd on all nodes; jobs outlive it.", edit("lab", "scheduler.parameters.ProctrackType=[proctrack/linuxproc]")),
            Rule(always, Effect.RECONFIGURE, "The daemons read it again when told to.", _EDITED, edit("lab", "scheduler.parameters.SchedulerParameters=[bf_max_job_test=2000]")),
        ),
    },
    "Partition": {
        "nodes": (
            Rule(reordered, Effect.NOTHING, "The same nodes are in the partition.", "Nothing.", edit("lab", "scheduler.partitions.train.nodes=[cpu, gpu]", also=_TWO)),
            Rule(always, Effect.RECONFIGURE, "Jobs that run stay on nodes that leave the partition until they end; those that wait are looked at again.", _EDITED, edit("lab", "scheduler.partitions.train.nodes=[gpu]", also=_TWO)),
        ),
        "default": (Rule(always, Effect.RECONFIGURE, "Jobs that name no partition go elsewhere from now on; those in the queue stay.", _EDITED, edit("lab", "scheduler.partitions.train.default=false", also=_PARTITIONS)),),
        "max_time": (Rule(always, Effect.RECONFIGURE, "Jobs that run keep their limit; those that wait with more than the new one stay pending (PartitionTimeLimit).", _EDITED, edit("lab", "scheduler.partitions.train.max_time='1-00:00:00'", also=_PARTITIONS)),),
    },
}
