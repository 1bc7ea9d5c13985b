"""Let megatron-core build a job's configuration and process groups out of its argument file. Runs in the interpreter that has
megatron-core; stands alone.

    python megatron_probe.py JOBS

JOBS is a JSON list of objects with ``arguments`` (path), ``world`` and ``ranks`` (whose groups are wanted). Prints one line: the word
PROBE and a JSON list with, for each job, ``flags`` (name → value as text, or null), ``repeated`` (names that stand twice),
``refused`` (megatron-core's complaint, or null), ``layers`` (on each pipeline stage), ``groups`` (rank → family → ranks) and
``micro_batches`` of a step, the last four as megatron-core works them out. No GPU and no network: torch's fake process group.
"""

import json
import re
import sys
import warnings
from unittest import mock

warnings.filterwarnings("ignore")

import megatron.core.num_microbatches_calculator as calculator  # noqa: E402
import megatron.core.parallel_state as state  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from megatron.core.transformer.enums import AttnBackend  # noqa: E402
from megatron.core.transformer.transformer_block import get_num_layers_to_build  # noqa: E402
from megatron.core.transformer.transformer_config import MLATransformerConfig, TransformerConfig  # noqa: E402
from torch.testing._internal.distributed.fake_pg import FakeStore  # noqa: E402


def pattern(text):
    """Which layers have experts: ([0]*3+[1]*58) becomes its list. Megatron-LM hands the text to Python; here nothing is run."""
    parts = re.fullmatch(r"\(\[0\]\*(\d+)\+\[1\]\*(\d+)\)", text)
    if not parts:
        raise ValueError(f"moe-layer-freq is {text}")
    return [0] * int(parts[1]) + [1] * int(parts[2])


# Megatron-LM's argument → field of TransformerConfig, and what makes the value out of its text (None: the argument stands alone).
FIELDS = {
    "num-layers": ("num_layers", int),
    "hidden-size": ("hidden_size", int),
    "ffn-hidden-size": ("ffn_hidden_size", int),
    "num-attention-heads": ("num_attention_heads", int),
    "kv-channels": ("kv_channels", int),
    "num-query-groups": ("num_query_groups", int),
    "normalization": ("normalization", str),
    "norm-epsilon": ("layernorm_epsilon", float),
    "swiglu": ("gated_linear_unit", None),
    "bf16": ("bf16", None),
    "fp8-format": ("fp8", str),
    "fp8-amax-history-len": ("fp8_amax_history_len", int),
    "fp8-amax-compute-algo": ("fp8_amax_compute_algo", str),
    "attention-dropout": ("attention_dropout", float),
    "hidden-dropout": ("hidden_dropout", float),
    "attention-backend": ("attention_backend", AttnBackend.__getitem__),
    "recompute-granularity": ("recompute_granularity", str),
    "recompute-method": ("recompute_method", str),
    "recompute-num-layers": ("recompute_num_layers", int),
    "tensor-model-parallel-size": ("tensor_model_parallel_size", int),
    "pipeline-model-parallel-size": ("pipeline_model_parallel_size", int),
    "num-virtual-stages-per-pipeline-rank": ("virtual_pipeline_model_parallel_size", int),
    "context-parallel-size": ("context_parallel_size", int),
    "sequence-parallel": ("sequence_parallel", None),
    "account-for-embedding-in-pipeline-split": ("account_for_embedding_in_pipeline_split", None),
    "account-for-loss-in-pipeline-split": ("account_for_loss_in_pipeline_split", None),
    "decoder-first-pipeline-num-layers": ("num_layers_in_first_pipeline_stage", int),
    "decoder-last-pipeline-num-layers": ("num_layers_in_last_pipeline_stage", int),
    "add-qkv-bias": ("add_qkv_bias", None),
    "num-experts": ("num_moe_experts", int),
    "moe-router-topk": ("moe_router_topk", int),
    "moe-ffn-hidden-size": ("moe_ffn_hidden_size", int),
    "moe-shared-expert-intermediate-size": ("moe_shared_expert_intermediate_size", int),
    "moe-layer-freq": ("moe_layer_freq", pattern),
    "moe-router-score-function": ("moe_router_score_function", str),
    "moe-router-enable-expert-bias": ("moe_router_enable_expert_bias", None),
    "moe-router-topk-scaling-factor": ("moe_router_topk_scaling_factor", float),
    "moe-router-num-groups": ("moe_router_num_groups", int),
    "moe-router-group-topk": ("moe_router_group_topk", int),
    "qk-layernorm": ("qk_layernorm", None),
    "moe-grouped-gemm": ("moe_grouped_gemm", None),
    "moe-token-dispatcher-type": ("moe_token_dispatcher_type", str),
    "moe-expert-capacity-factor": ("moe_expert_capacity_factor", float),
    "expert-model-parallel-size": ("expert_model_parallel_size", int),
    "expert-tensor-parallel-size": ("expert_tensor_parallel_size", int),
}
# Those of latent attention, which has a configuration class of its own.
LATENT = {
    "q-lora-rank": ("q_lora_rank", int),
    "kv-lora-rank": ("kv_lora_rank", int),
    "qk-head-dim": ("qk_head_dim", int),
    "qk-pos-emb-head-dim": ("qk_pos_emb_head_dim", int),
    "v-head-dim": ("v_head_dim", int),
    "rotary-base": ("rotary_base", float),
    "rope-type": ("rope_type", str),
}


