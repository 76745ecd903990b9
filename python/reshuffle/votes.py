"""``votes``: ratings of systems from votes on pairs of them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .comparing import compared, scored
from .data.columns import named_columns
from .data.votes import UNITS, VoteTable, read_votes
from .errors import Argument, InputError, listed, warn
from .inference.intervals import symmetric_ends
from .inference.pvalues import pvalue
from .options.declare import called_with, taken
from .options.votes import VotesOptions
from .progress import reported
from .resampling.votes import Cells, Fit, RatingMetric, VoteData, VoteSample
from .results import Comparison, ConfidenceInterval
from .results.votes import FirstAdvantage, LargestResidual, VoteFit
from .settings import ComparisonSettings, Resampling, Units, levels

# With a larger share of draws without finite ratings, there are no intervals and tests: ends of intervals would be
# infinite, or be decided by the added wins.
MOST_SEPARATED = 0.01
# With so few judges, they may be models rather than a sample of people.
FEW_JUDGES = 10
FACTORS = {"log": 1.0, "elo": 400 / math.log(10)}


@called_with(VotesOptions)
def votes(options: VotesOptions) -> Comparison:
    """Rate systems by votes on pairs of them, with ties, and test which of them differ.

    The model is that of Davidson (1970), or of Bradley and Terry (1952) without ties. Judges, rankings or prompts are
    drawn with replacement, and the model is fitted to each draw. Intervals, tests of all pairs, adjusted p-values and
    ranks are those of :func:`reshuffle.compare` with draws.

    Returns
    -------
    Comparison
        Of all pairs, with a :class:`~reshuffle.results.VoteFit` as ``votes``. Without intervals and tests if more than
        1% of the draws have no finite ratings, or only because of a prior.

    Raises
    ------
    InputError
        If a file cannot be read; if no ratings are finite, because votes do not connect all systems, or some systems
        never beat the others; if nothing says which votes belong together, and ``units`` is not ``vote``.

    Examples
    --------
    >>> from reshuffle import VoteTable, votes
    >>> winners = ["model_a", "model_a", "tie", "model_b"]
    >>> table = VoteTable.from_columns(["x"] * 40, ["y"] * 40, winners * 10, prompt=[i // 2 for i in range(40)])
    >>> rated = votes(table)
    >>> [(score.system, round(score.score, 3)) for score in rated.scores]
    [('x', 0.347), ('y', -0.347)]
    >>> rated.votes.n_votes, round(rated.votes.nu, 3)
    (40, 0.707)
    """
    given = options.votes
    if isinstance(given, VoteTable):
        if options.columns or options.language_pair is not None:
            raise InputError("columns and language_pair are for files: leave them out")
        table = given
    elif named_columns("votes", given) is not None:
        raise InputError(
            "expected files or a VoteTable, got a data frame: write VoteTable.from_columns(frame['model_a'], "
            "frame['model_b'], frame['winner'], judge=frame['judge'])"
        )
    else:
        table = read_votes(given, columns=options.columns, language_pair=options.language_pair)
    unit = _unit(table, options.units)
    with reported(options.progress) as watched:
        own = Resampling(options.n_resamples, options.seed, options.threads, watched, options.executor)
        return _rated(table, unit, options, own)


def _unit(table: VoteTable, chosen: str | None) -> str:
    """What is drawn as a whole."""
    if chosen == "vote":
        warn(
            "each vote is drawn alone, as if votes by one judge or on one prompt were independent: if they are not, "
            "intervals are too short and tests reject too often"
        )
        return chosen
    unit = table.default_units if chosen is None else chosen
    if unit is None:
        own = "".join(f"each vote has a {name} of its own, and " for name in UNITS[1:] if name in table.units)
        raise InputError(
            own + "nothing says which votes belong together: name a column with {column}, or take them as independent "
            "with {units}",
            column=Argument("columns={'judge': …}", as_flag="--columns judge=…"),
            units=Argument("units", ("vote",)),
        )
    if unit not in table.units:
        known = listed([*(name for name in UNITS if name in table.units), "vote"])
        raise InputError(f"units: the votes have no column of {unit}s, only {known}")
    n = table.n_units(unit)
    prompts = table.n_units("prompt") if "prompt" in table.units else 0
    if n < 2:
        problem = f"units: all votes belong to one {unit}, and at least 2 are needed"
        if unit == "prompt" or prompts < 2:
            raise InputError(problem)
        raise InputError("{problem}: use {units}", problem=problem, units=Argument("units", ("prompt",)))
    if chosen is None and unit == "judge" and n < FEW_JUDGES and prompts > n:
        warn(
            f"judges are drawn, and there are only {n}: if they are models, or if your conclusions are only about "
            f"these judges, draw the {prompts:,} prompts instead ({{units}})",
            units=Argument("units", ("prompt",)),
        )
    return unit


def _rated(table: VoteTable, unit: str, options: VotesOptions, resampling: Resampling) -> Comparison:
    if table.n_ties == len(table):
        raise InputError("all votes are ties: nothing tells the systems apart")
    if options.position and not table.has_order:
        raise InputError("position: the votes do not say which system was shown first; leave it out")
    dropped = table.n_ties if options.ties == "drop" else 0
    used = table.without_ties() if dropped else table
    if unit != "vote" and used.n_units(unit) < 2:
        raise InputError(f"units: without ties, all votes belong to one {unit}, and at least 2 are needed")
    cells = Cells(used, options.ties == "half", options.position, options.prior)
    try:
        fit = cells.fit()
    except InputError as error:
        raise (error.with_prefix("without ties: ") if dropped else error) from None
    resampling.announce([("drawing", 1.0, 1)])
    drawn, separated = cells.drawn(unit, fit, resampling)
    factor = FACTORS[options.scale]
    metric = RatingMetric(_signed(options, fit), _source(fit))
    n_units = len(used) if unit == "vote" else used.n_units(unit)
    draws = np.ascontiguousarray(drawn.strengths.T) * factor
    sample = VoteSample(metric, fit.strengths * factor, draws, unit, n_units)
    settings = ComparisonSettings(
        test="bootstrap-both", all_pairs=True, **levels(options.confidence_level, options.alpha)
    )
    withheld = bool(separated.mean() > MOST_SEPARATED or not np.isfinite(draws).all())
    found = taken(
        VoteFit,
        options,
        n_votes=len(used),
        n_ties=table.n_ties,
        nu=float(np.exp(fit.log_nu)) if table.n_ties and options.ties == "model" else None,
        effective_units=_effective(used, unit),
        separated=int(separated.sum()),
        n_draws=resampling.n_resamples,
        withheld=withheld,
        residual=_residual(cells, fit),
        first=_first(fit, drawn, factor, None if withheld else settings.confidence_level) if options.position else None,
    )
    data = VoteData.of(table.systems, sample, found)
    quiet = replace(resampling, progress=None, executor=None)
    if withheld:
        return scored(data, Units(), ComparisonSettings(interval=None), quiet)
    return compared(data, Units(), settings, quiet)


def _effective(table: VoteTable, unit: str) -> float:
    """How many units with equal numbers of votes would tell about as much."""
    if unit == "vote":
        return float(len(table))
    sizes = np.bincount(table.units[unit])
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def _signed(options: VotesOptions, fit: Fit) -> tuple[tuple[str, str], ...]:
    """The options that change a rating, for the signature."""
    return (
        ("model", "davidson" if np.isfinite(fit.log_nu) else "bradley-terry"),
        ("ties", options.ties),
        *([("prior", f"{options.prior:g}")] if options.prior else []),
        *([("position", "yes")] if options.position else []),
        *([("scale", options.scale)] if options.scale != "log" else []),
    )


def _source(fit: Fit) -> str:
    return "doi:10.1080/01621459.1970.10481082" if np.isfinite(fit.log_nu) else "doi:10.2307/2334029"


def _residual(cells: Cells, fit: Fit) -> LargestResidual:
    """The pair of systems whose share of wins is farthest from the expected one, in standard errors."""
    found = cells.residuals(fit)
    z = np.divide(found.observed - found.expected, found.error, out=np.zeros_like(found.error), where=found.error > 0)
    at = int(np.argmax(np.abs(z).round(9)))
    system, baseline = (cells.votes.systems[i] for i in found.systems[at].tolist())
    return LargestResidual(
        system,
        baseline,
        n_votes=round(float(found.n_votes[at])),
        observed=float(found.observed[at]),
        expected=float(found.expected[at]),
        z=float(z[at]),
        n_pairs=len(found.systems),
    )


def _first(fit: Fit, drawn: Fit, factor: float, level: float | None) -> FirstAdvantage:
    """The advantage of the first place; at a level, with the percentiles of the draws and the test of all pairs."""
    advantage, draws = float(fit.advantage) * factor, drawn.advantage * factor
    if level is None:
        return FirstAdvantage(advantage, None, None)
    low, high = symmetric_ends(draws, level)
    # bootstrap-both: the larger of two p-values.
    centred = np.count_nonzero(np.abs(draws - advantage) >= abs(advantage))
    smaller_tail = min(np.count_nonzero(draws <= 0), np.count_nonzero(draws >= 0))
    both = [pvalue(np.array(n), len(draws), tails=tails) for n, tails in ((centred, 1), (smaller_tail, 2))]
    return FirstAdvantage(advantage, ConfidenceInterval(low, high, level, "percentile"), float(max(both)))
