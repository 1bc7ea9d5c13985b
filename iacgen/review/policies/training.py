"""What changing a job means: nothing for the cluster, and much for its checkpoints."""

from __future__ import annotations

from ..model import Effect
from ..rule import Rule, Table, When, always, comes, edit

_GO_ON = "Stop the job after its next checkpoint (scancel --signal=TERM), put training/{name} on the nodes, and submit it again."
_FROM_NEW = "Keep the old files as long as you want to go on with the old run; start the new one from its first step, in a folder of its own."
_CONVERT = "Stop the job after its next checkpoint, put the new files on the nodes and submit it again; a checkpoint in the old format (mp_rank_* folders) goes through Megatron's tools/checkpoint/convert.py first."
_UNIVERSAL = "Convert before the start: python -m deepspeed.checkpoint.ds_to_universal, and load with load_universal_checkpoint (DeepSpeed, Universal Checkpointing)."
_megatron = When("Megatron", lambda s: s.new.training[str(s.change.path[1])].framework == "megatron")
_JOB, _BIG = "training.pretrain", "superpod-h100"
_MEGATRON = ("training.pretrain.framework=megatron", "training.pretrain.zero=null")
_OFFLOADED = ("training.pretrain.offload={optimizer: nvme}",)
_SAVED = ("storage.checkpoints={kind: lustre, site: hall-a, servers: oss, metadata: mds, fabric: storage, capacity: 1PB, read: 20GB/s, write: 10GB/s, mount: /work}",)


def _restart(key: str, value: str, reason: str, action: str = _GO_ON, base: str = "lab", also: tuple[str, ...] = (), when: When = always) -> Rule:
    return Rule(when, Effect.NOTHING, reason, action, edit(base, f"{_JOB}.{key}={value}", also=also))


def _layout(key: str, megatron: str, other: str, reason: str) -> tuple[Rule, ...]:
    """A key of ``parallel``: a checkpoint's shards follow it."""
    return (
        _restart(f"parallel.{key}", megatron, f"{reason}. The job saves with --ckpt-format=torch_dist, which is read under another layout, the optimizer with it; what an older run saved with one file a rank is not.", _CONVERT, _BIG, when=_megatron),
        _restart(f"parallel.{key}", other, f"{reason}. DeepSpeed's optimizer states are sharded by rank and fit no other layout; those of FSDP do when saved with torch.distributed.checkpoint.", _UNIVERSAL),
    )


def _schedule(key: str, value: str, reason: str) -> tuple[Rule, ...]:
    return (_restart(f"parallel.{key}", value, reason, base=_BIG),)


_RECKONED = "Only what is reckoned changes: report.md, spares and warnings; the job is as before."


def _reckoned(key: str, value: str) -> tuple[Rule, ...]:
    return (Rule(always, Effect.NOTHING, _RECKONED, "Nothing.", edit("lab", f"{_JOB}.{key}={value}")),)


