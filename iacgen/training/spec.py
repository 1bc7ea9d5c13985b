"""What the training room is told about one job: plain numbers and two catalog entries, nothing of the blueprint.

Numbers are taken as they are; `iacgen.training.batch.check` says which of them do not go together.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from iacgen.training.assume import Assumptions
from iacgen.training.course import Wanted
from iacgen.training.failures import Failures

if TYPE_CHECKING:
    from iacgen.catalog import Gpu, Shape
    from iacgen.diagnostics.model import BlueprintPath
    from iacgen.training.data import Input

TITAN_MODELS = {"llama-3-8b": ("llama3", "8B"), "llama-3-70b": ("llama3", "70B"), "llama-3.1-405b": ("llama3", "405B"), "deepseek-v3": ("deepseek_v3", "671B")}
"""Catalog id → name and flavor of the same numbers in torchtitan 0.2.2 (models/llama3, models/deepseek_v3)."""

Framework = Literal["megatron", "deepspeed", "fsdp"]
Gradients = Literal["bf16", "fp32"]
Recompute = Literal["none", "selective", "full"]
Offload = Literal["none", "cpu", "nvme"]


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """One training job.

    Batches are counted in sequences, ``sequence`` in tokens. ``virtual`` is the number of model chunks on each pipeline
    stage (1 is the plain schedule). ``data`` is the data-parallel size where someone states it; it follows from the
    other sizes and is refused when it is not what follows. ``expert`` is the expert-parallel size and ``expert_tensor`` the
    tensor-parallel size of the experts; ``expert_capacity`` is what an expert takes at most, as a multiple of its even share of
    the tokens (None: no token is dropped). ``zero`` is DeepSpeed's ZeRO stage; for FSDP 3 is the full shard, 2 keeps gathered weights
    between the passes of a step (SHARD_GRAD_OP). Megatron shards its optimizer when ``distributed_optimizer`` is true.
    ``shard_group`` is the number of GPUs that share one copy of the states (FSDP's hybrid shard; None: all), ``secondary_group``
    that of ZeRO++'s second copy of the weights (None: there is none). ``offload_optimizer`` and ``offload_weights`` say where those
    lie instead of the GPU; ``host_memory_gib`` and ``host_nvme_tb`` are what a node has for it (None: unknown), ``offload_path``
    the folder on its NVMe. ``gradients`` is the type in which gradients are accumulated and reduced;
    ``gradients_sent`` is the type that DeepSpeed reduces them in where it is another.
    ``flash_attention`` means that no attention matrix is stored; ``dropout`` that dropout masks are,
    ``fused_loss`` that the loss is taken from bf16 logits without an fp32 copy of them.
    ``embedding_as_layer`` and ``loss_as_layer`` make the first and the last stage one layer shorter (Megatron's
    ``--account-for-embedding-in-pipeline-split`` and ``--account-for-loss-in-pipeline-split``); ``first_layers`` and
    ``last_layers`` give those stages a number of layers of their own (``--decoder-first-pipeline-num-layers`` and its sister).
    ``entrypoint`` is the training script and ``data_path`` its data, at the same path on every node; ``arguments`` are further
    words for the script. ``checkpoint_to`` names the storage that saves go to, ``checkpoint_target_s`` the seconds that one may take,
    ``checkpoint_promised`` whether the blueprint says them; else they are an assumption.
    ``store_read_bytes_per_s`` and ``store_write_bytes_per_s`` are what that storage promises (None: nothing). ``failures`` is what is
    said of nodes that fail, ``input`` how the data is read (None: nothing is said), ``host_cpus`` the logical processors of a node.
    ``node_bytes_per_s`` is what the adapters of a node carry in one direction by their data sheet (None: nothing connects the nodes),
    ``nvlink_gpus`` how many GPUs NVLink joins (None: those of a node; 0: none, they reach each other over PCIe), ``fp8`` that linear layers compute in fp8, ``assume`` what the
    time of a step rests on besides, ``wanted`` what is said of the whole run.
    ``framework_version`` is the release that trains it, (0, 19, 8), and () for the newest known.
    ``usable_nodes`` are those that the pool has free for a job, None where nobody knows: advice names no larger count.
    ``origin`` is the blueprint path of the job; findings point below it.
    """

    name: str
    model: Shape
    gpu: Gpu
    nodes: int
    gpus_per_node: int
    sequence: int
    global_batch: int
    micro_batch: int = 1
    tensor: int = 1
    pipeline: int = 1
    virtual: int = 1
    context: int = 1
    expert: int = 1
    expert_tensor: int = 1
    expert_capacity: float | None = None
    data: int | None = None
    sequence_parallel: bool = False
    framework: Framework = "megatron"
    zero: int = 0
    shard_group: int | None = None
    secondary_group: int | None = None
    offload_optimizer: Offload = "none"
    offload_weights: Offload = "none"
    offload_path: str = "/local"
    host_memory_gib: float | None = None
    host_nvme_tb: float | None = None
    gradients: Gradients = "bf16"
    gradients_sent: Gradients | None = None
    recompute: Recompute = "none"
    flash_attention: bool = True
    dropout: bool = False
    fused_loss: bool = False
    distributed_optimizer: bool = False
    embedding_as_layer: bool = False
    loss_as_layer: bool = False
    first_layers: int | None = None
    last_layers: int | None = None
    optimizer: Literal["adam"] = "adam"
    framework_version: tuple[int, ...] = ()
    entrypoint: str = "/opt/train/pretrain.py"
    arguments: tuple[str, ...] = ()
    data_path: str | None = None
    checkpoint_to: str | None = None
    checkpoint_target_s: float | None = None
    checkpoint_promised: bool = True
    store_read_bytes_per_s: float | None = None
    store_write_bytes_per_s: float | None = None
    failures: Failures = Failures()
    input: Input | None = None
    host_cpus: int | None = None
    usable_nodes: int | None = None
    node_bytes_per_s: float | None = None
    nvlink_gpus: int | None = None
    fp8: bool = False
    assume: Assumptions = Assumptions()
    wanted: Wanted = Wanted()
    origin: BlueprintPath = ()

    @property
    def titan(self) -> bool:
        """Whether the training script is TorchTitan's own, ``torchtitan/train.py``."""
        return PurePosixPath(self.entrypoint).parts[-2:] == ("torchtitan", "train.py")

    @property
    def on_accelerate(self) -> bool:
        """Whether Accelerate can run an FSDP job: it has no pipeline and no expert groups."""
        return self.pipeline == 1 and self.expert == 1

    @property
    def world(self) -> int:
        """GPUs of the job."""
        return self.nodes * self.gpus_per_node

    @property
    def has_nvlink(self) -> bool:
        """Whether NVLink, or what stands in its place, joins the GPUs of a node."""
        return self.nvlink_gpus is None or self.nvlink_gpus > 1

    @property
    def nvlink_domain(self) -> int:
        """GPUs that a tensor group may span: those that NVLink joins, and at least those of a node."""
        return max(self.nvlink_gpus or 0, self.gpus_per_node)

    @property
    def keeps_to_nvlink(self) -> bool:
        """Whether tensor groups divide a node, or are whole nodes that divide an NVLink domain of several."""
        if self.tensor <= self.gpus_per_node:
            return self.gpus_per_node % self.tensor == 0
        return self.tensor % self.gpus_per_node == 0 and self.nvlink_domain % self.tensor == 0

    @property
    def model_parallel(self) -> int:
        """GPUs that hold one copy of the model."""
        return self.tensor * self.pipeline * self.context

    @property
    def data_parallel(self) -> int:
        """Copies of the model, rounded down; whole once `batch.check` found nothing."""
        return self.world // self.model_parallel

    @property
    def micro_batches(self) -> int:
        """Micro batches that one copy works through in a step (gradient accumulation), rounded down."""
        return self.global_batch // (self.micro_batch * self.data_parallel)

    @property
    def local_sequence(self) -> int:
        """Tokens of one sequence on one GPU; context parallelism cuts the sequence."""
        return self.sequence // self.context

    def at(self, *parts: str) -> BlueprintPath:
        """Blueprint path of one of this job's fields."""
        return (*self.origin, *parts)
