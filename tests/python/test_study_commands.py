"""Commands of studies and plans: what they give is what the functions give, and wrong arguments are one sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import Outcome
from counts import as_bleu, bleu_counts
from reshuffle import CorpusFunction, SegmentScores, compare, read_json, study
from told import assert_raises, assert_refused

DATA = Path(__file__).parents[1] / "data"
NAMES = ("reference", "baseline", "tuned")
# Commands, and the calls of functions that give the same.
CALLS = re.findall(r"^\$ reshuffle (.*)\n>>> (.*)$", (DATA / "studies.txt").read_text("utf-8"), re.MULTILINE)
SMALL = {"simulations": 15, "n_resamples": 19, "seed": 7}


@pytest.mark.parametrize(("words", "call"), CALLS)
def test_commands_give_what_functions_give(run: Callable[..., Outcome], demo: Path, words: str, call: str) -> None:
    (demo / "domains.txt").write_text("talks\nnews\n" * 200, "utf-8")
    reference, *outputs = ((demo / f"{name}.txt").read_text("utf-8").splitlines() for name in NAMES)
    texts = {"references": reference, "systems": dict(zip(NAMES[1:], outputs, strict=True))}
    outcome = run(*words.split())
    assert outcome.code == 0, outcome.err
    assert replace(read_json(outcome.out), inputs=()) == eval(call, {**vars(study), "texts": texts, "small": SMALL})


@pytest.mark.usefixtures("demo")
def test_the_study_of_exchanges_reads_runs(run: Callable[..., Outcome]) -> None:
    files = ("reference.txt", "baseline.txt", "tuned.txt", "larger.txt", "rules.txt")
    words = ("study", "exchange", *files, "--sizes", "30", "--simulations", "10", "-n", "19", "--format", "json")
    plan = json.loads(run(*words).out)["plan"]
    assert (plan["runs"], plan["systems"]) == ([2], ["baseline", "tuned", "larger", "rules"])
    assert "--run-sd is for simulated scores" in run(*words, "--run-sd", "1").refusal()


def test_wrong_arguments_are_one_sentence(run: Callable[..., Outcome], demo: Path) -> None:
    assert_refused("errors_of_studies", run)


def test_wrong_arguments_of_the_functions_are_one_sentence() -> None:
    base, errors = np.random.default_rng(4).normal(size=(2, 200))
    names = {
        **{name: getattr(study, name) for name in study.__all__},
        "SegmentScores": SegmentScores,
        "compare": compare,
        "CorpusFunction": CorpusFunction,
        "pool": as_bleu(bleu_counts(5, 3, 60, 0.02)),
        "references": [["a b c d"] * 60, ["a b c e"] * 60, ["a b", None] * 30],
        "systems": {"one": ["a b c d"] * 60, "two": ["a b d"] * 60},
        "quality": SegmentScores("quality", {"old": base, "new": base + errors + 0.25}),
        "same": SegmentScores("quality", {"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]}),
    }
    assert_raises("python_errors_of_studies", names)
