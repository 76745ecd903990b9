"""What reports of ratings say of the votes and the model."""

from __future__ import annotations

from collections.abc import Iterator

from ..results import Comparison, VoteFit
from .cells import pvalue_cell
from .wording import ci, counted, number, option, strata

# How votes belong to what is drawn.
BELONG = {"judge": "by", "ranking": "in", "prompt": "on"}
MODELS = {
    "model": "Davidson's model of wins and ties",
    "half": "the model of Bradley and Terry; a tie is half a win for both",
    "drop": "the model of Bradley and Terry",
}
UNITS = {"log": "natural logarithms of strengths", "elo": "400 · log10 of strengths"}


def size_of(comparison: Comparison, stratified: bool = False) -> str:
    """What was compared, as a phrase: segments, in how many documents and strata, or votes."""
    of_unit = counted(comparison.n_units, comparison.unit)
    if comparison.votes is not None:
        votes = counted(comparison.votes.n_votes, "vote")
        belong = BELONG.get(comparison.unit)
        return votes if belong is None else f"{votes} {belong} {of_unit}"
    size = counted(comparison.n_segments, "segment")
    if comparison.unit != "segment":
        size += f" in {of_unit}"
    if stratified and comparison.n_strata is not None:
        size += f" in {strata(comparison.n_strata)}"
    return size


def vote_conclusions(fit: VoteFit) -> Iterator[str]:
    """What was found beside the ratings."""
    if fit.first is not None:
        interval, decimals = fit.first.confidence_interval, 0 if fit.scale == "elo" else 3
        ends = f"{ci(interval.confidence_level)} {interval.low:+.{decimals}f} to {interval.high:+.{decimals}f}"
        p = pvalue_cell(fit.first.pvalue)
        yield f"The first place raises a rating by {fit.first.advantage:.{decimals}f} ({ends}, p = {p})."
    worst = fit.residual
    yield (
        f"Largest residual of {counted(worst.n_pairs, 'pair')}: {worst.system} won {worst.observed:.1%} of "
        f"{counted(worst.n_votes, 'vote')} against {worst.baseline} (a tie is half a win), and the model expects "
        f"{worst.expected:.1%} ({abs(worst.z):.1f} standard errors of independent votes)."
    )


def vote_notes(comparison: Comparison, fit: VoteFit) -> Iterator[str]:
    """How ratings were computed."""
    ties = f"{counted(fit.n_ties, 'tie')} {'left out' if fit.ties == 'drop' else f'of {fit.n_votes:,} votes'}"
    nu = "" if fit.nu is None or not fit.n_ties else f", ν = {fit.nu:.3f}"
    model = MODELS[fit.ties if fit.n_ties else "drop"]
    yield f"Rating: {UNITS[fit.scale]}, with mean 0, by {model} ({ties if fit.n_ties else 'no ties'}{nu})."
    if fit.prior:
        yield (
            f"{number(fit.prior)} wins were added for both systems of each pair that was compared "
            f"({option(f'--prior {number(fit.prior)}', f'prior={number(fit.prior)}')}), which draws ratings together."
        )
    if fit.separated:
        draws = f"{fit.separated:,} of {fit.n_draws:,} draws"
        if not comparison.comparisons:
            remedy = option("--prior 0.5", "prior=0.5")
            yield (
                f"There are no intervals and tests, because {draws} have no finite ratings: in them some systems never "
                f"beat the others. More votes would help, or {remedy}."
            )
        else:
            yield (
                f"{draws} have no finite ratings; half a win was added there for both systems of each pair that was "
                "compared."
            )
