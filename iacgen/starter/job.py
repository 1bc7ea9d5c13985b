"""Which model so many GPUs are for, where nobody names one."""

from __future__ import annotations

import math

from .. import catalog
from ..training.checkpoints import ASSUMED_MFU
from ..training.parameters import count

FAMILY = ("llama-3-8b", "llama-3-70b", "llama-3.1-405b")
"""Sizes of one family, the smallest first."""

TOKENS_EACH = 20
"""Tokens for each parameter: about what makes the best model of a given amount of computation (arXiv:2203.15556, table 3)."""

MONTH_S = 30 * 86400


def month_gpus(model: catalog.Model, gpu: catalog.Gpu) -> int:
    """GPUs that train a model on that many tokens in a month: six operations a parameter and token, at the assumed share of the peak."""
    parameters = count(model, model.max_sequence).total
    return math.ceil(6 * TOKENS_EACH * parameters**2 / (gpu.bf16_tflops * 1e12 * ASSUMED_MFU * MONTH_S))


def suggested(system: catalog.System, nodes: int) -> catalog.Model:
    """The largest of the family that such nodes train in a month; the smallest where they are too few for any."""
    assert system.gpu
    gpu, gpus = catalog.gpu(system.gpu), nodes * system.gpus
    fitting = [model for model in map(catalog.model, FAMILY) if month_gpus(model, gpu) <= gpus]
    return fitting[-1] if fitting else catalog.model(FAMILY[0])
