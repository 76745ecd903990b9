"""The paragraph for a paper and its BibTeX: they name everything that was used, and cite a paper for it."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reshuffle
from known import known
from margins import WITH_MARGIN, with_margins
from reshuffle import (
    AR,
    BesagClifford,
    Comparison,
    CorpusFunction,
    Gandy,
    InputError,
    SegmentScores,
    SetComparison,
    TestSet,
    compare,
    compare_sets,
    derive_seed,
    score,
)
from reshuffle.data.demo import demo_corpus
from reshuffle.inference.intervals import INTERVALS
from reshuffle.inference.multiplicity import ADJUSTMENTS
from reshuffle.inference.tests import TESTS
from reshuffle.meta.coefficients import COEFFICIENTS
from reshuffle.meta.coefficients import TESTS as META_TESTS
from reshuffle.metrics.in_python import every_spec
from reshuffle.report import Layout, render
from reshuffle.report.methods import STOPPING_RULES
from reshuffle.report.sources import cited, entries_of, papers
from reshuffle.report.words import words
from reshuffle.resampling.stopping import STOPPING
from reshuffle.results import GateTask, LargestResidual, Trend, VoteFit
from told import assert_told, beyond_the_first

CORPUS = demo_corpus()
REFERENCES = list(CORPUS.references[0][:60])
SYSTEMS = {name: list(lines[:60]) for name, lines in CORPUS.systems.items()}
NOISE = {name: np.random.default_rng(i).normal(size=60).tolist() for i, name in enumerate("abc")}
RATINGS = SegmentScores("rating", {name: np.random.default_rng(i).integers(0, 9, 60) for i, name in enumerate(SYSTEMS)})


def test_every_source_in_the_registries_has_an_entry() -> None:
    registries = (TESTS, ADJUSTMENTS, INTERVALS, COEFFICIENTS, META_TESTS)
    registered = {entry.source for registry in registries for entry in registry.values()}
    registered |= {spec.source for spec in every_spec()} | {*STOPPING_RULES.values()}
    for source in registered - {""}:
        names = entries_of(source)
        assert len(names) == len(source.split("; "))
        for name in names:
            assert name in source
            assert papers()[name].bibtex.startswith("@")
    assert not re.search(r"[^\\]&", "".join(paper.bibtex for paper in papers().values()))  # which ends a cell in LaTeX
    for name, about in words("runs")["adjustment"].items():
        assert about["title"] == ADJUSTMENTS[name].title
        assert entries_of(about["source"]) == entries_of(ADJUSTMENTS[name].source)
    assert set(STOPPING) == set(STOPPING_RULES)
    for name, rule in STOPPING.items():
        assert STOPPING_RULES[name] in (rule.__doc__ or "")
    for source in ("W99-9999", "W05-09081", "Holm 1979; Nobody 2000"):
        with pytest.raises(InputError):
            entries_of(source)


def test_entries_are_valid_bibtex_under_keys_of_their_own() -> None:
    assert len({paper.key for paper in papers().values()}) == len(papers())
    required = {"article": "journal", "inproceedings": "booktitle", "book": "publisher", "unpublished": "note"}
    for name, paper in papers().items():
        text = paper.bibtex
        found = known(re.fullmatch(r"@(\w+)\{([a-z\d-]+),\n((?:  \w+ += \{.*\},\n)+)\}\n", text))
        assert text.isascii()
        assert text.count("{") == text.count("}")
        fields = dict(re.findall(r"^  (\w+) += \{(.*)\},$", found[3], re.MULTILINE))
        assert {"author", "title", "year", required[found[1]]} <= set(fields)
        if name.startswith("doi:"):
            assert fields["doi"] == name.removeprefix("doi:")
        if re.match(r"[A-Z]\d\d-\d{4}$|\d{4}\.", name):
            assert fields["url"].endswith(name)
        authors, _, year = paper.cited.rpartition(", ")
        assert fields["year"] == year
        assert year in paper.key
        # The citation and the key begin with the first author of the entry.
        plain = re.sub(r"\{\\.\{?(\w)\}\}?", r"\1", fields["author"]).strip("{").casefold()
        cited_author = unicodedata.normalize("NFKD", authors).encode("ascii", "ignore").decode().casefold()
        assert plain.startswith(cited_author.split()[0])
        assert paper.key.startswith(f"{cited_author.split()[0]}-")


CASES: list[dict[str, Any]] = [
    *({"test": with_margins(test, "rating")} for test in TESTS),
    *({"test": "ar", "adjust": name} for name in ADJUSTMENTS if name not in ("tukey", "scheffe")),
    *({"test": "anova", "adjust": name} for name in ("tukey", "scheffe")),
    *(
        {"test": INTERVALS[name].inverts or "ar-studentized", "interval": name}
        for name in INTERVALS
        if name != "studentized"
    ),
    {"test": AR(stopping=BesagClifford(5))},
    {"test": AR(stopping=Gandy(0.05))},
    {"test": "ar:scheme=subgroup", "adjust": "none"},
    {"test": "ar", "all_pairs": True},
]


@pytest.mark.parametrize("options", CASES, ids=str)
def test_the_paragraph_names_and_cites_what_was_used(options: dict[str, Any]) -> None:
    comparison = compare(metrics=RATINGS, n_resamples=200, seed=77, **options)
    text, entries = comparison.methods_sentence(), comparison.bibtex()
    used = known(comparison.test)
    expected = [TESTS[used.name].source]
    if used.adjustment is not None:
        assert f"{used.adjustment_title} (" in text
        assert f"controls the {used.adjustment_rate} at 0.05" in text
        expected.append(ADJUSTMENTS[used.adjustment].source)
    if comparison.interval is not None:
        expected.append(INTERVALS[comparison.interval.name].source)
    if isinstance(options["test"], AR) and options["test"].stopping is not None:
        expected.append(STOPPING_RULES[comparison.comparisons[0].test.stopping.rule])  # type: ignore[union-attr]
    if options.get("all_pairs"):
        assert comparison.rankings
        expected += ["doi:10.1093/restud/rdad006", "doi:10.1198/1061860043515"]
    for source in expected:
        assert f"({cited(source)})" in text
    for name in dict.fromkeys(name for source in expected for name in entries_of(source)):
        assert papers()[name].bibtex in entries
    # No entry is without its citation.
    keys = re.findall(r"^@\w+\{(.*),$", entries, re.MULTILINE)
    by_key = {paper.key: paper for paper in papers().values()}
    assert keys
    assert all(by_key[key].cited in text for key in keys)
    random = used.replicates is not None and any(p.test.seed is not None for p in comparison.comparisons)
    assert ("seed 77" in text) == random
    assert text.endswith(f"with reshuffle {comparison.version}; signature: {comparison.signature}.")
    assert f"{used.alternative}" in text


# A share of replicates: its factor, the name of the count, and the number of replicates.
SHARE = re.compile(r"(2?)\(([cb][₁₂]?) \+ 1\)/\(([Rn]) \+ 1\)|([cb])/([Rn])\b")


def compared_by(test: str, **options: Any) -> Comparison:
    """Systems compared with a baseline by a test."""
    chosen: dict[str, Any] = {"n_resamples": 200, "seed": 77, "interval": None} | options
    return compare(metrics=RATINGS, test=with_margins(test, "rating"), **chosen)


def on_pvalues(text: str) -> tuple[str, str]:
    """What a paragraph says of the test and of p, and of adjusted p-values."""
    start = text.index("were tested by")
    end = known(re.search(r"The p-values were adjusted by|A difference is called|Systems are called", text))
    adjusted = re.search(r"(?:The|For the) adjusted p-value.*?\.(?= [A-Z]|$)", text)
    return text[start : end.start()], "" if adjusted is None else adjusted[0]


def check_symbols(sentences: str) -> None:
    """Every symbol of a formula is defined once, and no other symbol is."""
    used = {symbol for found in SHARE.finditer(sentences) for symbol in (found[2] or found[4], found[3] or found[5])}
    defined = [*re.findall(r"where ([cb][₁₂]?) is the number of \w", sentences), *re.findall(r"\b(R) = ", sentences)]
    defined += re.findall(r"and ([Rn]) that of all", sentences)
    assert sorted(set(defined)) == sorted(defined)
    assert {*defined} - {"R"} == used - {"R"}
    assert "R" in defined or "R" not in used


def check_pvalues(comparison: Comparison) -> None:
    """What the paragraph says of p, against the record of every pair."""
    used = known(comparison.test)
    tested, adjusted = on_pvalues(comparison.methods_sentence())
    shares = list(SHARE.finditer(tested))
    assert bool(shares) == (used.replicates is not None)
    check_symbols(tested)
    if used.replicates is None:  # in closed form
        assert not re.search(r"shuffl|draw|permut|seed|\bR\b|\bc\b", tested)
        assert all(pair.test.n_resamples is None for pair in comparison.comparisons)
    else:
        assert re.findall(r"R = ([\d,]+) (\w+) of segments", tested) == [
            (f"{comparison.n_resamples:,}", used.replicates)
        ]
        assert f"seed {comparison.seed}" in tested
    for pair in comparison.comparisons:
        if shares:
            # The percentile bootstrap decides where the record says that its tails were doubled.
            share = next(found for found in shares if (found[1] == "2") == (pair.test.tails == 2))
            c, n = pair.test.exceedances, pair.test.n_resamples
            assert pair.test.pvalue == pytest.approx(min(1, int(share[1] or 1) * (c + 1) / (n + 1)))
    assert bool(adjusted) == (comparison.family_size > 1)
    for m in re.findall(r"\bm = ([\d,]+)", adjusted):
        assert int(m) == comparison.family_size == len(comparison.comparisons)
    check_symbols(f"{tested} {adjusted}")


def check_english(text: str) -> None:
    for sentence in re.split(r"(?<=[^.]\.) (?=[A-Z])", text):
        assert re.match(r"[A-Z]", sentence)
        assert not re.search(r"  |,,|\.\.| ,| \.|\b(\w+) \1\b|\{|\}|None", sentence), sentence
        assert sentence.count("(") == sentence.count(")")


@pytest.mark.parametrize("test", TESTS)
def test_the_paragraph_says_how_p_adjusted_p_and_intervals_are_computed(test: str) -> None:
    for adjust in ("none", *ADJUSTMENTS):
        if adjust != "none" and ADJUSTMENTS[adjust].of_pvalues is None and adjust not in TESTS[test].step_down:
            continue
        plain = compared_by(test, adjust=adjust)
        check_pvalues(plain)
        check_english(plain.methods_sentence())
    for interval in INTERVALS.values():
        comparison = replace(compared_by(test, adjust="none"), interval=interval.used, n_resamples=200)
        text = comparison.methods_sentence()
        check_english(text)
        (sentence,) = re.findall(r"The 9\d% confidence intervals (?:of scores )?are .*?\.(?= [A-Z])", text)
        assert ("from R = 200 bootstrap draws" in sentence) == interval.draws
        (ends,) = re.findall(r"intervals (?:of scores )?are computed as follows: .*?\.(?= [A-Z])", text)
        assert ("draw" in sentence + ends) == interval.draws
        for share in re.findall(r"(\d\.\d+)·\(?R", ends):
            assert float(share) == pytest.approx(1 - (comparison.confidence_level or 0))
    for alternative in TESTS[test].alternatives:
        check_pvalues(compared_by(test, **({} if test in WITH_MARGIN else {"alternative": alternative})))


@pytest.mark.parametrize("test", [name for name in TESTS if "maxt" in TESTS[name].step_down])
def test_the_paragraph_says_what_maxt_divides_by(test: str) -> None:
    text = compared_by(test, adjust="maxt").methods_sentence()
    for scale, tests in (
        ("by its root mean square over the shuffles", ("ar",)),
        ("by its own standard error", ("ar-studentized",)),
        ("by the standard deviation of d* over the draws", ("bootstrap", "bootstrap-both")),
        (
            "r₁ is the square root of 2/R times the sum of (d* − d)² over the draws with d* < d",
            ("bootstrap-percentile", "bootstrap-both"),
        ),
    ):
        assert (f"{scale}" in text.partition("To standardize, ")[2]) == (test in tests)


def on_sets(**options: Any) -> SetComparison:
    sets = {"news": (REFERENCES[:30], {k: v[:30] for k, v in SYSTEMS.items()}), "talks": (REFERENCES, SYSTEMS)}
    return compare_sets(sets, ["bleu", "ter"], n_resamples=99, **options)


def test_several_test_sets_cite_what_each_cites() -> None:
    result = on_sets()
    assert result.bibtex() == result.sets["news"].bibtex()


def uneven_sets(name: str = "few", **options: Any) -> SetComparison:
    """A test set with exact tests, and one with shuffles of whole documents; a family over both."""
    few, many = ({name: scores[:n] for name, scores in NOISE.items()} for n in (4, 60))
    sets = {
        name: TestSet(metrics=SegmentScores("rating", few)),
        "many": TestSet(metrics=SegmentScores("rating", many), documents=[i // 3 for i in range(60)]),
    }
    defaults = {"test": "ar", "n_resamples": 99, "interval": None, "adjust": "holm", "family": "sets"}
    return compare_sets(sets, **{**defaults, **options})


TWO = {name: SYSTEMS[name] for name in ("baseline", "tuned")}
FUNCTION = CorpusFunction("length", lambda h, r: float(sum(map(len, h))))
FEW = SegmentScores("r", {"a": [1, 2, 3, 4], "b": [2, 3, 3, 5]})
PARAGRAPHS: dict[str, Callable[[], Comparison | SetComparison]] = {
    "documents, strata and a family of all tests": lambda: compare(
        REFERENCES, SYSTEMS, ["bleu", "chrf"], documents=[i // 4 for i in range(60)],
        strata=[i // 32 for i in range(60)], n_resamples=99, family="all", alpha=0.01, test="bootstrap-both",
    ),
    "families under each metric": lambda: compare(REFERENCES, SYSTEMS, ["bleu", "chrf"], n_resamples=99),
    "exact p-values": lambda: compare(metrics=FEW, test="ar"),
    "no adjustment": lambda: compare(REFERENCES, SYSTEMS, test="ar", n_resamples=99, adjust="none"),
    "a function of texts, which has another test": lambda: compare(
        REFERENCES, TWO, FUNCTION, test="ar-studentized", n_resamples=19
    ),
    "a derived seed": lambda: compare(REFERENCES, TWO, n_resamples=19, seed=derive_seed(5, "run", 3)),
    "all pairs of two systems": lambda: compare(metrics=FEW, all_pairs=True, n_resamples=99, test="ar:scheme=iid"),
    "scores without tests": lambda: score(REFERENCES, {"a": SYSTEMS["tuned"]}, "ter"),
    "a family over test sets and their average": lambda: on_sets(family="all"),
    "the average": lambda: known(on_sets().average),
    "no average": lambda: on_sets(average=False),
    "test sets of which some have exact p-values": lambda: uneven_sets(),
    "test sets of which all have exact p-values": lambda: uneven_sets(test="ar:scheme=exact", average=False),
}  # fmt: skip


def test_paragraphs_say_what_was_done() -> None:
    told = {case: make().methods_sentence().replace(". ", ".\n") for case, make in PARAGRAPHS.items()}
    assert_told("methods", beyond_the_first(told))


def test_captions_describe_the_tests_of_their_own_table() -> None:
    lines = render(uneven_sets(), "latex", Layout(pairs=True)).splitlines()
    assert_told("captions_of_test_sets", {"LaTeX": "\n".join(line for line in lines if line.startswith(r"\caption{"))})


def test_text_and_markdown_have_the_methods_on_request() -> None:
    comparison = compare(REFERENCES, SYSTEMS, n_resamples=99)
    report = render(comparison, "text", Layout(methods=True, names={"tuned": "Tuned system"}))
    before, _, after = report.partition("\nMethods\n\n")
    assert before == render(comparison, "text", Layout(names={"tuned": "Tuned system"}))
    paragraph, _, entries = after.partition("\n\n")
    assert paragraph.replace("\n", " ") == comparison.methods_sentence()
    assert entries == comparison.bibtex()
    assert comparison.signature in paragraph  # on one line, so that it can be copied
    in_markdown = render(comparison, "markdown", Layout(methods=True))
    before, _, after = in_markdown.partition("\n\n**Methods**\n\n")
    assert f"{before}\n" == render(comparison, "markdown")
    unescaped = re.sub(r"\\(?=[|*<\[\]])", "", after)
    assert unescaped == f"{comparison.methods_sentence()}\n\n```bibtex\n{comparison.bibtex()}```\n"
    with pytest.raises(InputError, match="for text, markdown, latex or typst, not for csv"):
        render(comparison, "csv", Layout(methods=True))


def names_in(texts: Mapping[str, Any]) -> set[str]:
    """The parts and values that templates name in braces and in conditions."""
    names = set()
    for text in texts.values():
        if isinstance(text, dict):
            plain = (re.sub(r'"[^"]*"', "", condition) for condition in text)
            names |= {word for condition in plain for word in re.findall(r"[a-z_]+", condition)} | names_in(text)
        elif isinstance(text, str):
            names |= set(re.findall(r"{(\w+)", text))
    return names - {"and", "else", "null", "true", "false"}


def is_given(name: str, sources: str) -> bool:
    """Whether code gives templates a value of this name: as a key, or as an argument."""
    return f'"{name}"' in sources or re.search(rf"[( ]{name}=", sources) is not None


def test_templates_name_only_parts_and_values_that_the_package_has() -> None:
    sources = "".join(path.read_text("utf-8") for path in Path(reshuffle.__file__).parent.rglob("*.py"))
    caveats, note = words("caveats"), words("notes")["note"]
    tables = [
        *({**caveats["phrase"], **each} for each in caveats["caveat"].values()),
        note,
        {**note, **words("methods")["sentence"]},
        *({**words("captions")["phrase"], **words("captions")[kind]} for kind in ("table", "figure")),
        *words("gate").values(),
        words("votes")["note"],
        words("notes")["margin"],
        words("notes")["parts"],
    ]
    of_records = {field.name for record in (GateTask, Trend, VoteFit, LargestResidual) for field in fields(record)}
    for parts in tables:
        unknown = {name for name in names_in(parts) - {*parts} - of_records if not is_given(name, sources)}
        assert not unknown
