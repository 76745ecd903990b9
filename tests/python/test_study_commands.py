"""Commands of studies and plans: what they give is what the functions give, and wrong arguments are one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Outcome
from counts import as_bleu, bleu_counts
from reshuffle import CorpusFunction, SegmentScores, StudyResult, read_json, study
from told import assert_raises, assert_refused

FILES = "reference.txt baseline.txt tuned.txt"
SMALL: dict[str, Any] = {"simulations": 15, "n_resamples": 19, "seed": 7}
BOTH = {"metrics": ["bleu", "chrf"]}
# The command, the function, and its arguments beside the texts, if FILES are given.
CALLS: list[tuple[str, Callable[..., StudyResult], dict[str, Any]]] = [
    (
        "study type1 FILES --null swap --tests ar,bootstrap,bootstrap-shift -m bleu chrf --sizes 50 80 --alphas 0.1,0.2"
        " SMALL",
        study.type1,
        {"tests": ["ar", "bootstrap", "bootstrap-shift"], "sizes": [50, 80], "alphas": [0.1, 0.2], **BOTH, **SMALL},
    ),
    ("study type1 --tests ar bootstrap FILES SMALL", study.type1, {"tests": ["ar", "bootstrap"], **SMALL}),
    ("study type1 FILES SMALL --tests ar,bootstrap", study.type1, {"tests": ["ar", "bootstrap"], **SMALL}),
    (
        "study type1 --test ar --sizes 40 --test bootstrap FILES SMALL",
        study.type1,
        {"tests": ["ar", "bootstrap"], "sizes": 40, **SMALL},
    ),
    (
        "study power FILES --models eta real --effects 0,0.2 --size-adjusted --tests ar --sizes 50 -m bleu chrf SMALL",
        study.power,
        {"models": ["eta", "real"], "effects": [0, 0.2], "size_adjusted": True, "tests": "ar", "sizes": 50}
        | BOTH
        | SMALL,
    ),
    (
        "study power --models parametric --difference 0.5 1 --sizes 100 --alpha 0.05 --b-zero 20 SMALL",
        study.parametric_power,
        {"difference": (0.5, 1.0), "sizes": 100, "b_zero": 20.0, "alphas": 0.05, **SMALL},
    ),
    ("study power --models parametric SMALL", study.parametric_power, {"difference": 1.0, "sizes": 2000, **SMALL}),
    (
        "study sensitivity FILES --effects 0 0.5 --sizes 60 --not-adjusted SMALL",
        study.sensitivity,
        {"metrics": ["bleu", "nist"], "effects": [0, 0.5], "sizes": 60, "size_adjusted": False, **SMALL},
    ),
    (
        "plan FILES --difference bleu=1 chrf2=0.5 BLEU=2 --power 0.8,0.9 --sizes 100 400 -m bleu chrf --no-simulate",
        study.plan,
        {"difference": {"bleu": [1.0, 2.0], "chrF2": 0.5}, "power": [0.8, 0.9], "sizes": [100, 400], "simulate": False}
        | BOTH,
    ),
    (
        "plan FILES --difference bleu=1 --tests ar SMALL",
        study.plan,
        {"difference": {"bleu": 1.0}, "tests": "ar", **SMALL},
    ),
    (
        "study validate FILES --sizes 20 50 --layouts broad --tests paired-bootstrap,ar --truth whole --confidence 0.9"
        " --bins 0,1,2 --n-samples 8 -n 49 --seed 3",
        study.validate,
        {"sizes": (20, 50), "layouts": "broad", "tests": ("paired-bootstrap", "ar"), "truth": "whole"}
        | {"confidence_level": 0.9, "bins": (0, 1, 2), "n_samples": 8, "n_resamples": 49, "seed": 3},
    ),
    (
        "study validate FILES --baseline tuned.txt --sizes 20 -n 9",
        study.validate,
        {"baseline": "tuned", "sizes": 20, "n_resamples": 9},
    ),
    (
        "study samples FILES --sizes 40 --curve-sizes 50 100 --interval percentile --all-pairs -n 49 --n-references 1",
        study.samples,
        {"sizes": 40, "curve_sizes": (50, 100), "interval": "percentile", "all_pairs": True, "n_references": 1}
        | {"n_resamples": 49},
    ),
    (
        "study agreement FILES --tests ar bootstrap --alphas 0.1 --domains domains.txt -n 49",
        study.agreement,
        {"tests": ("ar", "bootstrap"), "alphas": 0.1, "domains": ["talks", "news"] * 200, "n_resamples": 49},
    ),
    (
        "study agreement FILES --halves block --tests ar -n 9",
        study.agreement,
        {"halves": "block", "tests": "ar", "n_resamples": 9},
    ),
    (
        "study multiplicity FILES --tests ar --adjust none,holm --size 50 SMALL",
        study.multiplicity,
        {"tests": "ar", "adjustments": ["none", "holm"], "sizes": 50, **SMALL},
    ),
    (
        "study exchange --exchange run pooled --runs 3,4 --run-sd 0 1 --correlation 0.5 --sizes 40 SMALL",
        study.exchange,
        {"exchange": ["run", "pooled"], "runs": [3, 4], "run_sd": [0, 1], "correlation": 0.5, "sizes": 40, **SMALL},
    ),
    (
        "study gate --tasks 2 --correlation 0.5 --sizes 40 SMALL",
        study.gate,
        {"tasks": 2, "correlation": 0.5, "sizes": 40, **SMALL},
    ),
]


@pytest.mark.parametrize(("words", "function", "arguments"), CALLS, ids=[words for words, *_ in CALLS])
def test_commands_give_what_functions_give(
    run: Callable[..., Outcome], demo: Path, words: str, function: Callable[..., StudyResult], arguments: dict[str, Any]
) -> None:
    (demo / "domains.txt").write_text("talks\nnews\n" * 200, "utf-8")
    texts: dict[str, Any] = {}
    if "FILES" in words:
        reference, *outputs = ((demo / name).read_text("utf-8").splitlines() for name in FILES.split())
        texts = {"references": reference, "systems": dict(zip(("baseline", "tuned"), outputs, strict=True))}
    words = words.replace("FILES", FILES).replace("SMALL", "--simulations 15 -n 19 --seed 7 --workers 1")
    outcome = run(*words.split(), "--format", "json")
    assert outcome.code == 0, outcome.err
    assert replace(read_json(outcome.out), inputs=()) == function(**texts, **arguments)


@pytest.mark.usefixtures("demo")
def test_the_study_of_exchanges_reads_runs(run: Callable[..., Outcome]) -> None:
    words = f"study exchange {FILES} larger.txt rules.txt --sizes 30 --simulations 10 -n 19 --format json".split()
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
        "CorpusFunction": CorpusFunction,
        "pool": as_bleu(bleu_counts(5, 3, 60, 0.02)),
        "references": [["a b c d"] * 60, ["a b c e"] * 60, ["a b", None] * 30],
        "systems": {"one": ["a b c d"] * 60, "two": ["a b d"] * 60},
        "quality": SegmentScores("quality", {"old": base, "new": base + errors + 0.25}),
        "same": SegmentScores("quality", {"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]}),
    }
    assert_raises("python_errors_of_studies", names)
