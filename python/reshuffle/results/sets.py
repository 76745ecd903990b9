"""The result of a comparison on several test sets."""

from __future__ import annotations

from collections.abc import Mapping

from ..documented import record
from ..errors import InputError, counted, listed, unknown_name
from ..options.hints import hinting
from .compared import Compared
from .comparison import Comparison, SystemScore, UsedMetric
from .differences import PairedDifference
from .lookup import first_names
from .plots import Plots

# What tables of data call the average, so that no test set beside it can have this name.
AVERAGE = "average"
# The most systems left out that messages and reports name; `dropped` has all.
MAX_DROPPED = 6


@record
class SetComparison(Compared):
    """The result of :func:`reshuffle.compare_sets`: a comparison on each test set, and one of their average scores.

    :meth:`score`, :meth:`pair` and :attr:`plot` are those of the average; ``result["NAME"]`` is the comparison on the
    test set NAME, which has the same methods.
    """

    sets: Mapping[str, Comparison]
    """The comparison on each test set, by its name, in the order of the input."""
    average: Comparison | None
    """The comparison of average scores over the test sets, with tests and intervals of their own. None with
    ``average=False``, and with one test set.
    """
    dropped: tuple[str, ...]
    """The systems that were left out because they are not in every test set."""
    signature: str
    """One line with everything needed to repeat the result on the same texts."""
    version: str
    """The version of reshuffle."""

    @property
    def _every(self) -> list[Comparison]:
        """The average, if there is one, and the comparisons on the test sets."""
        return [*([] if self.average is None else [self.average]), *self.sets.values()]

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, which are the same on all test sets."""
        return self._every[0].systems

    @property
    def metrics(self) -> tuple[UsedMetric, ...]:
        """The metrics of the average or, without one, of the first test set. Their names are the same on all."""
        return self._every[0].metrics

    @property
    def plot(self) -> Plots:
        """The figures of the average, as :attr:`Comparison.plot`; ``result["NAME"].plot`` has those of a test set."""
        return self._on(None).plot

    def __repr__(self) -> str:
        averaged = "" if self.average is None else " and their average"
        test, n = self._every[0].test, sum(len(each.comparisons) for each in self._every)
        tests = "" if test is None else f"; {counted(n, 'test')} ({test.name})"
        return (
            f"<SetComparison: {first_names(metric.name for metric in self.metrics)}; "
            f"{counted(len(self.systems), 'system')} ({first_names(self.systems)}); "
            f"{counted(len(self.sets), 'test set')} ({first_names(self.sets)}){averaged}{tests}>"
        )

    def __getitem__(self, test_set: str) -> Comparison:
        """The comparison on a test set, by name.

        Raises
        ------
        InputError
            If there is no such test set.
        """
        if test_set not in self.sets:
            raise unknown_name("test set", test_set, self.sets)
        return self.sets[test_set]

    def _on(self, test_set: str | None) -> Comparison:
        """The comparison on a test set; for None, that of the average."""
        if test_set is not None:
            return self[test_set]
        if len(self.sets) == 1:
            return next(iter(self.sets.values()))
        if self.average is None:
            raise InputError(f"there is no average: choose a test set, as in result[NAME]: {listed(self.sets)}")
        return self.average

    @hinting
    def score(self, system: str, metric: str | None = None, test_set: str | None = None) -> SystemScore:
        """The average score of a system under a metric, or its score on a test set: see :meth:`Comparison.score`."""
        return self._on(test_set).score(system, metric)

    @hinting
    def pair(
        self, system: str, baseline: str | None = None, metric: str | None = None, test_set: str | None = None
    ) -> PairedDifference:
        """The difference of two systems on average, or on a test set, and its test.

        Parameters
        ----------
        system, baseline, metric : str
            As for :meth:`Comparison.pair`.
        test_set : str, optional
            A name in ``sets``. By default the average.

        Returns
        -------
        PairedDifference

        Raises
        ------
        InputError
            If there is no such comparison.

        Examples
        --------
        >>> from reshuffle import SegmentScores, TestSet, compare_sets
        >>> news = SegmentScores("rating", {"a": [1, 2, 3, 4], "b": [2, 3, 3, 5]})
        >>> talks = SegmentScores("rating", {"a": [2, 2, 3], "b": [4, 3, 4]})
        >>> result = compare_sets({"news": TestSet(metrics=news), "talks": TestSet(metrics=talks)}, test="ar")
        >>> result.pair("b", test_set="news").difference, round(result.pair("b").difference, 4)
        (0.75, 1.0417)
        """
        return self._on(test_set).pair(system, baseline, metric)