TABLES: dict[str, Table] = {
    "Training": {
        "description": (_restart("description", "The run of the paper", "A line for people; no program reads it.", "Nothing."),),
        "model": (_restart("model", "llama-3-70b", "Another model has other tensors: checkpoints of {old} cannot be loaded.", _FROM_NEW),),
        "nodes": (_restart("nodes", "cpu", "The job runs elsewhere from its next start; its checkpoints are found there only if the new pool mounts their store.", also=("nodes.cpu={site: lab-room, system: hgx-h100, count: 2}",)),),
        "count": (
            _restart("count", "108", "The data-parallel size changes, and with it which rank holds which shard of the optimizer: what is saved with --ckpt-format=torch_dist loads all the same.", base=_BIG, when=_megatron),
            _restart("count", "1", "The data-parallel size changes, and with it which rank holds which shard of the optimizer: checkpoints of torch.distributed.checkpoint load all the same, DeepSpeed's need conversion.", _UNIVERSAL),
        ),
        "sequence": (_restart("sequence", "4096", "Weights fit; position embeddings that are learned do not, and the data set is cut into samples anew, so that the loader's place in it is lost."),),
        "global_batch": (_restart("global_batch", "256", "The checkpoint loads; steps count other numbers of samples, so that learning rate and the loader's place need a look."),),
        "micro_batch": (_restart("micro_batch", "2", "Gradients are accumulated in other pieces: memory and speed change, checkpoints do not."),),
        "parallel": (
            _restart("parallel", "auto", "What auto chooses replaces the layout; a checkpoint of the old one may not load under it.", "Read the chosen layout (iacgen resolve); where it differs, convert the checkpoint as for the keys of parallel.", also=()),
        ),
        "framework": (_restart("framework", "fsdp", "Megatron, DeepSpeed and FSDP write checkpoints of their own kinds: the optimizer's states of {old} are not read by {new}.", "Export the weights (to Hugging Face's format) and start from them with a fresh optimizer; else finish the run with {old}."),),
        "zero": (_restart("zero", "2", "Each stage shards other things, and DeepSpeed's checkpoints follow the stage.", _UNIVERSAL),),
        "shard_group": (_restart("shard_group", "8", "States are sharded over other groups; checkpoints of torch.distributed.checkpoint load all the same.", also=("training.pretrain.framework=fsdp",)),),
        "secondary_group": (_restart("secondary_group", "8", "A second copy of the weights for the backward pass, which no checkpoint holds: memory and traffic change."),),
        "precision": (_restart("precision", "fp8", "Master weights and optimizer stay as they are, so that the checkpoint loads; scaling factors begin anew and the loss may differ for some steps.", base=_BIG),),
        "gradients": (_restart("gradients", "fp32", "Gradients are in no checkpoint; memory for them doubles or halves."),),
        "recompute": (_restart("recompute", "none", "Activations are in no checkpoint; memory and speed change. Without recomputation the job may no longer fit."),),
        "checkpoint": (
            Rule(comes, Effect.NOTHING, "From its next start the job saves its state.", _GO_ON, edit("aws-p5", "training.pretrain.checkpoint={to: fsx}", old="training.pretrain.checkpoint=null")),
            Rule(always, Effect.NOTHING, "From its next start the job saves nothing: a failure loses all since then. What is saved stays.", "Keep it, unless the run is a test.", edit("aws-p5", "training.pretrain.checkpoint=null")),
        ),
        "script": (_restart("script", "/opt/train/other.py", "Another program runs from the next start; whether it reads the checkpoints is its own affair."),),
        "arguments": (_restart("arguments", "[--lr, '3e-4']", "The script gets them at its next start; some frameworks take such values out of the checkpoint instead."),),
        "data": (_restart("data", "/scratch/other", "Another data set: the loader's place in the old one, saved in the checkpoint, means nothing in it.", "Start with the loader's state reset, so that no sample is left out or seen twice unknown.", _BIG),),
        "input": (_restart("input", "{size: 12TB}", "How data is loaded is read at the start; checkpoints do not hold it."),),
        "tokens": _reckoned("tokens", "1000000000000"),
    },
    "Parallel": {
        "tensor": _layout("tensor", "4", "2", "Every matrix is cut into another number of pieces"),
        "pipeline": _layout("pipeline", "7", "2", "Layers lie on other stages"),
        "virtual": _schedule("virtual", "1", "Layers are dealt to the stages in other chunks: checkpoints of --ckpt-format=torch_dist load all the same, older ones name layers by chunk."),
        "context": _schedule("context", "1", "Sequences are cut in other parts; weights are not, but the data-parallel size and so the optimizer's shards follow: distributed checkpoints load."),
        "expert": _layout("expert", "2", "2", "Experts lie on other ranks"),
        "expert_tensor": _layout("expert_tensor", "2", "2", "Every expert is cut into another number of pieces"),
        "expert_capacity": _schedule("expert_capacity", "1.25", "Tokens beyond it are dropped from the next start: the loss may differ, checkpoints do not."),
        "sequence": _schedule("sequence", "false", "Norms and dropout work on whole sequences or on parts of them: memory changes, checkpoints do not."),
        "first_layers": _schedule("first_layers", "13", "Layers lie on other stages: distributed checkpoints load, others need conversion."),
        "last_layers": _schedule("last_layers", "13", "Layers lie on other stages: distributed checkpoints load, others need conversion."),
        "embedding_as_layer": _schedule("embedding_as_layer", "true", "Layers lie on other stages: distributed checkpoints load, others need conversion."),
        "loss_as_layer": _schedule("loss_as_layer", "true", "Layers lie on other stages: distributed checkpoints load, others need conversion."),
    },
    "Checkpoint": {
        "to": (_restart("checkpoint.to", "checkpoints", "The next start looks for checkpoints in {new} and finds none: it begins at step 0, without a word.", "Copy the last checkpoint from {old} to {new} before the next start.", _BIG, _SAVED),),
        "target": (_restart("checkpoint.target", "90s", "A promise that the store is held against; how often is saved may follow.", "Nothing for the job that runs.", _BIG),),
    },
    "Offload": {
        "optimizer": (_restart("offload.optimizer", "cpu", "Where the states lie while it runs; the checkpoint holds the same ones. Host memory or NVMe must have the room."),),
        "weights": (_restart("offload.weights", "cpu", "Where the weights lie while it runs; the checkpoint holds the same ones. Host memory or NVMe must have the room."),),
        "path": (_restart("offload.path", "/raid", "Swapped states are written there from the next start; what lies at {old} is of no use then.", "Make the folder on every node before the start; remove the old files.", also=_OFFLOADED),),
    },
    "Failures": {
        "per_1000_node_days": _reckoned("failures.per_1000_node_days", "6.5"),
        "restart": _reckoned("failures.restart", "5min"),
        "repair": _reckoned("failures.repair", "4h"),
        "availability": _reckoned("failures.availability", "0.99"),
    },
    "Assume": {
        key: _reckoned(f"assume.{key}", value)
        for key, value in {
            **dict.fromkeys(("matmul", "attention", "unfused", "hbm", "misaligned", "nvlink", "network"), "0.7"),
            **dict.fromkeys(("overlap_tensor", "overlap_context", "overlap_pipeline", "overlap_expert", "overlap_data", "overlap_shards"), "0.7"),
            **dict.fromkeys(("pcie_gbytes_per_s", "host_gbytes_per_s", "nvme_gbytes_per_s"), "50.0"),
            "node_power": "8kW",
            "pue": "1.2",
            "gpu_hour": "2.5",
            "currency": "EUR",
        }.items()
    },
}