def read(path):
    """The argument file as the launch script hands it on: one argument a line, its value behind the first equals sign."""
    flags, repeated = {}, []
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            name, equals, value = line.removeprefix("--").partition("=")
            if name in flags:
                repeated.append(name)
            flags[name] = value if equals else None
    return flags, repeated


def configure(flags):
    """megatron-core's configuration of the model; its own checks run as it is made."""
    fields = {}
    for flag, (field, kind) in FIELDS.items():
        if flag in flags:
            fields[field] = True if kind is None else kind(flags[flag])
    if "disable-bias-linear" in flags:
        fields["add_bias_linear"] = False
    if fields.get("gated_linear_unit"):
        fields["activation_func"] = torch.nn.functional.silu
    if fields.get("bf16"):
        fields["params_dtype"] = fields["pipeline_dtype"] = torch.bfloat16
    if "multi-latent-attention" not in flags:
        return TransformerConfig(**fields)
    fields |= {field: kind(flags[flag]) for flag, (field, kind) in LATENT.items() if flag in flags}
    fields["apply_rope_fusion"] = "no-rope-fusion" not in flags  # Megatron-LM's default, where megatron-core's own is not to
    return MLATransformerConfig(multi_latent_attention=True, **({"q_lora_rank": None} | fields))


def layers(config):
    """Transformer layers that megatron-core would build on each pipeline stage, its chunks together."""
    chunks = range(config.virtual_pipeline_model_parallel_size or 0) or (None,)
    stages = range(config.pipeline_model_parallel_size)
    return [sum(get_num_layers_to_build(config, vp_stage=chunk, pp_rank=stage) for chunk in chunks) for stage in stages]


def micro_batches(flags, data_parallel):
    """Micro batches of a step, from megatron-core's own calculator, which refuses what does not divide."""
    calculator.unset_num_microbatches_calculator()
    calculator.init_num_microbatches_calculator(0, None, int(flags["global-batch-size"]), int(flags["micro-batch-size"]), data_parallel)
    return calculator.get_num_microbatches()


def groups(config, world, rank):
    """The groups of one rank after megatron-core's real initialisation."""
    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=world)
    try:
        with mock.patch.object(torch.cuda, "current_device", lambda: 0):
            state.initialize_model_parallel(
                tensor_model_parallel_size=config.tensor_model_parallel_size,
                pipeline_model_parallel_size=config.pipeline_model_parallel_size,
                virtual_pipeline_model_parallel_size=config.virtual_pipeline_model_parallel_size,
                context_parallel_size=config.context_parallel_size,
                expert_model_parallel_size=config.expert_model_parallel_size,
                expert_tensor_parallel_size=config.expert_tensor_parallel_size,
                create_gloo_process_groups=False,
            )
        found = {
            "tp": state.get_tensor_model_parallel_group(),
            "cp": state.get_context_parallel_group(),
            "dp": state.get_data_parallel_group(),
            "pp": state.get_pipeline_model_parallel_group(),
            "dp-cp": state.get_data_parallel_group(with_context_parallel=True),
        }
        if config.num_moe_experts:
            found |= {
                "expert-ep": state.get_expert_model_parallel_group(),
                "expert-tp": state.get_expert_tensor_parallel_group(),
                "expert-dp": state.get_expert_data_parallel_group(),
            }
        return {family: dist.get_process_group_ranks(group) for family, group in found.items()}
    finally:
        state.destroy_model_parallel()
        dist.destroy_process_group()


def answer(job):
    flags, repeated = read(job["arguments"])
    said = {"flags": flags, "repeated": repeated, "refused": None, "layers": [], "groups": {}, "micro_batches": None}
    try:
        config = configure(flags)
        said["layers"] = layers(config)
        said["groups"] = {str(rank): groups(config, job["world"], rank) for rank in job["ranks"]}
        data_parallel = {len(found["dp"]) for found in said["groups"].values()}
        said["micro_batches"] = micro_batches(flags, data_parallel.pop())
    except Exception as refusal:  # whatever megatron-core raises is its refusal
        said["refused"] = f"{type(refusal).__name__}: {refusal}"
    return said


if __name__ == "__main__":
    print("PROBE", json.dumps([answer(job) for job in json.loads(sys.argv[1])]), flush=True)
