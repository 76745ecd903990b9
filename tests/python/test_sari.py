"""SARI against EASSE: its stored counts and scores, a slow twin, and how the metric gets the source texts."""

import json
import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgets import budget
from reshuffle import Corpus, InputError, TestSet, compare, compare_sets, metric, read_json, score, tokenize
from texts import LINES, PLAIN

FOLDER, PREFIX = "turkcorpus-simplification-8refs", "test.8turkers.tok."


def lines(data: Path, name: str) -> list[str]:
    return (data / FOLDER / name).read_text("utf-8").splitlines()


def output(data: Path, system: str) -> list[str]:
    files = {"source copied": f"{PREFIX}norm", "turk.0 as system": f"{PREFIX}turk.0"}
    return lines(data, files.get(system, system if system.startswith(PREFIX) else f"sys/{system}"))


@pytest.fixture(scope="module")
def known(golden: Path) -> Any:
    return json.loads((golden / "counts/sari/sari.json").read_text("utf-8"))


def counts(sources: Sequence[str], references: Any, outputs: Sequence[str], **options: Any) -> Any:
    return metric("sari", sources=sources, **options).suff_stats(references, [outputs])[0]


# --- Stored numbers of EASSE

VARIANTS: dict[str, dict[str, Any]] = {
    "default (13a, lower, F for deletion)": {},
    "deletion precision": {"deletion": "precision"},
    "tokenizer intl": {"tokenize": "intl"},
}


def test_scores_of_a_corpus_equal_those_of_easse(data: Path, known: Any) -> None:
    sources, references = lines(data, f"{PREFIX}norm"), [lines(data, f"{PREFIX}turk.{i}") for i in range(8)]
    assert len(known["corpus"]) >= 7
    for system, expected in known["corpus"].items():
        own = output(data, system)
        for variant, options in VARIANTS.items():
            m = metric("sari", **options)
            totals = counts(sources, references, own, **options).sum(axis=0)
            found = {"sari": float(m.score(totals)), **m.details(totals)}
            found["del"] = found.pop("delete")
            assert found == pytest.approx(expected[variant], abs=1e-9), (system, variant)
        one = counts(sources, references[1], own).sum(axis=0)
        assert metric("sari").score(one) == pytest.approx(expected["default, 1 reference (turk.1)"], abs=1e-9)


def test_counts_and_scores_of_sentences_equal_those_of_easse(data: Path, known: Any) -> None:
    sources, references = lines(data, f"{PREFIX}norm"), [lines(data, f"{PREFIX}turk.{i}") for i in range(8)]
    for system, rows in known["counts"].items():
        found = counts(sources, references, output(data, system))
        np.testing.assert_array_equal(found[: len(rows)], rows)
        expected = known["sentence_easse"][system]
        np.testing.assert_allclose(metric("sari").segment_scores(found)[: len(expected)], expected, atol=1e-9)


# --- A twin


def ngrams(text: str, n: int, times: int = 1) -> Counter[tuple[str, ...]]:
    (words,) = tokenize([text.lower()], "13a")
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1) for _ in range(times))


def twin(source: str, references: Sequence[str], text: str) -> list[int]:
    """The counts of a segment, by multisets of n-grams."""
    found: dict[str, list[int]] = {"add": [], "keep": [], "delete": []}
    for n in range(1, 5):
        own, of_output = (ngrams(each, n, len(references)) for each in (source, text))
        of_references = sum((ngrams(reference, n) for reference in references), Counter())
        added, wanted = of_output.keys() - own.keys(), of_references.keys() - own.keys()
        found["add"] += [len(added & wanted), len(added), len(wanted)]
        kept, kept_by_references = own & of_output, own & of_references
        found["keep"] += [(kept & of_references).total(), kept.total(), kept_by_references.total()]
        gone, gone_in_references = own - of_output, own - of_references
        found["delete"] += [(gone & gone_in_references).total(), gone.total(), gone_in_references.total()]
    return [count for each in found.values() for count in each]


