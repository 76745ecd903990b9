"""Metrics that are counted in Python, of answers, labels and spans: beside other tools, slow twins and their texts."""

import csv
import json
import math
import pickle
import random
import re
import string
import warnings
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reshuffle
from budgets import budget
from known import ends
from reshuffle import compare, metric, open_counts, read_lines, save_counts, score, segment_scores, types
from reshuffle.metrics.counted import CountedTexts
from reshuffle.metrics.in_python import IN_PYTHON
from reshuffle.metrics.in_python.spans import spans_of
from reshuffle.names import IN_PYTHON as NAMES
from reshuffle.report import render
from reshuffle.resampling.counting import Data
from reshuffle.resampling.linear import gradient
from told import assert_raises

LABELS = ["A", "B", "C", "D e"]
labels = st.lists(st.tuples(*[st.sampled_from(LABELS)] * 3), min_size=1, max_size=12)


def scores_of(references: Any, systems: Any, chosen: Any, **options: Any) -> dict[str, float]:
    """The score of each system."""
    found = score(references, systems, chosen, **options).scores
    return {each.system: each.score for each in found}


def counted_texts(chosen: Any, references: Any, systems: Any) -> CountedTexts:
    """A metric with the counts of texts."""
    (found,) = Data.from_arguments(references, systems, chosen).metrics
    assert isinstance(found, CountedTexts)
    return found


def test_names_are_those_of_the_registry() -> None:
    assert tuple(IN_PYTHON) == NAMES == get_args(types.CountedInPython)
    for name, spec in IN_PYTHON.items():
        assert metric(name) == metric(spec.shown) == pickle.loads(pickle.dumps(metric(name)))
        assert hash(metric(name)) == hash(metric(spec.shown))
        assert eval(repr(metric(name)), {"metric": metric}) == metric(name)


# --- Answers


