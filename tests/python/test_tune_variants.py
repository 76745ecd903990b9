"""Variants of a reranker, from k-best lists to the type-I study: in Python, and in one command."""

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reshuffle import compare, read_lines, score, tune
from reshuffle.study import Variants, type1
from told import assert_refused

WORDS = "the a cat dog house sees sleeps runs old new on under here there now".split()
OPTIONS = {"n": 3, "templates": ["ngram:2"], "per_step": 3, "limit": 12, "gamma": 0.3}
FLAGS = ("--variants", "3", "--templates", "ngram:2", "--per-step", "3", "--limit", "12", "--gamma", "0.3")
STUDY = ("--tests", "ar", "--simulations", "20", "-n", "39", "-m", "bleu", "nist")


def lists_of(seed: int, n: int) -> tuple[list[str], list[str]]:
    """The lines of some k-best lists whose entries have two wrong words on average, and their references."""
    rng = random.Random(seed)
    lines, references = [], []
    for i in range(n):
        reference = rng.choices(WORDS, k=rng.randint(6, 12))
        references.append(" ".join(reference))
        for _ in range(8):
            entry = [word if rng.random() < 0.8 else rng.choice(WORDS) for word in reference]
            wrong = sum(a != b for a, b in zip(entry, reference, strict=True))
            lines.append(f"{i} ||| {' '.join(entry)} ||| lm= {-wrong + rng.gauss(0, 2):.3f} tm= {rng.gauss(0, 1):.3f}")
    return lines, references


@pytest.fixture(scope="module")
def files(folder: Path) -> Path:
    """Lists for training and for a test set, and their references."""
    for name, seed, n in (("dev", 1, 60), ("test", 2, 40)):
        lines, references = lists_of(seed, n)
        with gzip.open(folder / f"{name}.nbest.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        (folder / f"{name}.ref").write_text("\n".join(references) + "\n", "utf-8")
    lines, _ = lists_of(3, 40)
    (folder / "other.nbest").write_text("\n".join(lines).replace("tm=", "wp=") + "\n", "utf-8")
    (folder / "short.nbest").write_text("\n".join(lines[:80]) + "\n", "utf-8")
    return folder


def trained(files: Path, **options: Any) -> tune.TrainedVariants:
    lists = tune.read_nbest(files / "dev.nbest.gz")
    return tune.train_variants(
        lists, read_lines(files / "dev.ref"), tune.read_nbest(files / "test.nbest.gz"), **{**OPTIONS, **options}
    )


def test_variants_are_the_rerankers_of_their_options(files: Path) -> None:
    made = trained(files)
    lists, test = (tune.read_nbest(files / f"{name}.nbest.gz") for name in ("dev", "test"))
    targets = tune.closest(lists, lists.sentence_scores("sentbleu", read_lines(files / "dev.ref")))
    assert [variant.per_step for variant in made.variants] == [3, 4, 5]
    assert [len(variant.templates) for variant in made.variants] == [1, 2, 2]
    for (name, output), variant, reranker in zip(made.outputs.items(), made.variants, made.rerankers, strict=True):
        assert name == f"variant {variant.per_step - 2}"
        single = tune.fit_l1(
            lists, targets, templates=variant.templates, per_step=variant.per_step, limit=12, gamma=0.3
        )
        assert reranker.weights == single.weights
        assert reranker.steps[-1].selected == 12
        assert output == test.hypotheses(single.choose(test))
    assert len({tuple(output) for output in made.outputs.values()}) == 3
    assert "added 3 features in a step; the others chose also from redundant features (presence:2)" in made.about


def test_error_rates_are_minimized(files: Path) -> None:
    by_ter = trained(files, sentence_metric="ter").outputs["variant 1"]
    (found,) = score([read_lines(files / "test.ref")], {"ter": by_ter}, "ter").scores
    assert found.score < 20.0


def test_one_command_is_the_study_of_the_outputs(files: Path, here: None, run: Callable[..., Any]) -> None:
    found = run(
        "study", "type1", "test.ref", "--null", "variants", "--train", "dev.nbest.gz", "dev.ref", "--apply",
        "test.nbest.gz", *FLAGS, *STUDY, "--format", "json",
    )  # fmt: skip
    assert found.code == 0, found.err
    report = json.loads(found.out)
    made = trained(files)
    study = type1(
        read_lines("test.ref"), made.outputs, ["bleu", "nist"], null=Variants(made), tests="ar",
        simulations=20, n_resamples=39,
    )  # fmt: skip
    assert report["rates"] == json.loads(study.render("json"))["rates"]
    assert report["signature"] == study.signature
    assert study.plan["variants"] == {
        "n": 3, "lists": 60, "sentence_metric": "sentbleu", "templates": ["ngram:2"], "per_step": 3, "limit": 12,
        "gamma": 0.3,
    }  # fmt: skip
    truth = study.truths["variants"]
    assert "3 log-linear rerankers with an ℓ1 penalty (γ = 0.3), trained on 60 lists" in truth
    assert "The 3 pairs took turns" in truth
    assert report["truths"]["variants"] == truth


def test_the_first_variant_can_be_the_baseline_of_all_pairs(files: Path) -> None:
    made = trained(files, n=4)
    reference = read_lines(files / "test.ref")
    study = type1(
        reference, made.outputs, null=Variants(made), baseline="variant 1", sampling="fixed", tests="ar",
        n_resamples=99,
    )  # fmt: skip
    assert "The 3 pairs took turns" in study.truths["variants"]
    assert study.rates[0].simulations == 3
    pvalues = [
        pair.test.pvalue
        for pair in compare(
            [reference], made.outputs, test="ar", baseline="variant 1", adjust="none", n_resamples=99_999
        ).comparisons
    ]
    rates = {rate.alpha: rate.rate for rate in study.rates}
    assert rates[0.1] == pytest.approx(np.mean(np.array(pvalues) <= 0.1), abs=0.34)


def test_wrong_commands_say_what_to_do(files: Path, here: None, run: Callable[..., Any]) -> None:
    assert_refused("errors_of_variants", run)
