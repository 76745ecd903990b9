"""Is the difference between these systems more than chance?

reshuffle computes metrics of machine translation as integer counts per segment and resamples the counts, in Rust, on
all cores: approximate randomization, bootstrap tests, confidence intervals.

>>> import reshuffle
>>> references = ["the cat sat on the mat", "a dog barked at the moon", "it rained all day long"]
>>> systems = {
...     "a": ["the cat sat on a mat", "a dog barks", "it rains"],
...     "b": ["the cat sat on the mat", "a dog barked at the moon", "it rained all day"],
... }
>>> comparison = reshuffle.compare(references, systems, test="ar")  # three segments are too few for the bootstrap
>>> comparison.comparisons[0].test.pvalue  # 2 of 8 shuffles
0.25
"""

from __future__ import annotations

from .lazy import lazy_names

__version__ = "0.1.0"  # the same as in Cargo.toml; a test compares them
__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
