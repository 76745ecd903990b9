"""What reports of ratings say of the votes and the model."""

from __future__ import annotations

from collections.abc import Iterator

from ..results import VoteFit
from .cells import pvalue_cell
from .wording import ci, counted, number, option

MODELS = {
    "model": "Davidson's model of wins and ties",
    "half": "the model of Bradley and Terry, a tie being half a win for both",
    "drop": "the model of Bradley and Terry",
}
UNITS = {"log": "natural logarithms of strengths", "elo": "400 · log10 of strengths"}


def vote_conclusions(fit: VoteFit) -> Iterator[str]:
    """What was found beside the ratings."""
    if fit.first is not None:
        interval, decimals, tested = fit.first.confidence_interval, 0 if fit.scale == "elo" else 3, ""
        if interval is not None and fit.first.pvalue is not None:
            ends = f"{interval.low:+.{decimals}f} to {interval.high:+.{decimals}f}"
            tested = f" ({ci(interval.confidence_level)} {ends}, p = {pvalue_cell(fit.first.pvalue)})"
        yield f"The first place changes a rating by {fit.first.advantage:+.{decimals}f}{tested}."
    worst = fit.residual
    yield (
        f"Largest residual of {counted(worst.n_pairs, 'pair')}: {worst.system} won {worst.observed:.1%} of "
        f"{counted(worst.n_votes, 'vote')} against {worst.baseline} (a tie is half a win), and the model expects "
        f"{worst.expected:.1%} ({abs(worst.z):.1f} standard errors of independent votes)."
    )


def ratings_phrase(fit: VoteFit, cited: str = "") -> str:
    """What the ratings are. ``cited`` is the citation of the model."""
    ties = f"{counted(fit.n_ties, 'tie')} {'left out' if fit.ties == 'drop' else f'of {fit.n_votes:,} votes'}"
    nu = "" if fit.nu is None or not fit.n_ties else f", ν = {fit.nu:.3f}"
    model = MODELS[fit.ties if fit.n_ties else "drop"]
    phrase, votes = f"{UNITS[fit.scale]}, with mean 0, by {model}{cited}", f"{ties if fit.n_ties else 'no ties'}{nu}"
    return f"{phrase}, with {votes}" if cited else f"{phrase} ({votes})"


def vote_notes(fit: VoteFit) -> Iterator[str]:
    """How ratings were computed."""
    yield f"Rating: {ratings_phrase(fit)}."
    if fit.prior:
        wins = number(fit.prior)
        yield (
            f"{wins} wins were added to each system of every pair that was compared "
            f"({option(f'--prior {wins}', f'prior={wins}')}), which draws ratings together."
        )
    if not fit.separated:
        return
    only = "have finite ratings only because of the added wins" if fit.prior else "have no finite ratings"
    draws = f"{fit.separated:,} of {fit.n_draws:,} draws {only}"
    if fit.withheld:
        yield (
            f"There are no intervals and tests, because {draws}, mostly because some systems never beat the others, or "
            "never lost to them. Collect more votes, or leave those systems out."
        )
    elif fit.prior:
        yield f"{draws}."
    else:
        yield f"{draws}; half a win was added there to each system of every pair that was compared."
