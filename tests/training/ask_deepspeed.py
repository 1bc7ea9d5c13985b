"""Run by the Python of the judges, not by pytest: what DeepSpeed's estimators say a GPU holds, without the gathered layer; with the word
``stages``, how it deals out layers between an embedding, a norm and an output layer by ``partition_method: type``."""

from __future__ import annotations

import json
import sys

from deepspeed.runtime.utils import partition_balanced
from deepspeed.runtime.zero.stage3 import estimate_zero3_model_states_mem_needs
from deepspeed.runtime.zero.stage_1_and_2 import estimate_zero2_model_states_mem_needs



def stages(layers, count):
    weights = [0, *[1] * layers, 0, 0]
    parts = partition_balanced(weights, count)
    return [sum(weights[first:last]) for first, last in zip(parts, parts[1:])]


if sys.argv[2:] == ["stages"]:
    print(json.dumps([stages(*asked) for asked in json.loads(sys.argv[1])]))
    sys.exit()
answers = []
for total, largest, gpus, nodes in json.loads(sys.argv[1]):
    _, stage_2 = estimate_zero2_model_states_mem_needs(total, num_gpus_per_node=gpus, num_nodes=nodes, cpu_offload=False)
    _, stage_3, gathered = estimate_zero3_model_states_mem_needs(
        total, largest, num_gpus_per_node=gpus, num_nodes=nodes, cpu_offload=False, cpu_offload_params=False, zero_init=True
    )
    answers.append((stage_2, stage_3 - gathered))
print(json.dumps(answers))
