"""The result of a comparison on several test sets."""

from __future__ import annotations

from collections.abc import Mapping

from ..documented import record
from ..errors import counted, unknown_name
from .comparison import Comparison
from .lookup import first_names
from .reported import Compared


@record
class SetComparison(Compared):
    """The result of :func:`reshuffle.compare_sets`: a comparison on each test set, and one of their average scores."""

    sets: Mapping[str, Comparison]
    """The comparison on each test set, by its name, in the order of the input. Figures are methods of
    ``result["NAME"].plot`` and ``result.average.plot``.
    """
    average: Comparison | None
    """The comparison of average scores over the test sets, with tests and intervals of their own. None with
    ``average=False``.
    """
    dropped: tuple[str, ...]
    """The systems that were left out because they are not in every test set."""
    signature: str
    """One line with everything needed to repeat the result on the same texts."""
    version: str
    """The version of reshuffle."""

    def __repr__(self) -> str:
        averaged = "" if self.average is None else " and their average"
        return f"<SetComparison: {counted(len(self.sets), 'test set')} ({first_names(self.sets)}){averaged}>"

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
