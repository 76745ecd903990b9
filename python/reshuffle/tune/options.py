"""The registry of optimizers: what they are, and their options.

To add one, write an entry in :data:`OPTIMIZERS`, a record of its options in :mod:`reshuffle.options.tuning`, and a
function from a problem to weights in ``optimizers.py``. The command ``reshuffle tune NAME``, its options and their help
follow.
"""

# No module that imports numpy: the command line reads this one for its help.
from __future__ import annotations

from collections.abc import Mapping

from ..documented import record
from ..options.tuning import L1, AnyOptimizer, Kbmira, Mert, Optimization, Pro, Xbleu
from ..validate import check_name


@record
class Optimizer:
    """A way to tune weights."""

    name: str
    about: str
    source: str
    """ACL id or DOI."""
    seeded: str | None
    """What a seed decides; None if nothing is random, so that replications are variants."""
    optimizes: str
    """What is optimized: ``corpus`` (the score of the corpus metric), ``sentence`` (a loss from scores of sentences),
    or ``background`` (scores of sentences, of BLEU together with earlier ones).
    """
    options: type[Optimization]
    """The record of its options, such as :class:`reshuffle.tune.Mert`."""


OPTIMIZERS: Mapping[str, Optimizer] = {
    name: Optimizer(name, *others)
    for name, others in {
        "mert": (
            "Minimum error rate training: exact line searches for the best corpus score.",
            "P03-1021", "restarts and directions", "corpus", Mert,
        ),
        "kbmira": (
            "Batch MIRA: large-margin updates, one sentence at a time.",
            "N12-1047", "order of sentences", "background", Kbmira,
        ),
        "pro": (
            "Pairwise ranking: a logistic regression on which of two entries is better.",
            "D11-1125", "sampled pairs", "sentence", Pro,
        ),
        "xbleu": (
            "Expected sentence BLEU under a log-linear model.",
            "W14-3346", "order of sentences", "sentence", Xbleu,
        ),
        "l1": (
            "A log-linear reranker with an l1 penalty and incremental feature selection.",
            "W05-0908", None, "sentence", L1,
        ),
    }.items()
}  # fmt: skip


def find_optimizer(chosen: AnyOptimizer) -> tuple[Optimizer, Optimization]:
    """The optimizer and its options, which are the defaults for a name.

    :class:`InputError` with the nearest name for an unknown one.
    """
    if isinstance(chosen, Optimization):
        return next((each, chosen) for each in OPTIMIZERS.values() if isinstance(chosen, each.options))
    check_name("optimizer", chosen, list(OPTIMIZERS))
    return OPTIMIZERS[chosen], OPTIMIZERS[chosen].options()
