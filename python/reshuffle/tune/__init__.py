"""Tuning and reranking on k-best lists: which weights of features choose the best hypotheses.

:func:`read_nbest` reads the lists of a decoder. A weight vector chooses one entry of each list, so its outputs are a
system that can be compared with others. :func:`tune` finds weights by an optimizer in :data:`OPTIMIZERS`, once for each
seed. :func:`oracle` finds the best and the worst entries there are, and :func:`mbr` those that agree best with their
lists.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lazy import lazy_names

if TYPE_CHECKING:
    from ..options.tuning import L1, Kbmira, Mert, Pro, Xbleu
    from .choosing import Chosen, LinearModel, Model
    from .decoders import Decoder, command_decoder, simulated_decoder, write_weights
    from .driver import Tuned, tune
    from .l1 import Reranker, SelectionStep, Variant, closest, fit_l1, l1_variants
    from .lists import NBest, Sparse, read_nbest
    from .mbr import MinimumRisk, mbr
    from .mert import mert
    from .online import Learned, expected_score, kbmira, pro, xbleu
    from .options import OPTIMIZERS, Optimizer
    from .oracle import Oracle, oracle
    from .samples import read_samples
    from .templates import template_features
    from .variants import TrainedVariants, train_variants
    from .weights import Weights, read_weights, weights_by_name

__all__ = [
    "L1",
    "OPTIMIZERS",
    "Chosen",
    "Decoder",
    "Kbmira",
    "Learned",
    "LinearModel",
    "Mert",
    "MinimumRisk",
    "Model",
    "NBest",
    "Optimizer",
    "Oracle",
    "Pro",
    "Reranker",
    "SelectionStep",
    "Sparse",
    "TrainedVariants",
    "Tuned",
    "Variant",
    "Weights",
    "Xbleu",
    "closest",
    "command_decoder",
    "expected_score",
    "fit_l1",
    "kbmira",
    "l1_variants",
    "mbr",
    "mert",
    "oracle",
    "pro",
    "read_nbest",
    "read_samples",
    "read_weights",
    "simulated_decoder",
    "template_features",
    "train_variants",
    "tune",
    "weights_by_name",
    "write_weights",
    "xbleu",
]

# The module of each public name. It is imported when the name is first used, as in the package itself.
_find = lazy_names(
    __name__,
    {
        ".options.tuning": ("Kbmira", "L1", "Mert", "Pro", "Xbleu"),
        "choosing": ("Chosen", "LinearModel", "Model"),
        "decoders": ("Decoder", "command_decoder", "simulated_decoder", "write_weights"),
        "driver": ("Tuned", "tune"),
        "l1": ("Reranker", "SelectionStep", "Variant", "closest", "fit_l1", "l1_variants"),
        "lists": ("NBest", "Sparse", "read_nbest"),
        "mbr": ("MinimumRisk", "mbr"),
        "mert": ("mert",),
        "online": ("Learned", "expected_score", "kbmira", "pro", "xbleu"),
        "options": ("OPTIMIZERS", "Optimizer"),
        "oracle": ("Oracle", "oracle"),
        "samples": ("read_samples",),
        "templates": ("template_features",),
        "variants": ("TrainedVariants", "train_variants"),
        "weights": ("Weights", "read_weights", "weights_by_name"),
    },
)


def __getattr__(name: str) -> Any:
    return _find(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
