"""What reports of ratings say of the votes and the model."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ..results import VoteFit
from ..results.schemas import as_dict
from .cells import pvalue_cell
from .words import sentence, words

_said = partial(sentence, "votes", "note")


def vote_conclusions(fit: VoteFit) -> Iterator[str]:
    """What was found beside the ratings, or why not."""
    if fit.separated:
        yield _said("infinite", **as_dict(fit))
    if fit.first is not None:
        interval, spec = fit.first.confidence_interval, "+.0f" if fit.scale == "elo" else "+.3f"
        values: dict[str, Any] = {"changes": format(fit.first.advantage, spec)}
        if interval is not None and fit.first.pvalue is not None:
            values |= {"low": format(interval.low, spec), "high": format(interval.high, spec)}
            values |= {"level": interval.confidence_level, "p": pvalue_cell(fit.first.pvalue)}
        yield _said("advantage", **values)
    yield _said("worst", **as_dict(fit.residual), errors=abs(fit.residual.z))


def ratings_phrase(fit: VoteFit, cited: str = "") -> str:
    """What the ratings are. ``cited`` is the citation of the model."""
    model = words("votes")["model"][fit.ties if fit.n_ties else "drop"]
    return _said("ratings", **as_dict(fit), model=model, cited=cited, has_nu=fit.nu is not None)


def vote_notes(fit: VoteFit) -> Iterator[str]:
    """How ratings were computed."""
    yield f"Rating: {ratings_phrase(fit)}."
    if fit.prior:
        yield _said("added", **as_dict(fit))
