"""Histograms of replicates."""

from __future__ import annotations

from dataclasses import replace

from ..documented import record

N_BINS = 64


@record
class Histogram:
    """A histogram of 64 bins of equal width, or of one bin if all values are equal."""

    low: float
    """The lower end of the first bin. If all values are equal, that value."""
    width: float
    """The width of each bin; 0 if all values are equal. Bin i is [low + i·width, low + (i + 1)·width)."""
    counts: tuple[float, ...]
    """The number of values in each bin; for an exact test by convolution, their probability, without the extreme 10⁻⁹
    of either tail. Infinite and undefined values are left out.
    """


@record
class NullHistogram(Histogram):
    """The histogram of a test statistic under the null hypothesis."""

    observed: float
    """The observed statistic, which can lie outside the bins: the difference of the scores. For tests of studentized
    differences, the difference divided by its standard error, unless the division would not change the order of the
    shuffles.
    """

    @property
    def reversed(self) -> NullHistogram:
        """That of the pair reversed: see :attr:`PairedDifference.reversed`."""
        end = self.low + len(self.counts) * self.width
        return replace(self, low=0.0 - end, counts=self.counts[::-1], observed=0.0 - self.observed)