@pytest.fixture(scope="module")
def squad(golden: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((golden / "counts/qa/squad.json").read_text(encoding="utf-8"))
    return found


def test_answers_score_as_by_the_script_of_squad(squad: dict[str, Any], data: Path) -> None:
    rows = squad["invented"]
    width = max(len(row["golds"]) for row in rows)
    references = [[row["golds"][i] if i < len(row["golds"]) else None for row in rows] for i in range(width)]
    found = segment_scores(references, {"x": [row["prediction"] for row in rows]}, ["exact", "f1"]).scores
    assert found["exact"][0].tolist() == [row["exact"] for row in rows]
    assert found["F1"][0].tolist() == pytest.approx([row["f1"] for row in rows], abs=1e-9)
    folder = data / "compare-mt-ted-slk-en"
    systems = {name: read_lines(folder / name) for name in squad["data"]}
    reference = read_lines(folder / "ted.ref.eng")
    found = segment_scores(reference, systems, ["exact", "f1"]).scores
    for i, (name, own) in enumerate(squad["data"].items()):
        both = np.stack([found["exact"][i], found["F1"][i]], axis=1)
        np.testing.assert_allclose(both[:200], own["first_200"], atol=1e-9)
        means = [scores_of(reference, systems, key)[name] for key in ("exact", "f1")]
        assert means == pytest.approx([own["exact_match"] / 100, own["f1"] / 100], abs=1e-9)


def slow_words(text: str) -> list[str]:
    """The words that count, one character at a time."""
    kept = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def slow_f1(words: list[str], expected: list[str]) -> Fraction:
    """F1 of words by the definition, one word at a time."""
    if not words or not expected:
        return Fraction(words == expected)
    rest = list(expected)
    for word in words:
        if word in rest:
            rest.remove(word)
    return Fraction(2 * (len(expected) - len(rest)), len(words) + len(expected))


answers = st.lists(st.sampled_from(["the", "A", "cat", "cat.", "Dog", "é", "—", "1,000"]), max_size=4).map(" ".join)


@settings(max_examples=budget(60))
@given(st.lists(st.tuples(answers, answers, answers), min_size=1, max_size=5))
def test_answers_score_as_their_slow_twin(rows: list[tuple[str, str, str]]) -> None:
    rows = [*rows, ("x", "y", "x")]  # a corpus needs a reference with text
    lines, *golds = ([*column] for column in zip(*rows, strict=True))
    pairs = [[(slow_words(line), slow_words(gold)) for gold in own] for line, *own in rows]
    best = [max(slow_f1(*pair) for pair in own) for own in pairs]
    assert scores_of(golds, {"s": lines}, "f1")["s"] == pytest.approx(float(sum(best) / len(best)), abs=2e-9)
    exact = sum(any(line == gold for line, gold in own) for own in pairs)
    assert scores_of(golds, {"s": lines}, "exact")["s"] == exact / len(pairs)


# --- Labels


SKLEARN = pytest.mark.interop("sklearn")


def scikit_learn(gold: Sequence[str], output: Sequence[str]) -> dict[str, float]:
    """The scores of scikit-learn, which takes a second to import."""
    from sklearn import metrics

    macro: dict[str, Any] = {"average": "macro", "zero_division": 0.0}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A single label was found")
        return {
            "accuracy": metrics.accuracy_score(gold, output),
            "micro-f1": metrics.f1_score(gold, output, average="micro"),
            "macro-f1": metrics.f1_score(gold, output, **macro),
            "macro-f1 gold": metrics.f1_score(gold, output, labels=sorted({*gold}), **macro),
            "mcc": metrics.matthews_corrcoef(gold, output),
            # Where all labels are the same, scikit-learn's is NaN.
            "kappa": metrics.cohen_kappa_score(gold, output) if len({*gold, *output}) > 1 else 0.0,
        }


CHOSEN = {
    "macro-f1 gold": metric("macro-f1", labels="gold"),
    **{name: metric(name) for name in ("accuracy", "micro-f1", "macro-f1", "mcc", "kappa")},
}


@SKLEARN
@settings(max_examples=budget(20), deadline=None)
@given(labels)
def test_any_labels_score_as_by_scikit_learn(rows: list[tuple[str, str, str]]) -> None:
    gold, a, b = (list(column) for column in zip(*rows, strict=True))
    expected = {"a": scikit_learn(gold, a), "b": scikit_learn(gold, b)}
    for name, own in CHOSEN.items():
        for system, found in scores_of(gold, {"a": a, "b": b}, own).items():
            assert found == pytest.approx(expected[system][name], abs=1e-12), name


@SKLEARN
def test_many_labels_can_be_counted() -> None:
    gold = [f"label {i}" for i in range(190)]
    output = [*gold[:95], *reversed(gold[95:])]
    found = {name: scores_of(gold, {"s": output}, own)["s"] for name, own in CHOSEN.items()}
    assert found == pytest.approx(scikit_learn(gold, output), abs=1e-12)


@pytest.mark.parametrize(
    ("gold", "output", "chosen", "expected"),
    [
        # Without o: x 1 of (1, 2), y 1 of (2, 2), z 1 of (1, 1).
        ("xxyyzo", "xyyozo", metric("micro-f1", without="o"), 2 * 3 / (4 + 5)),
        ("xxyyzo", "xyyozo", metric("macro-f1", without="o"), (2 / 3 + 2 / 4 + 1) / 3),
        ("ynyn", "yynn", metric("micro-f1", without="n"), 0.5),  # F1 of two classes, one of which is positive
    ],
)
def test_a_label_can_be_left_out(gold: str, output: str, chosen: Any, expected: float) -> None:
    assert scores_of([*gold], {"s": [*output]}, chosen)["s"] == pytest.approx(expected)


@pytest.fixture(scope="module")
def tagged(golden: Path) -> tuple[dict[str, Any], dict[str, list[str]]]:
    expected = json.loads((golden / "counts/labels/labels.json").read_text(encoding="utf-8"))
    with (golden / "counts/labels/labels.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return expected, {name: [row[name] for row in rows] for name in rows[0]}


@SKLEARN
def test_real_labels_score_as_by_scikit_learn(tagged: tuple[dict[str, Any], dict[str, list[str]]]) -> None:
    expected, columns = tagged
    systems = {name: columns[name] for name in expected["systems"]}
    keys = {"macro-f1": "macro_f1", "macro-f1 gold": "macro_f1_of_labels_in_gold", "micro-f1": "micro_f1"}
    for name, own in CHOSEN.items():
        for system, found in scores_of(columns["gold"], systems, own).items():
            assert found == pytest.approx(expected["systems"][system][keys.get(name, name)], rel=1e-12), name
    nouns = {name: ["NOUN" if tag == "NOUN" else "-" for tag in column] for name, column in columns.items()}
    for system, own in expected["systems"].items():
        for key, chosen in (("f1", metric("micro-f1", without="-")), ("mcc", "mcc")):
            found = scores_of(nouns["gold"], {system: nouns[system]}, chosen)[system]
            assert found == pytest.approx(own["binary_NOUN"][key], rel=1e-12)


def test_the_delta_method_is_the_clustered_standard_error(tagged: tuple[dict[str, Any], dict[str, list[str]]]) -> None:
    """Miller (2024) divides by n; the delta method multiplies the variance by C/(C − 1), as statsmodels corrects it."""
    expected, columns = tagged[0]["clustered_se"], tagged[1]
    systems = {name: columns[name] for name in ("Stanford-18", "TurkuNLP-18")}
    options: dict[str, Any] = {"documents": columns["sentence"], "interval": "delta", "n_resamples": 19}
    result = compare(columns["gold"], systems, "accuracy", **options)
    corrected = math.sqrt(expected["clusters"] / (expected["clusters"] - 1))
    pair = "Stanford-18 - TurkuNLP-18"
    for name, each in {**{name: result.score(name) for name in systems}, pair: result.comparisons[0]}.items():
        low, high = ends(each)
        error = (high - low) / 2 / 1.959963984540054
        assert error == pytest.approx(expected[name]["clustered_se_miller"] * corrected, rel=1e-9)
        if name != pair:
            assert error == pytest.approx(expected[name]["statsmodels_corrected"], rel=1e-9)


@SKLEARN
def test_draws_score_as_the_resampled_labels() -> None:
    """Replicates are scores of sums: the loop of users of scikit-learn, on whole documents."""
    chance = random.Random(5)
    gold = [chance.choice(LABELS) for _ in range(60)]
    output = [g if chance.random() < 0.7 else chance.choice(LABELS) for g in gold]
    counted = {name: counted_texts(own, gold, {"s": output}) for name, own in CHOSEN.items()}
    for _ in range(10):
        drawn = [chance.randrange(60) for _ in range(60)]
        expected = scikit_learn([gold[i] for i in drawn], [output[i] for i in drawn])
        found = {name: float(own.score(own.counts["s"][drawn].sum(axis=0))) for name, own in counted.items()}
        assert found == pytest.approx(expected, abs=1e-12)


# --- Spans


def slow_spans(tags: Sequence[str], strict: bool) -> set[tuple[int, int, str]]:
    """The spans by trying all: a beginning, insides of the same type, and no inside after it."""

    def goes_on(at: int) -> bool:
        """Whether the tag continues the span of the one before."""
        if not 0 < at < len(tags) or tags[at][0] not in "IE" or tags[at - 1][0] not in "BI":
            return False
        return tags[at][2:] == tags[at - 1][2:]

    def begins(at: int) -> bool:
        return tags[at][0] == "B" or (not strict and tags[at][0] != "O" and not goes_on(at))

    return {
        (first, last, tags[first][2:])
        for first in range(len(tags))
        for last in range(first, len(tags))
        if begins(first) and all(goes_on(at) for at in range(first + 1, last + 1)) and not goes_on(last + 1)
    }


@settings(max_examples=budget(200))
@given(st.lists(st.sampled_from(["O", *(f"{letter}-{kind}" for letter in "BIES" for kind in "xy")]), max_size=8))
def test_spans_are_those_of_their_slow_twin(tags: list[str]) -> None:
    found = spans_of(tags)
    assert len(found) == len({*found})
    assert {*found} == slow_spans(tags, False)
    iob = [tag.replace("E-", "I-").replace("S-", "B-") for tag in tags]
    assert {*spans_of(iob, strict=True)} == slow_spans(iob, True)


def sentences(path: Path) -> list[list[str]]:
    """The columns of a file of tags, a sentence per line."""
    blocks = path.read_text(encoding="utf-8").strip("\n").split("\n\n")
    return [
        [" ".join(tags) for tags in zip(*(row.split("\t") for row in block.split("\n")), strict=True)]
        for block in blocks
    ]


@pytest.mark.parametrize(("file", "key"), [("bio.tsv", "spans"), ("broken.tsv", "spans_broken")])
def test_spans_score_as_by_seqeval(
    golden: Path, tagged: tuple[dict[str, Any], dict[str, list[str]]], file: str, key: str
) -> None:
    expected = tagged[0]["systems"]
    gold, *outputs = ([*column] for column in zip(*sentences(golden / "counts/labels" / file), strict=True))
    systems = dict(zip(expected, outputs, strict=True))
    for mode, own in (("default", "default"), ("strict", "strict IOB2")):
        found = score(gold, systems, metric("span-f1", mode=mode)).scores
        for each in found:
            micro = expected[each.system][key][own]["micro"]
            assert [each.details["precision"], each.details["recall"], each.score] == pytest.approx(micro, rel=1e-12)
        for each in score(gold, systems, metric("span-f1", mode=mode, average="macro")).scores:
            known = expected[each.system][key][own]
            assert each.score == pytest.approx(known["macro_f1"], rel=1e-12)
            types = {kind: row["f1-score"] for kind, row in known["report"].items() if not kind.endswith(" avg")}
            assert each.details == pytest.approx(types, rel=1e-12)
    counts = "span_counts_per_sentence" if key == "spans" else "broken_counts_per_sentence"
    for name, rows in counted_texts("span-f1", gold, systems).counts.items():
        assert rows.tolist() == expected[name][counts]


def test_a_tag_per_line_with_sentences_as_documents_is_a_sentence_per_line(golden: Path) -> None:
    columns = dict(zip("gab", zip(*sentences(golden / "counts/labels/broken.tsv"), strict=True), strict=False))
    ids = [i for i, line in enumerate(columns["g"]) for _ in line.split()]
    per_line, per_tag = (
        compare(each["g"], {name: each[name] for name in "ab"}, "span-f1", test="ar", n_resamples=99, documents=own)
        for each, own in ((columns, None), ({name: " ".join(own).split() for name, own in columns.items()}, ids))
    )
    assert [s.score for s in per_tag.scores] == [s.score for s in per_line.scores]
    assert per_tag.comparisons[0].test.pvalue == per_line.comparisons[0].test.pvalue


# --- What all have in common


def data_for(name: str) -> tuple[list[str], dict[str, list[str]]]:
    chance = random.Random(name)
    words = ["B-x I-x O", "O B-y O", "B-x O O", "O O B-y"] if name == "span-f1" else LABELS
    gold = [chance.choice(words) for _ in range(80)]
    shares = {"a": 0.6, "b": 0.9}
    return gold, {
        s: [g if chance.random() < near else chance.choice(words) for g in gold] for s, near in shares.items()
    }


@pytest.mark.parametrize("name", IN_PYTHON)
@pytest.mark.parametrize("test", ["ar", "ar-studentized", "bootstrap-both"])
def test_every_metric_has_tests_intervals_reports_and_files_of_counts(name: str, test: str, tmp_path: Path) -> None:
    gold, systems = data_for(name)
    options: dict[str, Any] = {"test": test, "n_resamples": 199, "interval": "delta"}
    found = compare(gold, systems, name, **options)
    assert found.comparisons[0].test.pvalue < 0.05
    assert found.signature.startswith(f"{IN_PYTHON[name].shown}|nrefs:1|")
    saved = tmp_path / "result.json"
    saved.write_text(render(found, "json"), encoding="utf-8")
    assert reshuffle.read_json(saved) == found
    path = tmp_path / "counts.npz"
    save_counts(path, gold, systems, name)
    assert compare(metrics=open_counts(path), **options) == found


@pytest.mark.parametrize("name", IN_PYTHON)
def test_derivatives_are_those_of_the_formula(name: str) -> None:
    counted = counted_texts(name, *data_for(name))
    totals = counted.counts["a"].sum(axis=0) * 1_000_000
    for i, slope in enumerate(gradient(counted, totals[None, None], totals)):
        step = np.zeros_like(totals)
        step[i] = 1000
        difference = float(counted.score(totals + step)) - float(counted.score(totals - step))
        assert difference / 2000 == pytest.approx(float(slope), rel=1e-4, abs=1e-15)


def test_means_are_means_for_tests_of_segment_scores() -> None:
    gold, systems = data_for("accuracy")
    hits = {name: [float(line == g) for line, g in zip(lines, gold, strict=True)] for name, lines in systems.items()}
    known = compare(metrics=reshuffle.SegmentScores("accuracy", hits), test="wilcoxon", interval="t")
    found = compare(gold, systems, "accuracy", test="wilcoxon", interval="t")
    assert [pair.test.pvalue for pair in found.comparisons] == [pair.test.pvalue for pair in known.comparisons]
    assert found.comparisons[0].confidence_interval == known.comparisons[0].confidence_interval
    # On 0/1 scores approximate randomization is McNemar's exact test.
    from scipy.stats import binomtest

    only = [Counter(zip(hits["a"], hits["b"], strict=True))[pair] for pair in ((1.0, 0.0), (0.0, 1.0))]
    exact = compare(gold, systems, "accuracy", test="ar").comparisons[0].test.pvalue
    assert exact == pytest.approx(binomtest(only[0], sum(only)).pvalue, abs=0.01)


def test_texts_that_cannot_be_counted_are_named() -> None:
    assert_raises("python_errors_of_in_python", globals())


# --- The command line


def test_columns_of_labels_are_compared_on_the_command_line(tmp_path: Path, run: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    gold, systems = data_for("accuracy")
    ids = [str(i // 4) for i in range(80)]
    for name, lines in {"gold": gold, **systems}.items():
        rows = (f"{i}\t{line}\n" for i, line in zip(ids, lines, strict=True))
        Path(f"{name}.tsv").write_text("sentence\ttag\n" + "".join(rows), encoding="utf-8")
    words = "compare gold.tsv#tag a.tsv#tag b.tsv#tag -n 99 --docs sentence --format json -m accuracy".split()
    found = json.loads(run(*words, "macro-f1:labels=gold,without=C").out)
    chosen: list[Any] = ["accuracy", metric("macro-f1", labels="gold", without="C")]
    expected = compare(gold, systems, chosen, documents=ids, n_resamples=99)
    assert found["signature"] == expected.signature
    assert [pair["test"]["pvalue"] for pair in found["comparisons"]] == [p.test.pvalue for p in expected.comparisons]
    # A file of that name comes first.
    Path("sentence").write_text("".join(f"{i}\n" for i in range(80)), encoding="utf-8")
    assert json.loads(run(*words).out)["n_units"] == 80


def test_labels_may_be_integers(tmp_path: Path, run: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    columns = dict(zip(("gold", "a", "b"), np.random.default_rng(1).integers(0, 3, (3, 60)), strict=True))
    texts = {name: [*map(str, own.tolist())] for name, own in columns.items()}
    expected = compare(texts.pop("gold"), texts, ["macro-f1", "mcc"], n_resamples=99)
    gold = columns.pop("gold")
    for kind in (list, np.asarray, lambda own: own.tolist()):
        found = compare(
            kind(gold), {name: kind(own) for name, own in columns.items()}, ["macro-f1", "mcc"], n_resamples=99
        )
        assert found == expected
    rows = [dict(zip(("gold", "a", "b"), row, strict=True)) for row in np.array([gold, *columns.values()]).T.tolist()]
    # JSON lines may be called JSON.
    Path("rows.json").write_text("\n".join(map(json.dumps, rows)) + "\n")
    files = ("rows.json#gold", "rows.json#a", "rows.json#b")
    found = json.loads(run("compare", *files, "-m", "macro-f1", "mcc", "-n", "99", "--format", "json").out)
    assert [pair["test"]["pvalue"] for pair in found["comparisons"]] == [p.test.pvalue for p in expected.comparisons]


def test_lists_of_gold_answers_are_several_references(tmp_path: Path, run: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    golds = [["Paris", "Paris, France"], [], "x", ["1,000"]]
    Path("golds.jsonl").write_text("".join(json.dumps({"answers": g}) + "\n" for g in golds), encoding="utf-8")
    for name, lines in {"a": ["Paris France", "", "x", "1000"], "b": ["Rome", "no", "y x", ""]}.items():
        Path(f"{name}.jsonl").write_text("".join(json.dumps({"answer": line}) + "\n" for line in lines))
    found = json.loads(run("score", "golds.jsonl", "a.jsonl", "b.jsonl", "-m", "exact", "f1", "--format", "json").out)
    assert [each["score"] for each in found["scores"]] == pytest.approx([1, 0, 1, (2 / 3) / 4])