@settings(max_examples=budget(100))
@given(st.lists(st.lists(PLAIN | LINES, min_size=4, max_size=6), min_size=1, max_size=3))
def test_counts_equal_a_twins(segments: list[list[str]]) -> None:
    most = max(map(len, segments))
    references = [[s[c] if c < len(s) else None for s in segments] for c in range(3, most)]
    m = metric("sari", sources=[s[0] for s in segments])
    found = m.suff_stats(references, [[s[i] for s in segments] for i in (1, 2)])
    for i in (1, 2):
        expected = [twin(s[0], s[3:], s[i]) for s in segments]
        np.testing.assert_array_equal(found[i - 1], expected)


# --- Sources

SOURCES = ["the feline sat upon the mat", "a canine barked loudly", "it rained"]
REFERENCES = ["the cat sat on the mat", "a dog barked", "it rained"]
SYSTEMS = {
    "a": ["the cat sat upon the mat", "a dog barked loudly", "it"],
    "b": ["the feline sat", "a dog", "it rained"],
}


def test_every_way_to_give_the_sources_is_the_same() -> None:
    bound = metric("sari", sources=SOURCES)
    expected = [each.score for each in score(REFERENCES, SYSTEMS, bound).scores]
    by_argument = compare(REFERENCES, SYSTEMS, "sari", source=SOURCES, n_resamples=20)
    assert [each.score for each in by_argument.scores] == expected
    assert by_argument.metrics[0].signature == "SARI|nrefs:1|case:lc|tok:13a|del:f"
    sets = {"one": TestSet(REFERENCES, SYSTEMS, source=SOURCES)}
    assert [each.score for each in compare_sets(sets, "sari", n_resamples=20)["one"].scores] == expected
    assert pickle.loads(pickle.dumps(bound)) == bound
    # The parts add up.
    difference = compare(REFERENCES, SYSTEMS, bound, n_resamples=20, include="parts").comparisons[0]
    parts = {each.part: each.difference for each in difference.contributions or ()}
    assert [*parts] == ["add", "keep", "delete"]
    assert sum(parts.values()) == pytest.approx(difference.difference)


def test_missing_and_wrong_sources_are_refused() -> None:
    def refused(message: str, call: Callable[[], object]) -> None:
        with pytest.raises(InputError) as caught:
            call()
        assert str(caught.value) == message

    refused("SARI needs the source of each segment: add source", lambda: compare(REFERENCES, SYSTEMS, "sari"))
    few = metric("sari", sources=SOURCES[:2])
    refused("SARI: 2 source texts for 3 segments", lambda: score(REFERENCES, SYSTEMS, few))
    hole = metric("sari", sources=[SOURCES[0], None, "x"])
    refused("SARI: segment 2 has no source", lambda: score(REFERENCES, SYSTEMS, hole))
    refused(
        "SARI: segment 3 has no reference",
        lambda: metric("sari", sources=SOURCES).suff_stats([[*REFERENCES[:2], None]], SYSTEMS),
    )
    refused(
        "sources are texts for each segment, for sari, got bleu, which does not read them",
        lambda: metric("bleu", sources=SOURCES),
    )
    refused("sources are texts for each segment, for sari, got a single string", lambda: metric("sari", sources="a"))
    assert Corpus(REFERENCES, SYSTEMS).source is None


def test_files(run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, texts in {"src": SOURCES, "ref": REFERENCES, **SYSTEMS}.items():
        Path(f"{name}.txt").write_text("".join(f"{line}\n" for line in texts), "utf-8")
    expected = [each.score for each in score(REFERENCES, SYSTEMS, metric("sari", sources=SOURCES)).scores]
    Path("sets.toml").write_text(
        '[sets.one]\nreferences = "ref.txt"\nsource = "src.txt"\nsystems = ["a.txt", "b.txt"]\n'
    )
    files = "score", "ref.txt", "a.txt", "b.txt", "-m", "sari"
    for command in ([*files, "--source", "src.txt"], "compare --manifest sets.toml -m sari -n 20".split()):
        assert run(*command, "-o", "out.json").code == 0
        saved: Any = read_json("out.json")
        assert [each.score for each in (saved["one"] if "compare" in command else saved).scores] == expected
    assert run(*files, "--source", "src.txt", "--segments").out.count("\n") == 7
    assert "SARI needs the source of each segment" in run(*files).err
    assert "--source is for" in run("score", "ref.txt", "a.txt", "--source", "src.txt").err
