"""Documents as resampling units: sums by hand, replicates in numpy, and what segments have in common."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reshuffle import (
    FromCounts,
    InputError,
    SegmentScores,
    SignificanceResult,
    _core,
    approximate_randomization,
    bootstrap_interval,
    bootstrap_test,
    compare,
    design_effect,
    intraclass_correlation,
    metric,
    read_corpus,
    score,
)
from reshuffle.data.demo import demo_corpus
from reshuffle.data.reading import read_groups
from reshuffle.metrics.base import Counts
from reshuffle.report import render
from reshuffle.resampling import CountSample
from reshuffle.resampling.units import paired_influence
from reshuffle.types import BootstrapTest
from test_resampling import random_counts
from unnamed import unnamed

BLEU = metric("bleu")


def summed(rows: Counts, ids: Sequence[object]) -> Counts:
    """The summed rows of each document, added one by one."""
    documents: dict[object, Counts] = {}
    for row, id_ in zip(rows, ids, strict=True):
        documents[id_] = documents[id_] + row if id_ in documents else row
    return np.array(list(documents.values()))


IDS = st.lists(st.integers(0, 12), min_size=2, max_size=60).filter(lambda ids: len(set(ids)) > 1)


# --- Tests and intervals


TESTS_OF_COUNTS: list[tuple[Callable[..., SignificanceResult], dict[str, str]]] = [
    (approximate_randomization, {}),
    *((bootstrap_test, {"test": test}) for test in get_args(BootstrapTest)),
]


@given(st.integers(0, 1000), IDS, st.integers(0, 2**64 - 1))
def test_results_for_documents_equal_those_of_their_summed_counts(data_seed: int, ids: list[int], seed: int) -> None:
    a, b = random_counts(data_seed, 2, len(ids))
    x, y = summed(a, ids), summed(b, ids)
    options: dict[str, Any] = {"n_resamples": 30, "seed": seed}
    for test, more in TESTS_OF_COUNTS:
        expected = test(x, y, BLEU, keep_null_distribution=True, **options, **more)
        got = test(a, b, BLEU, documents=ids, keep_null_distribution=True, **options, **more)
        assert replace(expected, signature="") == replace(got, signature="")
        after = "|version:" if expected.seed is None else "|n:"  # signatures of exact tests have no n
        assert expected.signature.replace(after, f"|unit:document[{len(x)}]{after}") == got.signature
        np.testing.assert_array_equal(expected.null_distribution, got.null_distribution)
    by_hand = bootstrap_interval(x, BLEU, **options), bootstrap_interval(x, BLEU, b=y, **options)
    options["documents"] = ids
    assert by_hand == (bootstrap_interval(a, BLEU, **options), bootstrap_interval(a, BLEU, b=b, **options))


@given(st.integers(0, 1000), IDS, st.integers(0, 2**64 - 1))
def test_replicates_equal_those_of_a_slow_twin(data_seed: int, ids: list[int], seed: int) -> None:
    a, b = random_counts(data_seed, 2, len(ids))
    names = list(dict.fromkeys(ids))
    n = 5
    shuffled, drawn = [], []
    for r in range(n):
        values = _core.stream_values(seed, "shuffle", r, 1)
        swapped = {name: bool(int(values[0]) >> i & 1) for i, name in enumerate(names)}
        x = sum(b[s] if swapped[id_] else a[s] for s, id_ in enumerate(ids))
        y = sum(a[s] if swapped[id_] else b[s] for s, id_ in enumerate(ids))
        shuffled.append(float(BLEU.score(x) - BLEU.score(y)))
        times = dict(zip(names, _core.draw_weights(seed, r, len(names)).tolist(), strict=True))
        x = sum(times[id_] * a[s] for s, id_ in enumerate(ids))
        y = sum(times[id_] * b[s] for s, id_ in enumerate(ids))
        drawn.append(float(BLEU.score(x) - BLEU.score(y)))
    options: dict[str, Any] = {"documents": ids, "n_resamples": n, "seed": seed, "keep_null_distribution": True}
    iid = approximate_randomization(a, b, BLEU, scheme="iid", **options)
    np.testing.assert_array_equal(shuffled, iid.null_distribution)
    centred = np.array(drawn) - float(BLEU.score(a.sum(axis=0)) - BLEU.score(b.sum(axis=0)))
    np.testing.assert_array_equal(centred, bootstrap_test(a, b, BLEU, **options).null_distribution)


@given(IDS, st.randoms(use_true_random=False))
def test_results_do_not_depend_on_the_names_or_adjacency_of_documents(ids: list[int], random: Any) -> None:
    a, b = random_counts(3, 2, len(ids))
    expected = approximate_randomization(a, b, BLEU, documents=ids, n_resamples=99)
    # Any order of segments in which the documents begin in the same order.
    first = [ids.index(id_) for id_ in dict.fromkeys(ids)]
    others = [s for s in range(len(ids)) if s not in first]
    random.shuffle(others)
    order = first + others
    for names in (ids, [str(id_) for id_ in ids], [f"talk {id_ % 3}/{id_}" for id_ in ids], np.array(ids)):
        moved = [names[s] for s in order]
        assert expected == approximate_randomization(a[order], b[order], BLEU, documents=moved, n_resamples=99)
    mixed = [str(id_) if i % 2 else id_ for i, id_ in enumerate(ids)]
    assert expected == approximate_randomization(a, b, BLEU, documents=mixed, n_resamples=99)


def test_comparisons_of_documents_equal_those_of_external_summed_counts() -> None:
    corpus = demo_corpus()
    ids = [i // 7 for i in range(corpus.n_segments)]
    counts = BLEU.suff_stats(corpus.references, list(corpus.systems.values()))
    sums = {name: summed(rows, ids) for name, rows in zip(corpus.systems, counts, strict=True)}
    expected = compare(metrics=FromCounts("BLEU", sums, "bleu"), n_resamples=200, all_pairs=True)
    got = compare(corpus.references, corpus.systems, documents=ids, n_resamples=200, all_pairs=True)
    assert [replace(each, n_segments=58) for each in got.scores] == list(expected.scores)  # documents as segments
    for one, other in zip(expected.comparisons, got.comparisons, strict=True):
        assert one.confidence_interval == other.confidence_interval
        assert one.test.pvalue == other.test.pvalue
    by_document = score(corpus.references, corpus.systems, documents=ids, confidence_level=0.9, n_resamples=200)
    assert (by_document.unit, by_document.n_units, by_document.n_segments) == ("document", 58, 400)
    assert "|interval:percentile[0.9]|unit:document[58]|n:200|" in by_document.signature


def test_sums_of_large_documents_of_full_precision_scores_do_not_overflow() -> None:
    rng = np.random.default_rng(1)
    scores = {"a": rng.random(3000), "b": rng.random(3000)}
    ids = [0] * 300 + [1 + i // 5 for i in range(2700)]  # 541 documents of 5 segments, one of 300
    result = compare(metrics=SegmentScores("COMET", scores), documents=ids, test="ar", n_resamples=50)
    assert result.scores[0].score == pytest.approx(scores["a"].mean(), rel=1e-12)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 2], "documents: expected an id for each of 3 segments, got 2"),
        (["x"] * 3, "documents: all 3 segments belong to one document, 'x': at least 2 documents are needed"),
        (["x", "", "y"], "documents, segment 2: expected a string or an integer, got ''"),
        (["x", "y", None], "documents, segment 3: expected a string or an integer, got None"),
        ([True, 1, 2], "documents, segment 1: expected a string or an integer, got True"),
        (
            "abc",
            "documents: expected an id for each segment, got the single string 'abc'; of a data frame, pass the "
            "column itself, as in documents=frame['abc']",
        ),
        (7, "documents: expected an id for each segment, got 7"),
    ],
)
def test_invalid_ids_are_refused_with_a_message(ids: Any, message: str) -> None:
    a, b = random_counts(1, 2, 3)
    texts: dict[str, Any] = {"references": ["x", "y", "z"], "systems": [["x", "y", "y"], ["y", "x", "z"]]}
    calls = (
        lambda: compare(**texts, documents=ids),
        lambda: score(**texts, documents=ids, confidence_level=0.9),
        lambda: approximate_randomization(a, b, BLEU, documents=ids),
        lambda: bootstrap_test(a, b, BLEU, documents=ids),
        lambda: bootstrap_interval(a, BLEU, documents=ids),
        lambda: intraclass_correlation([1, 2, 3], ids),
        lambda: design_effect([1, 2, 3], ids),
    )
    for call in calls:
        with pytest.raises(InputError) as refused:
            call()
        assert str(refused.value) == message


def test_documents_without_intervals_are_refused() -> None:
    with pytest.raises(InputError, match="documents without intervals"):
        score(["x", "y"], [["x", "z"]], documents=[1, 2])


# --- What segments of a document have in common


def textbook_icc(values: Sequence[float], ids: Sequence[object]) -> float:
    """The intraclass correlation by the analysis of variance, step by step."""
    groups: dict[object, list[float]] = {}
    for value, id_ in zip(values, ids, strict=True):
        groups.setdefault(id_, []).append(value)
    n, d = len(values), len(groups)
    grand = sum(values) / n
    ssb = sum(len(g) * (sum(g) / len(g) - grand) ** 2 for g in groups.values())
    ssw = sum((value - sum(g) / len(g)) ** 2 for g in groups.values() for value in g)
    msb, msw = ssb / (d - 1), ssw / (n - d)
    n0 = (n - sum(len(g) ** 2 for g in groups.values()) / n) / (d - 1)
    return (msb - msw) / (msb + (n0 - 1) * msw)


@given(IDS.filter(lambda ids: len(set(ids)) < len(ids)), st.integers(0, 1000), st.floats(-1e6, 1e6))
def test_the_intraclass_correlation_equals_the_textbook_formula(ids: list[int], seed: int, shift: float) -> None:
    values = np.random.default_rng(seed).normal(size=len(ids)) + shift
    expected = textbook_icc(values.tolist(), ids)
    got = intraclass_correlation(values, ids)
    assert expected == pytest.approx(got, abs=1e-6)
    assert intraclass_correlation(3 * values - 1, ids) == pytest.approx(got, abs=1e-6)
    # From the F statistic of SciPy's analysis of variance: MSB/MSW.
    sizes = np.unique(ids, return_counts=True)[1]
    n0 = (len(ids) - (sizes**2).sum() / len(ids)) / (len(sizes) - 1)
    f = scipy.stats.f_oneway(*(values[np.array(ids) == id_] for id_ in set(ids))).statistic
    assert got == pytest.approx((f - 1) / (f + n0 - 1), abs=1e-6)
    weighted = (sizes**2).sum() / sizes.sum()
    assert design_effect(values, ids) == pytest.approx(max(1 + (weighted - 1) * got, 0))


def test_the_intraclass_correlation_of_extreme_data_is_1_or_its_minimum() -> None:
    alone = [1, 2, 3]
    assert math.isnan(intraclass_correlation([5, 6, 7], alone))
    assert design_effect([5, 6, 7], alone) == 1
    same = [0.1] * 4
    assert math.isnan(intraclass_correlation(same, [1, 1, 2, 2]))
    assert math.isnan(design_effect(same, [1, 1, 2, 2]))
    assert intraclass_correlation([0.1, 0.1, 0.3, 0.3], [1, 1, 2, 2]) == pytest.approx(1)
    assert design_effect([0.1, 0.1, 0.3, 0.3], [1, 1, 2, 2]) == pytest.approx(2)
    # Opposite values in every document: as negatively correlated as possible.
    assert intraclass_correlation([-1, 1, 1, -1], [1, 1, 2, 2]) == pytest.approx(-1)
    assert design_effect([-1, 1, 1, -1], [1, 1, 2, 2]) == pytest.approx(0)
    # 1 + 4 * -0.5 would be a negative variance.
    assert intraclass_correlation([-1, 1] * 4, [1] * 2 + [2] * 6) == pytest.approx(-0.5)
    assert design_effect([-1, 1] * 4, [1] * 2 + [2] * 6) == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], r"values: expected a number for each segment, got shape \(0,\)"),
        ([1, math.inf, 3], "values, segment 2: expected a finite number, got inf"),
        (["a", "b", "c"], "values: expected a number for each segment: could not convert"),
    ],
)
def test_invalid_values_are_refused_with_a_message(values: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        intraclass_correlation(values, [1, 2, 2])


def influences_by_hand(a: Counts, b: Counts) -> NDArray[np.float64]:
    """Jackknife influences of the difference, leaving out each segment in turn."""
    out = []
    for s in range(len(a)):
        of_a, of_b = (
            float(BLEU.score(x.sum(axis=0)) - BLEU.score(np.delete(x, s, axis=0).sum(axis=0))) for x in (a, b)
        )
        out.append((len(a) - 1) * (of_a - of_b))
    return np.array(out)


def test_paired_differences_are_jackknife_influences() -> None:
    counts = random_counts(7, 2, 40)
    sample = CountSample.from_counts(BLEU, counts)
    got = paired_influence(sample.scores, sample.leave_one_out, 0, 1)
    np.testing.assert_allclose(influences_by_hand(*counts), got, rtol=0, atol=1e-9)
    ids = [i // 6 for i in range(40)]
    result = compare(metrics=FromCounts("m", {"b": counts[1], "a": counts[0]}, "bleu"), documents=ids, n_resamples=9)
    assert result.comparisons[0].intraclass_correlation == pytest.approx(textbook_icc(got.tolist(), ids))


def test_differences_due_to_rounding_are_0() -> None:
    scores = np.random.default_rng(9).random(50)
    shifted = {"a": np.round(scores, 3), "b": np.round(scores, 3) + 1}
    pair = compare(metrics=SegmentScores("m", shifted), documents=[i // 5 for i in range(50)], n_resamples=9)
    assert (pair.comparisons[0].intraclass_correlation, pair.comparisons[0].design_effect) == (None, None)


# --- Reports


def test_results_have_the_unit_and_the_intraclass_correlation() -> None:
    corpus = demo_corpus()
    result = compare(corpus.references, corpus.systems, documents=[i // 8 for i in range(400)], n_resamples=99)
    assert "|unit:document[50]|" in result.signature
    document = json.loads(render(result, "json"))
    assert (document["n_segments"], document["unit"], document["n_units"]) == (400, "document", 50)
    rows = csv.DictReader(io.StringIO(render(result, "csv")))
    for row, got, pair in zip(rows, document["comparisons"], result.comparisons, strict=True):
        assert (row["unit"], row["n_units"]) == ("document", "50")
        for name in ("intraclass_correlation", "design_effect"):
            assert float(row[name]) == got[name] == getattr(pair, name)


# --- Files and the command line


@pytest.fixture
def demo(demo: Path) -> Path:
    """The demo's files in the current directory, with the ids of the segments' documents in every format."""
    ids = [i * i % 23 for i in range(400)]
    Path("docs.txt").write_text("".join(f"{id_}\n" for id_ in ids))
    Path("docs.tsv").write_text("id\tdoc\n" + "".join(f"{i}\t{id_}\n" for i, id_ in enumerate(ids)))
    Path("docs.jsonl").write_text("".join(json.dumps({"doc": id_, "i": i}) + "\n" for i, id_ in enumerate(ids)))
    Path("bare.jsonl").write_text("".join(f'"{id_}"\n' for id_ in ids))
    segments = "".join(f'<DOC docid="{id_}" sysid="x"><seg id="{i}">x</seg></DOC>\n' for i, id_ in enumerate(ids))
    Path("docs.sgm").write_text(f"<tstset>\n{segments}</tstset>\n")
    return demo


COMPARE = ("compare", "reference.txt", "baseline.txt", "tuned.txt", "-n", "200")
FILES = ["docs.txt", "docs.tsv#doc", "docs.jsonl#doc", "bare.jsonl", "docs.sgm"]


def test_every_file_format_of_ids_gives_the_comparison_of_the_api(demo: Path, run: Any) -> None:
    ids = [i * i % 23 for i in range(400)]
    corpus = read_corpus(["reference.txt"], ["baseline.txt", "tuned.txt"])
    expected = render(
        compare(corpus.references, corpus.systems, documents=ids, n_resamples=200, include="parts"), "json"
    )
    for path in FILES:
        assert expected == unnamed(run(*COMPARE, "--docs", path, "--format", "json").out)
        assert [str(id_) for id_ in ids] == read_groups("document", path)[0]
        assert [str(id_) for id_ in ids] == read_corpus(["reference.txt"], ["tuned.txt"], documents=path).documents
    interval = score(corpus.references, corpus.systems, documents=ids, confidence_level=0.9, n_resamples=200)
    command = ("score", *COMPARE[1:], "--confidence", "0.9", "--format", "json")
    assert render(interval, "json") == unnamed(run(*command, "--docs", "docs.txt").out)


def test_ids_can_be_in_the_table_of_the_texts_or_in_standard_input(
    demo: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = [
        Path(f"{name}.txt").read_text("utf-8").splitlines() for name in ("reference", "baseline", "tuned", "docs")
    ]
    rows = [("ref", "baseline", "tuned", "doc"), *zip(*columns, strict=True)]
    table = "".join("\t".join(row) + "\n" for row in rows)
    Path("all.tsv").write_text(table, "utf-8")
    expected = run(*COMPARE, "--docs", "docs.txt").out
    named = [f"all.tsv#{name}" for name in ("ref", "baseline", "tuned")]
    piped = ["-#ref", "-#baseline", "-#tuned", "--docs", "-#doc", "--input-format", "tsv"]
    ids = Path("docs.txt").read_bytes()
    for args, standard_input in (
        ([*named, "--docs", "all.tsv#doc"], b""),
        (piped, table.encode()),
        ([*COMPARE[1:4], "--docs", "-"], ids),
        # --input-format applies to the texts only.
        ([*named, "--input-format", "tsv", "--docs", "docs.txt"], b""),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(standard_input)))
        assert expected == run("compare", "-n", "200", *args).out


def test_documents_of_an_mteval_file_can_have_any_order(demo: Path, run: Any) -> None:
    ids = Path("docs.txt").read_text().split()
    keys = [f'docid="{id_}"><seg id="{i}">' for i, id_ in enumerate(ids)]
    for kind, name in (("ref", "reference"), ("tst", "baseline"), ("tst", "tuned")):
        lines = Path(f"{name}.txt").read_text("utf-8").splitlines()
        segments = [f'<doc sysid="{name}" {key}{line}</seg></doc>\n' for key, line in zip(keys, lines, strict=True)]
        Path(f"{name}.sgm").write_text(f"<{kind}set>{''.join(segments)}</{kind}set>", "utf-8")
    backwards = [f'<doc sysid="x" {key}x</seg></doc>\n' for key in reversed(keys)]
    Path("backwards.sgm").write_text(f"<refset>{''.join(backwards)}</refset>")
    expected = run(*COMPARE, "--docs", "docs.txt").out
    files = ("reference.sgm", "baseline.sgm", "tuned.sgm", "-n", "200")
    for path in ("reference.sgm", "backwards.sgm", "docs.txt"):
        assert expected == run("compare", *files, "--docs", path).out
    Path("fewer.sgm").write_text(f"<refset>{''.join(backwards[1:])}</refset>")
    outcome = run("compare", *files, "--docs", "fewer.sgm")
    assert outcome.code == 2
    assert (
        f"fewer.sgm lacks segment '399' of the document '{ids[-1]}', which is in reference.sgm, line 400" in outcome.err
    )


BAD = {
    "too few": ("short.txt", "short.txt has document ids for 3 segments, but reference.txt has 400"),
    "one document": ("one.txt", "documents: all 400 segments belong to one document, 'x': at least 2"),
    "empty line": ("gap.txt", "gap.txt, line 7: expected the id of a document, got ''"),
    "null": ("null.jsonl#doc", "null.jsonl#doc, line 2: expected the id of a document, got null"),
    "a real number": ("real.jsonl#doc", "real.jsonl#doc, line 2: expected the id of a document, got the number 1.5"),
    "empty file": ("empty.txt", "empty.txt is empty: expected one segment per line"),
    "parses": ("p.conllu", "p.conllu: CoNLL-U has no ids of documents: use a text, TSV"),
    "no name": ("", "expected a file name, got an empty one"),
}


@pytest.mark.parametrize(("path", "message"), BAD.values(), ids=BAD.keys())
def test_invalid_ids_in_files_are_refused_with_file_and_line(demo: Path, run: Any, path: str, message: str) -> None:
    ids = Path("docs.txt").read_text().splitlines()
    for name, content in {
        "short.txt": "1\n2\n3\n",
        "one.txt": "x\n" * 400,
        "gap.txt": "\n".join([*ids[:6], "", *ids[7:], ""]),
        "gap.tsv": "x\tdoc\n1\ta\n2\t \n",
        "null.jsonl": '{"doc": 1}\n{"doc": null}\n',
        "real.jsonl": '{"doc": 1}\n{"doc": 1.5}\n',
        "true.jsonl": "true\n" * 400,
        "empty.txt": "",
        "p.conllu": "# nothing\n\n",
    }.items():
        Path(name).write_text(content)
    assert message in run(*COMPARE, "--docs", path).refusal()


def test_files_of_ids_are_checked_like_other_inputs(demo: Path, run: Any) -> None:
    for words, message in (
        ((*COMPARE, "--docs", "docs.txt", "-o", "./docs.txt"), "./docs.txt is also an input"),
        (("compare", "reference.txt", "-", "tuned.txt", "--docs", "-"), "standard input (-) can supply only one text"),
        (("score", "reference.txt", "tuned.txt", "--docs", "docs.txt"), "--docs without --confidence"),
    ):
        assert message in run(*words).refusal()
    outcome = run("score", "reference.txt", "tuned.txt", "--docs", "docs.txt", "--segments")
    assert (outcome.code, outcome.out.startswith("document\tsystem\tBLEU\n")) == (0, True)
