"""Whether higher scores of another program are better, which only their name can tell."""

from __future__ import annotations

import re

from ..errors import warn

# Words in the names of metrics of which lower scores are usually better.
LOWER = {
    "cer", "error", "errors", "latency", "loss", "mae", "mer", "metricx", "mse", "nll", "perplexity", "ppl", "rmse",
    "ter", "wer", "wil",
}  # fmt: skip
# What makes a score of an error: 1-wer, neg_loss, no errors.
REVERSED = re.compile(r"(-|1|neg|inv|no\b|error[- _]?free)")


def check_direction(name: str, largest: float = 1.0) -> None:
    """Warn if a metric for which higher is better by default is called like an error, unless its scores are negated.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     for name in ("WER", "latency_ms", "mqm errors", "1-WER", "accuracy"):
    ...         check_direction(name, 1.0)
    ...     check_direction("WER", 0.0)
    >>> [str(each.message).partition(":")[0] for each in caught]
    ['WER', 'latency_ms', 'mqm errors']
    """
    words = set(re.findall(r"[^\W\d_]+", name.casefold()))
    if largest > 0 and (words & LOWER or words == {"per"}) and not REVERSED.match(name.casefold()):
        warn(
            f"{name}: higher scores count as better; for an error or a loss add higher_is_better=False "
            f"(--lower-is-better {name})"
        )
