"""Results as JSON: ``read_json`` gives back what was written, and refuses what it cannot read."""

import base64
import contextlib
import gzip
import io
import json
import math
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from attrs import evolve

import reshuffle
from margins import with_margins
from mutations import crashes
from reshuffle import AR, InputError, SegmentScores, compare, derive_seed, read_html, read_json, score, types
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.intervals import INTERVALS
from reshuffle.inference.tests import TESTS
from reshuffle.options.choices import WithMargin
from reshuffle.report import render
from reshuffle.report.schema import schemas
from reshuffle.results import RankedSystem, Ranking, SetComparison
from schemas import SCHEMAS, validator
from told import assert_raises

SEGMENTS = 14
RNG = np.random.default_rng(7)
# A name may look like a number that JSON does not have, or need escapes.
NAMES = ("NaN", 'b "quoted" \\ \u2028 é', "Infinity", "d|*_")
TEXT = "the cat sat on the mat while a dog barked at the moon and it rained all day long".split()
REFERENCES = [" ".join(RNG.choice(TEXT, 8)) for _ in range(SEGMENTS)]
SYSTEMS = {
    name: [" ".join(RNG.permutation(line.split())[: 8 - i] if i else line.split()[::-1]) for line in REFERENCES]
    for i, name in enumerate(NAMES)
}


def length_ratio(hypotheses: list[str], references: list[list[str | None]]) -> float:
    return sum(map(len, hypotheses)) / sum(len(line or "") for line in references[0])


@cache
def metrics() -> Mapping[str, Any]:
    ratings = {name: RNG.integers(0, 50, SEGMENTS).astype(float) for name in NAMES}
    some = {name: np.where(RNG.random(SEGMENTS) < 0.2, np.nan, row) for name, row in ratings.items()}
    counts = {name: RNG.integers(1, 9, (SEGMENTS, 3)) for name in NAMES}
    return {
        "bleu": "bleu",
        "chrf": "chrf",
        "rating": SegmentScores("rating", ratings),
        "some missing": SegmentScores("NaN", some, missing="pairwise", higher_is_better=False),
        "counts": reshuffle.FromCounts("F", counts, reshuffle.f_score),
        "function": reshuffle.CorpusFunction("length", length_ratio),
    }


EVERY = [
    *({"test": with_margins(test, "rating")} for test in TESTS),
    *({"test": "ar", "adjust": name} for name in get_args(types.Adjustment) if name not in ("tukey", "scheffe")),
    *({"test": "anova", "adjust": name} for name in ("tukey", "scheffe")),
    *(
        {"interval": name, "test": INTERVALS[name].inverts or "ar-studentized", "adjust": "none"}
        for name in get_args(types.Interval)
    ),
    *({"test": AR(scheme=name)} for name in get_args(types.Scheme)),
    *(
        {"test": AR(stopping=rule), "adjust": "holm"}
        for rule in (reshuffle.BesagClifford(2), reshuffle.BesagClifford(60))
    ),
    *({"test": AR(studentized=True, stopping=reshuffle.Gandy(level)), "alpha": level} for level in (0.05, 0.3)),
    {"interval": "simultaneous", "family": "all"},
]


def assert_read_back(comparison: reshuffle.Comparison) -> None:
    written = render(comparison, "json")
    read = read_json(written)
    assert read == comparison
    assert written == render(read, "json")
    assert render(comparison) == render(read)
    assert (type(comparison.seed), repr(comparison)) == (type(read.seed), repr(read))
    for ours, theirs in zip(comparison.comparisons, read.comparisons, strict=True):
        assert type(ours.test.seed) is type(theirs.test.seed)
        assert ours.test.pvalue_interval == theirs.test.pvalue_interval


