"""A study with a checkpoint, which tests kill: ``python resumed_study.py SIMULATIONS OUTPUT CHECKPOINT``."""

import sys
from pathlib import Path

import numpy as np

from reshuffle import SegmentScores
from reshuffle.execution import jobs
from reshuffle.study import type1


def long_study(simulations: int, checkpoint: str | None = None) -> str:
    scores = SegmentScores("quality", dict(zip("ab", np.random.default_rng(1).random((2, 200)).round(2), strict=True)))
    study = type1(
        metrics=scores,
        tests=["ar", "bootstrap-shift"],
        sizes=[50, 100],
        simulations=simulations,
        n_resamples=99,
        workers=1,
        checkpoint=checkpoint,
    )
    return study.render("json")


if __name__ == "__main__":
    jobs.TASK_SECONDS = 0.02
    Path(sys.argv[2]).write_text(long_study(int(sys.argv[1]), sys.argv[3]), encoding="utf-8")
