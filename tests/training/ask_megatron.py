"""Run by the Python of the judges, not by pytest: puts a question to megatron-core and prints its answer as JSON."""

from __future__ import annotations

import json
import sys
import warnings
from unittest import mock

warnings.filterwarnings("ignore")

import megatron.core.parallel_state as ps  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch.testing._internal.distributed.fake_pg import FakeStore  # noqa: E402


def generated(cases):
    """Sorted groups of megatron-core's RankGenerator for each (order, sizes, token)."""
    return [sorted(map(sorted, ps.RankGenerator(order=order, ep=1, **sizes).get_ranks(token))) for order, sizes, token in cases]


def initialised(cases):
    """The groups of one rank after the real initialize_model_parallel, through torch's fake process group, for each case."""
    return [_groups(*case) for case in cases]


def made(cases):
    """Every group that the real initialize_model_parallel makes for (world, tp, pp, cp, ep, etp), by its own name: all ranks at once."""
    return [_made(*case) for case in cases]


def _made(world, tp, pp, cp, ep, etp):
    found, real = {}, ps.create_group

    def create(ranks=None, *args, group_desc=None, **others):
        found.setdefault(group_desc, []).append(list(ranks))
        return real(ranks, *args, group_desc=group_desc, **others)

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=world)
    try:
        with mock.patch.object(torch.cuda, "current_device", lambda: 0), mock.patch.object(ps, "create_group", create):
            ps.initialize_model_parallel(
                tensor_model_parallel_size=tp,
                pipeline_model_parallel_size=pp,
                context_parallel_size=cp,
                expert_model_parallel_size=ep,
                expert_tensor_parallel_size=etp,
                create_gloo_process_groups=False,
            )
        return found
    finally:
        ps.destroy_model_parallel()
        dist.destroy_process_group()


def _groups(rank, world, tp, pp, cp, ep):
    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=world)
    try:
        with mock.patch.object(torch.cuda, "current_device", lambda: 0):
            ps.initialize_model_parallel(
                tensor_model_parallel_size=tp, pipeline_model_parallel_size=pp, context_parallel_size=cp, expert_model_parallel_size=ep, create_gloo_process_groups=False
            )
        groups = {
            "tp": ps.get_tensor_model_parallel_group(),
            "pp": ps.get_pipeline_model_parallel_group(),
            "cp": ps.get_context_parallel_group(),
            "dp": ps.get_data_parallel_group(),
            "dp-cp": ps.get_data_parallel_group(with_context_parallel=True),
            "ep": ps.get_expert_model_parallel_group(),
        }
        return {name: dist.get_process_group_ranks(group) for name, group in groups.items()}
    finally:
        ps.destroy_model_parallel()
        dist.destroy_process_group()


def layers(cases):
    """Layers of each pipeline stage, all its chunks together, as megatron-core's get_num_layers_to_build counts them."""
    from megatron.core.transformer.transformer_block import get_num_layers_to_build
    from megatron.core.transformer.transformer_config import TransformerConfig

    out = []
    for total, case in cases:
        stages, chunks = case["pipeline"], case.get("virtual", 1)
        config = TransformerConfig(
            num_layers=total, hidden_size=64, num_attention_heads=4, pipeline_model_parallel_size=stages, pipeline_dtype=torch.bfloat16,
            virtual_pipeline_model_parallel_size=chunks if chunks > 1 else None,
            num_layers_in_first_pipeline_stage=case.get("first_layers"), num_layers_in_last_pipeline_stage=case.get("last_layers"),
            account_for_embedding_in_pipeline_split=case.get("embedding_as_layer", False), account_for_loss_in_pipeline_split=case.get("loss_as_layer", False),
        )  # fmt: skip
        parts = range(chunks) if chunks > 1 else (None,)
        out.append([sum(get_num_layers_to_build(config, vp_stage=part, pp_rank=stage) for part in parts) for stage in range(stages)])
    return out


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*json.loads(sys.argv[2]))))