@pytest.mark.parametrize("options", EVERY, ids=str)
def test_the_result_of_every_test_adjustment_interval_and_rule_is_read_back(options: dict[str, Any]) -> None:
    rating, some_missing = (metrics()[name] for name in ("rating", "some missing"))
    arguments: dict[str, Any] = {"n_resamples": 99, "all_pairs": True, **options}
    assert_read_back(compare(metrics=rating, **arguments))
    with contextlib.suppress(InputError):  # some are not for documents, or not for missing scores
        test, both = arguments.get("test"), dict(arguments)
        if isinstance(test, WithMargin):
            both["test"] = evolve(test, margins={"rating": 0.1, "NaN": 0.1})
        assert_read_back(compare(metrics=[rating, some_missing], documents=[i // 2 for i in range(SEGMENTS)], **both))


@pytest.mark.parametrize("test", ["ar", "bootstrap"])
def test_the_result_of_every_kind_of_metric_is_read_back(test: str) -> None:
    seed = derive_seed(derive_seed(5, "run", 1), "test-set", 2)
    options: dict[str, Any] = {"strata": [i // 8 for i in range(SEGMENTS)], "seed": seed, "confidence_level": 0.9999}
    texts = REFERENCES, SYSTEMS, [*metrics().values()]
    result = compare(*texts, test=test, alternative="worse", include="texts", n_resamples=30, **options)
    assert_read_back(result)
    assert_read_back(score(*texts, interval="percentile", n_resamples=30, **options))
    page = result.render("html")  # in which pairs are packed
    assert read_html(page) == result
    assert not {"pvalue_interval", "exact_by"} & {*re.findall(r'"(\w+)":', page)}  # which follow from the others
    assert test == "ar" or not crashes(render(result, "json"), 60)


# --- Values that comparisons rarely have


@cache
def rare() -> reshuffle.Comparison:
    """A comparison in which every number that can be infinite or undefined is."""
    base = compare(REFERENCES, SYSTEMS, ["bleu", "ter"], all_pairs=True, test="ar", n_resamples=30)
    first, *others = base.comparisons
    interval = replace(base.scores[0].confidence_interval, low=-math.inf, high=math.inf)  # type: ignore[type-var]
    test = replace(
        first.test,
        standard_error=math.inf,
        pvalue=math.nan,
        seed=reshuffle.DerivedSeed(2**64 - 1, "1>run[0]"),
        caveats=(reshuffle.Caveat("approximate", {"metric": "NaN", "values": (math.inf, "Infinity", 1, True)}),),
    )
    pair = replace(
        first,
        test=test,
        confidence_interval=interval,
        intraclass_correlation=math.nan,
        design_effect=math.inf,
        exchangeability=reshuffle.results.Exchangeability(math.inf, True),
        influence=reshuffle.results.Influence(3, math.inf, -math.inf),
        brevity=reshuffle.results.Brevity(math.nan, -math.inf, 0.5, None),
    )
    odd = replace(base.scores[0], score=math.nan, confidence_interval=interval, details={"bp": -math.inf, "n": 3})
    ranked = tuple(RankedSystem(name, i, 1, 4, 1, "ab", math.nan) for i, name in enumerate(NAMES, 1))
    ranking = Ranking("TER", ranked, (NAMES[:2], NAMES[2:]), NAMES[:1], NAMES, True)
    caveat = reshuffle.Caveat("not-exchangeable", {"system": "Infinity", "baseline": "NaN", "ratio": math.inf})
    return replace(
        base,
        comparisons=(pair, *others),
        scores=(odd, *base.scores[1:]),
        caveats=(caveat, *base.caveats),
        seed=derive_seed(1, "run", 3),
        rankings=(ranking, replace(ranking, groups=None, mcb_best=None)),
        detectable=(reshuffle.results.DetectableDifference("TER", 1.5, 0.5, math.inf, 0.8, 0.001),),
    )


def plain(value: Any) -> Any:
    """A value in which equal numbers are equal, NaN too."""
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__, [plain(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, reshuffle.DerivedSeed):
        return int(value), value.derivation
    return [*map(plain, value)] if isinstance(value, list | tuple) else repr(value)


def test_numbers_that_json_does_not_have_are_written_as_strings() -> None:
    comparison = rare()
    written = render(comparison, "json")
    document = json.loads(written, parse_constant=pytest.fail)
    pair, score = document["comparisons"][0], document["scores"][0]
    test = pair["test"]
    assert test["standard_error"] == pair["design_effect"] == pair["exchangeability"]["ratio"] == "Infinity"
    assert (test["pvalue"], pair["confidence_interval"]["low"]) == ("NaN", "-Infinity")
    assert (test["seed"], test["seed_derivation"]) == (2**64 - 1, "1>run[0]")
    assert (score["score"], score["details"]["bp"]) == ("NaN", "-Infinity")
    # The values of caveats have any type, so that a string may be a name.
    assert test["caveats"][0]["values"] == {"metric": "NaN", "values": [{"number": "Infinity"}, "Infinity", 1, True]}
    assert plain(read_json(written)) == plain(comparison)


# --- The schemas


def test_the_committed_schemas_are_those_of_the_records() -> None:
    found = {path.name: json.loads(path.read_text("utf-8")) for path in SCHEMAS.iterdir()}
    assert found == schemas(), "run python -m reshuffle.report.schema docs/schema"


def documents() -> list[Any]:
    """Documents with every key that a comparison can have."""
    some, corpus = metrics()["some missing"], demo_corpus()
    winners = ["model_a", "model_b", "tie"] * 20
    rated = reshuffle.VoteTable.from_columns(
        ["a", "b"] * 30, ["b", "a"] * 30, winners, judge=[i // 2 for i in range(60)]
    )
    file = reshuffle.results.InputFile("a.txt", 3, "f0")
    many = [
        rare(),
        compare(REFERENCES, SYSTEMS, metrics()["function"], n_resamples=9, test="ar"),
        compare(metrics=metrics()["rating"], test="equivalence:rating=1", n_resamples=9),
        compare(metrics=some, strata=[i // 8 for i in range(SEGMENTS)], n_resamples=9, all_pairs=True),
        compare(metrics=metrics()["rating"], test=AR(stopping=reshuffle.BesagClifford(3)), all_pairs=True),
        compare(REFERENCES, SYSTEMS, "bleu", documents=[i // 2 for i in range(SEGMENTS)], n_resamples=9),
        replace(
            score(REFERENCES, SYSTEMS),
            averaged_over=("news", "talks"),
            inputs=(file,),
        ),
        compare(REFERENCES, SYSTEMS, ["bleu", some], n_resamples=9, include="texts"),
        compare(corpus.references, corpus.systems, n_resamples=99, include="parts"),
        compare(REFERENCES, SYSTEMS, "asr-wer", documents=[i // 2 for i in range(SEGMENTS)], n_resamples=9),
        reshuffle.votes(rated, position=True, n_resamples=19),
    ]
    return [json.loads(render(comparison, "json")) for comparison in many]


def test_documents_follow_the_schemas() -> None:
    names = ("comparison-2", "sets-2", "flips-2")
    comparison, sets, flipped = map(validator, names)
    found = reshuffle.flips(REFERENCES, SYSTEMS, system=NAMES[0], baseline=NAMES[1], threshold=20)
    flipped.validate(json.loads(found.render("json")))
    for document in documents():
        comparison.validate(document)
    one, two = rare(), score(REFERENCES, SYSTEMS)
    for average in (None, one):
        sets.validate(json.loads(render(SetComparison({"a": one, "b": two}, average, (), "s", "1"), "json")))
    for broken in (without("systems"), having("comparisons", 0, "test", "pvalue", "0.1"), having("schema", "x")):
        assert not comparison.is_valid(json.loads(broken))


# --- Where results are read from


def test_a_path_a_file_and_a_string_of_json_are_read(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    comparison = rare()
    written = render(comparison, "json")
    path = tmp_path / "result.json"
    path.write_text(written, "utf-8")
    (tmp_path / "result.json.gz").write_bytes(gzip.compress(written.encode()))
    (tmp_path / "bom.json").write_bytes(b"\xef\xbb\xbf" + written.encode())
    sources: list[Any] = [path, str(path), tmp_path / "result.json.gz", tmp_path / "bom.json", written, f" \n{written}"]
    sources += [io.StringIO(written), io.BytesIO(written.encode())]
    for source in sources:
        assert plain(comparison) == plain(read_json(source)), source
    with path.open(encoding="utf-8") as file:
        assert plain(comparison) == plain(read_json(file))


def put(document: Any, *path: Any) -> str:
    """A document with the last step of the path as the value at the steps before."""
    inner = document
    *steps, last, value = path
    for step in steps:
        inner = inner[step]
    inner[last] = value
    return json.dumps(document)


def having(*path: Any) -> str:
    return put(json.loads(render(rare(), "json")), *path)


def without(*path: Any) -> str:
    document = inner = json.loads(render(rare(), "json"))
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return json.dumps(document)


def of_sets(*path: Any) -> str:
    """Two test sets, as ``having``."""
    both = dict.fromkeys(("news", "talks"), (REFERENCES, SYSTEMS))
    return put(json.loads(reshuffle.compare_sets(both, n_resamples=9).render("json")), *path)


def other(metric: str, n_systems: int) -> Any:
    """The comparison of other metrics or systems."""
    systems = {name: SYSTEMS[name] for name in NAMES[:n_systems]}
    return json.loads(compare(REFERENCES, systems, metric, n_resamples=9).render("json"))


def nested(depth: int) -> dict[str, Any]:
    return {"a": nested(depth - 1)} if depth else {}


TEST = ("comparisons", 3, "test")


def reported(text: str) -> str:
    """The report of a result."""
    result: Any = read_json(text)
    return str(result.render() + result.methods_sentence())


def test_damaged_and_strange_json_is_refused_with_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in files and pages, and also if only reports notice it: other versions could have written that."""
    read_html(packed_texts(lambda texts: texts))
    comparison = compare(metrics=SegmentScores("rating", {"a": [1, 2, 3], "b": [2, 3, 5]}), n_resamples=99)
    page = comparison.render("html")
    assert read_json(page) == comparison == read_html(page)
    monkeypatch.chdir(tmp_path)
    for name, content in (("latin", b'{"a": "\xe9"}'), ("empty", b""), ("old", without("version").encode())):
        Path(f"{name}.json").write_bytes(content)
    end = page.index("</script>", page.index('id="result"'))
    assert_raises("python_errors_of_saved", globals() | {"page": page, "end": end})


@pytest.mark.parametrize("text", ["{" * 100_000, '{"a": 1' + "0" * 5000 + "}"])
def test_json_that_pythons_refuse_in_their_own_words_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^JSON(, line 1)?: expected the JSON of a result"):
        read_json(text)


def test_details_that_some_systems_lack_are_not_shown() -> None:
    document = json.loads(score(REFERENCES, SYSTEMS).render("json"))
    del document["scores"][1]["details"]["bp"]
    header = read_json(json.dumps(document)).render().splitlines()[2].split()
    assert header == ["System", "BLEU", "prec_1", "prec_2", "prec_3", "prec_4", "ratio", "hyp_len"]


# --- Several test sets


def test_test_sets_are_read_back() -> None:
    two = rare()
    one = replace(two, signature="another", version="0.2", n_resamples=None, alpha=0.5)
    for average in (None, one):
        sets = SetComparison({"news": one, 'the "talks"': two}, average, ("left out",), "signature", "0.1")
        written = render(sets, "json")
        read: Any = read_json(written)
        assert plain(read) == plain(sets)
        assert list(read.sets) == list(sets.sets)
        assert written == render(read, "json")


def packed_texts(change: Callable[[Any], Any]) -> str:
    """A page whose packed texts have been changed."""
    page = compare(REFERENCES, SYSTEMS, n_resamples=9, include="texts").render("html")
    (packed,) = re.findall(r'"texts": \{"deflate": ?"([^"]*)"', page)
    texts = change(json.loads(zlib.decompress(base64.b64decode(packed))))
    whole = texts if isinstance(texts, bytes) else zlib.compress(json.dumps(texts).encode())
    return page.replace(packed, base64.b64encode(whole).decode())
