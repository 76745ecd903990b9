"""The groups of options that functions of several kinds share."""

# Annotations are evaluated here, unlike elsewhere: types of modules that take long to import are in quotes.

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import TYPE_CHECKING, Annotated, ClassVar

from annotated_types import Ge, Gt, Le, Lt
from attrs import field, frozen
from typing_extensions import Doc

from .. import types
from ..execution import check_workers
from ..validate import DEFAULT_SEED, MAX_SEED, MAX_THREADS, check_path, chosen_seed
from .declare import WORKERS, Check, Excludes, Flag, Kind, Options, several

if TYPE_CHECKING:
    import os

    from ..execution import AnyExecutor, AnyWorkers
    from ..progress import AnyProgress

# The value is a Python object, or a command reads it from files.
PYTHON = Flag(shown=False)
# In a mapping of metrics to values, in place of a name: the only metric.
ONLY = ""
# Notes on how values are written on the command line.
SYSTEM_OR_FILE = "its name or file"

Baseline = Annotated[
    str | None,
    Flag(metavar="NAME", note=SYSTEM_OR_FILE),
    Excludes(("all_pairs",), "all pairs include those with the baseline, so leave it out"),
]


def names(value: str | Sequence[str] | None) -> tuple[str, ...]:
    """One name or several as a tuple; none for None."""
    return () if value is None else several(value)


def whole_numbers(value: int | Sequence[int]) -> tuple[int, ...]:
    """One number or several as a tuple, also those of numpy."""
    return tuple(int(each) if _is(each, Integral) else each for each in several(value))


def numbers(value: float | Sequence[float]) -> tuple[float, ...]:
    """One number or several as a tuple of floats."""
    return tuple(float(each) if _is(each, Real) else each for each in several(value))


def real(value: float) -> float:
    """A number as a float."""
    return float(value) if _is(value, Real) else value


def _is(value: object, kind: type) -> bool:
    """Whether this is a number. What is none is left as it is, for the check that follows."""
    return isinstance(value, kind) and not isinstance(value, bool)


def by_metric(value: Mapping[str, float] | None) -> Mapping[str, float]:
    """A float for each metric; none for None. Whole numbers make the same results as floats, to the byte."""
    if not isinstance(value, Mapping):
        return {} if value is None else value
    return {name: float(each) if _is(each, Real) else each for name, each in value.items()}


Resamples = Annotated[int, Ge(1), Flag(("-n", "--n-resamples"))]


Seed = Annotated[
    int,
    Ge(0),
    Le(MAX_SEED),
    Doc(
        """The same seed gives the same result.

        From 0 to 2⁶⁴ − 1; None is 12345. The result is also the same on another machine, and with another number of
        workers."""
    ),
]
Workers = Annotated[
    "AnyWorkers",
    WORKERS,
    Check(check_workers),
    Flag(note="or processes, processes:N, dask://HOST:PORT"),
    Kind("int, concurrent.futures.Executor or object with ``get_executor()``, optional"),
    Doc(
        """Number of threads. By default all cores.

        Or an executor: a pool of processes, a Dask client or the like, whose workers compute the result, with one
        thread each: see docs/clusters.md. The result has the same bytes with any workers."""
    ),
]
# Of functions that executors would not make faster.
Threads = Annotated[int | None, Ge(1), Le(MAX_THREADS), Doc("Number of threads. By default all cores.")]
Progress = Annotated[
    "AnyProgress",
    PYTHON,
    Kind("bool or Progress, optional"),
    Doc(
        """True shows a progress bar in a terminal or a notebook, if the call takes long. Another thread can read the
        state of a :class:`Progress`."""
    ),
]


# What several records declare, some of them with another text or default.
Level = Annotated[float | None, Gt(0), Lt(1)]
# A significance level that always has a value.
FixedLevel = Annotated[float, Gt(0), Lt(1), Flag(metavar="LEVEL")]
ConfidenceLevel = Annotated[
    Level, Flag(("--confidence",), "LEVEL"), Doc("Confidence level of the intervals. By default 0.95.")
]
Alpha = Annotated[Level, Flag(metavar="LEVEL"), Doc("Significance level. By default 1 minus ``confidence_level``.")]
Alternative = Annotated[
    types.Alternative | str,
    Doc(
        """The alternative hypothesis: two-sided; better or worse than the baseline under each metric; greater or less
        in score.

        ``better``: that the system is better than the baseline under the metric: scores higher, or lower where lower is
        better. ``greater``: that it scores higher, whether or not higher is better."""
    ),
]


class Working(Options):
    """What has workers: threads of this process, or an executor."""

    workers: "AnyWorkers"

    @property
    def threads(self) -> int | None:
        """The number of threads, if it was given."""
        return int(self.workers) if self.workers is not None and isinstance(self.workers, Integral) else None

    @property
    def executor(self) -> "AnyExecutor":
        """The executor, if there is one."""
        return None if isinstance(self.workers, int | Integral) else self.workers


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Computed(Working):
    """What computes a result, and how it is watched."""

    TITLE: ClassVar[str] = "Resampling"
    seed: Seed = field(default=DEFAULT_SEED, converter=chosen_seed)
    workers: Workers = None
    progress: Progress = None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class Checkpointed(Options):
    """A file of finished work."""

    TITLE: ClassVar[str] = "Resampling"
    checkpoint: Annotated[
        "str | os.PathLike[str] | None", Flag(("--resume",), "FILE"), Kind("path, optional"), Check(check_path)
    ] = None
    """Keep finished work in FILE, and resume from it.

    After an interruption, the same call with the same file goes on from the finished simulations, also with other
    workers or more simulations; the result is that of a study without interruption. Damaged blocks are computed again,
    with an :class:`~reshuffle.InputWarning`.
    """
