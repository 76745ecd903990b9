"""What the texts on tests and other methods need besides the registries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import either
from ...inference.estimates import ANY, MEANS, SUMS
from ...inference.multiplicity import FALSE_DISCOVERY
from ...inference.tests import SignificanceTest
from ...options import watch
from ...report import computed
from ...report.words import filled, words, words_of
from ...resampling.schemes import SCHEMES
from ...resampling.stopping import STOPPING
from ...results import UsedTest
from ...results.studies.watch import E_BH, SEQUENTIAL_TESTS
from ...study.testing import SCHEMES as STUDY_SCHEMES
from ..help import about
from ..studies import COMMANDS
from .options import described

# Which metrics a test or an interval is for, by its kind.
METRICS_OF: Mapping[str, str] = {
    ANY: "",
    SUMS: "metrics that are computed from summed counts, so no functions of texts",
    MEANS: "means of segment scores: --scores, and metrics whose score is such a mean",
}
# The tests that all schemes and stopping rules are for.
SHUFFLED = ("ar", "ar-studentized")
SIMULTANEOUS: Mapping[str, str] = {
    "simultaneous": "intervals of the differences in a family that hold at once with the confidence level"
}


def pvalue_of(test: SignificanceTest) -> str:
    """How p is computed."""
    used = UsedTest(test.name, test.title, test.alternatives[0], test.replicates)
    return computed.pvalue_sentence(used)


def formula_of(adjustment: str) -> str:
    """How p is adjusted."""
    values = {"m": "m", "k": "k", "replicates": "replicates"}
    formula = filled(words_of("methods", "adjustment", adjustment), values)
    scales = words("methods")["scale"].get(adjustment, {})
    others = {name: f"as {name}" for name in scales}
    of_tests = [f"{name}: {filled(text, {**others, **values})}" for name, text in scales.items()]
    standardized = f" To standardize: {'; '.join(of_tests)}." if of_tests else ""
    return formula.replace("m = m", "m").replace("k = k", "k") + standardized


def adjustments_of_looks() -> dict[str, Any]:
    """The adjustment of tests while data arrive that comparisons do not have."""
    exact = either(name for name, test in SEQUENTIAL_TESTS.items() if test.is_exact)
    own = {"rate": f"{FALSE_DISCOVERY}, at one look", "tests": f"reshuffle watch --method {exact}"}
    return {E_BH: {"about": watch.E_BH, "source": watch.SOURCE_OF_E_BH, **own}}


def schemes() -> dict[str, Any]:
    """Those of comparisons and of studies."""
    return {
        name: {"about": SCHEMES.get(name, f"in studies only: {of_study}"), "studies": of_study}
        for name in dict.fromkeys((*SCHEMES, *STUDY_SCHEMES))
        for of_study in [STUDY_SCHEMES.get(name, "no")]
    }


def stopping() -> dict[str, Any]:
    """The rules, from their docstrings."""
    return {name: described(rule.__doc__) for name, rule in STOPPING.items()}


def studies() -> dict[str, Any]:
    """The studies, from the help of their commands."""
    return {name: described(about(f"study {name}")) for name in COMMANDS}
