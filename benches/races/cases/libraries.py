"""Cases with evaluation libraries and the adapters that replace parts of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benches.data import FOLDER, Texts

from ..agreement import same_scores
from ..programs.adapter_calls import FEW, N_RESAMPLES
from ..race import Contender, Measurement, Race, Skipped
from ..rivals import version_in

__all__ = ["libraries"]

PROGRAM = "benches.races.programs.adapter_calls"
SOURCES = Path(__file__).resolve().parents[3] / "python"
# Library, call, number of segments (None: all), and the tolerance of the result (None: not the same number).
CALLS: tuple[tuple[str, str, int | None, float | None], ...] = (
    ("torchmetrics", "SacreBLEUScore", None, 1e-6),
    ("torchmetrics", "CHRFScore", FEW, 1e-6),
    ("torchmetrics", "TranslationEditRate", FEW, 1e-3),
    ("evaluate", "bleu", None, 1e-9),
    ("inspect_ai", "chrf", None, None),
)


def libraries(texts: Texts) -> list[Race]:
    """Shows single calls of evaluation libraries beside those of the adapters, in the same Python, which
    RESHUFFLE_TORCHMETRICS, RESHUFFLE_EVALUATE and RESHUFFLE_INSPECT_AI name: torchmetrics' update and compute of
    one system; evaluate's compute, whose script is read from the folder that RESHUFFLE_EVALUATE_SCRIPTS names; and
    Inspect's bootstrap standard error of the mean score of samples beside that of the score of the corpus.
    torchmetrics scores the first 300 segments by chrF and TER, because it takes minutes for all. A run is the fastest
    of the calls that fit into a second. Results must be equal, but TER only to .001, because torchmetrics finds other
    shifts, and Inspect's standard error is that of another number."""
    n = len(texts.references[0])
    return [_race(library, what, few or n, tolerance) for library, what, few, tolerance in CALLS]


def _race(library: str, what: str, n: int, tolerance: float | None) -> Race:
    title = f"{library}, {what}, {n:,} segments"
    if library == "inspect_ai":
        title = f"Inspect, standard error of {what} from {N_RESAMPLES:,} draws of {n:,} samples"
    variable = f"RESHUFFLE_{library.upper()}"
    python = os.environ.get(variable, sys.executable)
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "RESHUFFLE_DATA": str(FOLDER)}

    def measure(side: str) -> Measurement:
        done = subprocess.run(
            [python, "-m", PROGRAM, library, what, side], check=True, capture_output=True, text=True, env=environment
        )
        found = json.loads(done.stdout.splitlines()[-1])
        return Measurement(found["seconds"], found["result"])

    def check(expected: Any, actual: Any) -> None:
        if tolerance is not None:
            same_scores(expected, actual, tolerance)

    version = version_in(python, library)
    theirs: Contender | Skipped
    if version is None:
        theirs = Skipped(library, f"let {variable} name a Python that has {library}")
    elif library == "evaluate" and "RESHUFFLE_EVALUATE_SCRIPTS" not in os.environ:
        theirs = Skipped(library, "let RESHUFFLE_EVALUATE_SCRIPTS name the folder metrics of evaluate's repository")
    else:
        theirs = Contender(f"{library} {version}", lambda: measure("theirs"), at_most=3)
    return Race(title, [theirs, Contender(f"reshuffle.compat.{library}", lambda: measure("ours"))], check)
