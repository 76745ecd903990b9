"""METEOR: against the tool's own counts and scores, the tool itself, and a slow twin with invented resources."""

import gzip
import os
import random
import shutil
import subprocess
import zipfile
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import meteor_twin as twin
from budgets import budget
from meteor_files import write_meteor
from reshuffle import metric, read_lines
from told import assert_raises

MODULES = ["exact", "stem", "synonym", "paraphrase"]
SET = "multeval-newstest2010-optreps"
SYSTEMS = [(system, run) for system in ("baseline", "sys1") for run in range(3)]

# METEOR 1.5: java -Xmx3G -jar meteor-1.5.jar <output> ref.txt -l en, without and with -norm, for the outputs of three
# optimizer runs of each system; × 100.
CORPUS = {
    False: {
        "baseline": [29.33003574185723, 29.255568701030327, 29.340349997965826],
        "sys1": [30.304878001300956, 30.19119644554726, 30.37519100903757],
    },
    True: {
        "baseline": [29.32172674903486, 29.25509856761738, 29.33397680682625],
        "sys1": [30.296786000562703, 30.17645810896323, 30.37061617221933],
    },
}
# The same of baseline/opt0.txt: -norm -t TASK.
TASKS = {
    "adq": 53.17236682094237,
    "hter": 55.92801716800994,
    "util": 30.379407088608573,
    "tune": 46.02467309156435,
    "li": 45.674196085280533,
}
UNIVERSAL = 53.8348028523907
# The same with -m 'exact stem …' -w '1.0 0.6 …': without and with -norm, and the column of the golden file.
BY_MODULES = [
    (1, {False: 24.99432938931258, True: 25.02676441136623}, "exact"),
    (2, {False: 25.88140713805147, True: 25.90969306322814}, "exact_stem"),
    (3, {False: 27.20290597347351, True: 27.193070706923667}, "exact_stem_syn"),
]
# -norm -noPunct
WITHOUT_PUNCTUATION = 29.47751175977154
# The order in which METEOR adds its sums moves the last digit.
SAME = 1e-12

Counts = npt.NDArray[np.int64]


def find_jar() -> Path | None:
    """METEOR's jar: named by RESHUFFLE_METEOR_JAR, or in the package pycocoevalcap, which is not imported."""
    named = os.environ.get("RESHUFFLE_METEOR_JAR")
    package = find_spec("pycocoevalcap")
    folders = (
        [Path(named)]
        if named
        else [Path(place, "meteor") for place in (package and package.submodule_search_locations) or ()]
    )
    found = [
        path for folder in folders for path in ([folder] if folder.is_file() else sorted(folder.glob("meteor-*.jar")))
    ]
    return found[0] if found else None


@pytest.fixture(scope="session")
def jar() -> Path:
    found = find_jar()
    if found is None:
        pytest.skip("no METEOR: set RESHUFFLE_METEOR_JAR to the path of its jar, or install pycocoevalcap")
    return found


@pytest.fixture(scope="session")
def complete_jar(jar: Path) -> Path:
    """METEOR's jar with the table of paraphrases beside it."""
    if not (jar.parent / "data" / "paraphrase-en.gz").is_file():
        pytest.skip(f"no data/paraphrase-en.gz beside {jar.name}")
    return jar


def lines_of(path: Path) -> list[str]:
    return read_lines(str(path))


def golden_counts(path: Path) -> list[list[int]]:
    """Counts printed by METEOR with -ssOut, with those chunks 0 that METEOR does not add up."""
    return [twin.without_perfect_chunk([int(float(x)) for x in line.split()]) for line in lines_of(path)]


def opt_runs(data: Path) -> tuple[list[list[str]], list[list[str]]]:
    outputs = [lines_of(data / SET / system / f"opt{run}.txt") for system, run in SYSTEMS]
    return outputs, [lines_of(data / SET / "ref.txt")]


def assert_close(expected: Any, actual: Any) -> None:
    np.testing.assert_allclose(actual, expected, rtol=SAME, atol=1e-10)


# METEOR's own numbers.


@pytest.mark.parametrize("normalized", [False, True])
def test_counts_and_scores_of_real_systems_equal_meteors(
    data: Path, golden: Path, complete_jar: Path, normalized: bool
) -> None:
    outputs, references = opt_runs(data)
    ours = metric("meteor", meteor_jar=str(complete_jar), normalized=normalized)
    counts = ours.suff_stats(references, outputs)
    scores = iter(ours.score(counts.sum(axis=1)))
    for rows, (system, run) in zip(counts, SYSTEMS, strict=True):
        assert_close(CORPUS[normalized][system][run], next(scores))
        if run == 0:
            name = f"{system}.opt0.{'norm' if normalized else 'nonorm'}.ss.txt"
            assert golden_counts(golden / "meteor" / name) == rows.tolist()
    table = [line.split("\t") for line in lines_of(golden / "meteor" / "all_baseline.opt0.tsv")]
    column = table[0].index("norm_all" if normalized else "nonorm_all")
    assert_close([100 * float(row[column]) for row in table[1:]], ours.segment_scores(counts[0]))
    # With one reference, tasks differ in the formula alone.
    if normalized:
        for task, expected in TASKS.items():
            of_task = metric("meteor", meteor_jar=str(complete_jar), task=task)
            if task != "util":  # whose modules of weight 0 may be left out
                assert_close(expected, of_task.score(counts[0].sum(axis=0)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("expected", "options"),
    [
        (TASKS["util"], {"task": "util"}),
        (TASKS["adq"], {"task": "adq"}),
        (UNIVERSAL, {"task": "universal"}),
        (WITHOUT_PUNCTUATION, {"no_punct": True}),
    ],
    ids=str,
)
def test_tasks_and_punctuation(data: Path, complete_jar: Path, expected: float, options: dict[str, Any]) -> None:
    outputs, references = opt_runs(data)
    ours = metric("meteor", meteor_jar=str(complete_jar), normalized=True, **options)
    assert_close(expected, ours.score(ours.suff_stats(references, outputs[:1])[0].sum(axis=0)))


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize(("n_modules", "expected", "column"), BY_MODULES)
def test_scores_by_modules_equal_meteors(
    data: Path,
    golden: Path,
    request: pytest.FixtureRequest,
    n_modules: int,
    expected: dict[bool, float],
    column: str,
    normalized: bool,
) -> None:
    options: dict[str, Any] = {"modules": MODULES[:n_modules], "normalized": normalized}
    if n_modules == 3:
        options["meteor_jar"] = str(request.getfixturevalue("jar"))
    outputs, references = opt_runs(data)
    ours = metric("meteor", **options)
    counts = ours.suff_stats(references, outputs[:1])[0]
    assert_close(expected[normalized], ours.score(counts.sum(axis=0)))
    table = [line.split("\t") for line in lines_of(golden / "meteor" / "all_baseline.opt0.tsv")]
    index = table[0].index(f"{'norm' if normalized else 'nonorm'}_{column}")
    assert_close([100 * float(row[index]) for row in table[1:]], ours.segment_scores(counts))


def test_counts_with_synonyms_equal_meteors(golden: Path, jar: Path) -> None:
    """java -jar meteor-1.5.jar h500 r500 -l en -m 'exact stem synonym' -w '1.0 0.6 0.8' -ssOut."""
    folder = golden / "meteor"
    ours = metric("meteor", meteor_jar=str(jar), modules=MODULES[:3])
    counts = ours.suff_stats([lines_of(folder / "r500")], [lines_of(folder / "h500")])[0]
    assert golden_counts(folder / "meteor_ess.ss") == counts.tolist()


# Invented resources: a folder like METEOR's, and the same as Python objects.

STEMS = {"runs": "run", "running": "run", "cats": "cat", "houses": "house", "homes": "home", "The": "The"}
WORDS = [*"abc", "the", "The", ",", "run", "runs", "running", "cat", "cats", "house", "houses", "homes"]
BASES = ["a", "b", "run", "cat", "house", "home", "houses"]


class Invented(NamedTuple):
    """Function words, synonym sets by base form, and pairs of paraphrases."""

    function_words: list[str]
    synsets: dict[str, list[int]]
    paraphrases: list[tuple[str, str]]

    def resources(self) -> twin.Resources:
        table: dict[twin.Phrase, list[twin.Phrase]] = {}
        for one, other in self.paraphrases:
            table.setdefault(tuple(one.split()), []).append(tuple(other.split()))
        return twin.Resources(
            self.function_words,
            lambda word: STEMS.get(word, word),
            lambda word: twin.synsets_of(word, self.synsets, {"cats": ["a", "b"]}),
            table,
        )

    def write(self, folder: Path) -> Path:
        synsets = "".join(f"{word}\n{' '.join(f'{s:08}' for s in sets)}\n" for word, sets in self.synsets.items())
        files = {
            "function/english.words": "".join(f"{word}\n" for word in self.function_words),
            "synonym/english.synsets": synsets,
            # An entry of the exceptions is a base form and its irregular forms.
            "synonym/english.exceptions": "a\ncats\nb\ncats\n",
            "synonym/english.relations": "",
            "nonbreaking/english.prefixes": "Mr\n",
        }
        table = "".join(f"0.5\n{one}\n{other}\n" for one, other in self.paraphrases)
        write_meteor(folder, files)
        (folder / PARAPHRASES).write_bytes(gzip.compress(table.encode(), 1))
        return folder


PHRASES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join) | st.lists(
    st.sampled_from(WORDS[4:11]), min_size=8, max_size=16
).map(" ".join)
RESOURCES = st.builds(
    Invented,
    st.lists(st.sampled_from(["the", ",", "a", "run"]), unique=True),
    st.dictionaries(
        st.sampled_from(BASES), st.lists(st.integers(1, 4), min_size=1, max_size=3, unique=True), min_size=1
    ),
    st.lists(st.tuples(PHRASES, PHRASES), min_size=1, max_size=12),
)


@st.composite
def segments(draw: st.DrawFn) -> list[list[str]]:
    """Segments of the same number of texts: two hypotheses, and up to three references."""
    n_references = draw(st.integers(1, 3))
    texts = draw(
        st.lists(st.lists(SENTENCES, min_size=2 + n_references, max_size=2 + n_references), min_size=1, max_size=4)
    )
    # Some hypotheses are equal to a reference.
    return [[text[2], *text[1:]] if draw(st.integers(0, 9)) == 0 else text for text in texts]


@pytest.fixture(scope="module")
def invented(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("invented")


@settings(max_examples=budget(150))
@given(RESOURCES, segments(), st.integers(1, 4), st.sampled_from(["rank", "adq", "li"]))
def test_counts_equal_the_twins(
    invented: Path, resources: Invented, texts: list[list[str]], n_modules: int, task: str
) -> None:
    parameters = {
        "rank": twin.Parameters(),
        "adq": twin.Parameters(0.75, 1.40, 0.45, 0.70, (1.0, 1.0, 0.6, 0.8)),
        "li": twin.Parameters(0.75, 1.40, 0.70, 0.50, (1.0, 0.5, 0.5, 0.5)),
    }[task]._replace(modules=tuple(range(n_modules)))
    known = resources.resources()
    ours = metric("meteor", meteor_jar=str(resources.write(invented)), modules=MODULES[:n_modules], task=task)
    columns = [list(column) for column in zip(*texts, strict=True)]
    counts = ours.suff_stats(columns[2:], columns[:2])
    for system, rows in enumerate(counts):
        expected = [
            twin.segment_counts(text[system].split(), [line.split() for line in text[2:]], known, parameters)
            for text in texts
        ]
        assert [twin.without_perfect_chunk(row) for row in expected] == rows.tolist()
        assert_close([100 * twin.score(row, parameters) for row in expected], ours.segment_scores(rows))
        assert_close(100 * twin.score(twin.total(expected), parameters), ours.score(rows.sum(axis=0)))


def test_identical_texts_do_not_match_without_the_module_for_equal_words() -> None:
    """METEOR 1.5: ``java -jar meteor-1.5.jar hyp ref -l en -m 'stem' -w '1.0' -ssOut``."""
    ours = metric("meteor", modules=["stem"], module_weights=[1.0])
    counts = ours.suff_stats([["the cats run", "the cat runs fast"]], [["the cats run", "the cats run fast"]])[0]
    assert counts[0].tolist() == [3, 3, 1, 1, *[0] * 19]
    # METEOR prints the only module's matches in the first columns.
    assert counts[1].tolist() == [4, 4, 1, 1, *[0] * 4, 2, 2, *[0] * 10, 1, 2, 2]


# Examples worked by hand or observed in METEOR: hypothesis, references, matched words of both sides, chunks.
EXAMPLES = [
    # The beam search decides before the last chunk closes; all words are in one chunk.
    ("run runs", ["runs runs"], (2, 2, 0)),
    ("d d", ["a d"], (1, 1, 1)),
    ("Cats", ["cats"], (0, 0, 0)),
    ("Running", ["Runs"], (1, 1, 0)),
    ("CATS", ["CAT"], (0, 0, 0)),
    ("a\u00a0b a\x0bb a\u2028b", ["a b"], (0, 0, 0)),
    (" a\t b\x0c", ["a b"], (2, 2, 0)),
    ("x y", ["x z", "z y", "x q"], (1, 1, 1)),
    ("a b c", ["c b a"], (3, 3, 3)),
    ("a b c d", ["a b x c d"], (4, 4, 2)),
    ("the " * 300, ["the " * 300 + "x"], (300, 300, 1)),
]


@pytest.mark.parametrize(("hypothesis", "references", "expected"), EXAMPLES)
def test_examples(hypothesis: str, references: list[str], expected: tuple[int, int, int]) -> None:
    ours = metric("meteor", modules=["exact", "stem"])
    chunks, *matched = ours.suff_stats([[line] for line in references], [[hypothesis]])[0, 0, -3:].tolist()
    assert expected == (*matched, chunks)


@pytest.mark.parametrize("entries", [[("a", "b")], [("a", "b"), ("b", "a")], [("a", "b"), ("a", "b")]], ids=str)
def test_paraphrases_that_are_found_twice_are_not_certain(tmp_path: Path, entries: list[tuple[str, str]]) -> None:
    """METEOR takes "b" for "a" if nothing competes, but the same match found twice competes with itself."""
    ours = metric("meteor", meteor_jar=str(Invented(["the"], {"x": [1]}, entries).write(tmp_path)))
    assert ours.suff_stats([["b"]], [["a"]])[0, 0, -2:].tolist() == [1 if len(entries) == 1 else 0] * 2


def test_modules_may_be_written_as_on_the_command_line() -> None:
    written, listed = (metric("meteor", modules=modules) for modules in ("exact,stem", ("exact", "stem")))
    assert written.signature() == listed.signature()


def damaged(name: str, content: bytes) -> object:
    folder = Invented(["the"], {"a": [1], "b": [1]}, [("a", "b")]).write(Path("damaged"))
    (folder / name).write_bytes(content)
    return metric("meteor", meteor_jar=str(folder)).suff_stats([["b a"]], [["a b x"]])


PARAPHRASES = "data/paraphrase-en.gz"


@pytest.mark.usefixtures("here")
def test_options_that_cannot_be_used_and_damaged_files_are_refused() -> None:
    assert_raises("python_errors_of_meteor", globals())


# METEOR itself.


def printed_by_meteor(jar: Path, folder: Path, texts: Sequence[Sequence[str]], *options: str) -> list[list[int]]:
    """The counts that METEOR prints for segments of a hypothesis and its references."""
    files = {"hyp": [text[0] for text in texts], "ref": [line for text in texts for line in text[1:]]}
    for name, lines in files.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    command = ["java", "-Xmx3G", "-jar", str(jar), str(folder / "hyp"), str(folder / "ref"), "-ssOut"]
    command += [] if "-l" in options else ["-l", "en"]
    command += ["-r", str(len(texts[0]) - 1), *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    return [twin.without_perfect_chunk([int(float(x)) for x in line.split()]) for line in done.stdout.splitlines()]


ODD = [*"-'\",.;:!?()[]&%$/_", *"-- `` '' … — – “ ’ U.S. Mr. e.g. 3,000 3.14".split(), "No. 5"]
ODD += ["\0", "\x01", "\x0b", "x\x0b", "\x1f", "\xa0"]
ODD += ["state-of-the-art", "don't", "dogs'", "naïve", "Straße", "ДА", "İ", "big", "large", "car", "automobile", "x."]


def invented_texts(n_references: int, seed: int) -> Iterator[list[str]]:
    chance = random.Random(seed)
    for _ in range(400):
        words = [chance.choice(WORDS + ODD) for _ in range(chance.choice([4, 8, 12]))]
        lines = [
            chance.choices(words + chance.choices(WORDS + ODD, k=3), k=chance.choice([0, 3, 9, 16]))
            for _ in range(1 + n_references)
        ]
        yield [" ".join(line) for line in lines]


RUNS: list[tuple[list[str], dict[str, Any]]] = [
    ([], {}),
    (["-lower"], {"lowercase": True}),
    (["-norm"], {"normalized": True}),
    (["-norm", "-noPunct"], {"normalized": True, "no_punct": True}),
]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["rank", "adq", "hter", "li", "tune"])
@pytest.mark.parametrize(("flags", "options"), RUNS, ids=[" ".join(flags) or "plain" for flags, _ in RUNS])
@pytest.mark.parametrize("n_references", [1, 2, 3])
def test_counts_of_invented_texts_equal_those_of_meteor_itself(
    jar: Path, tmp_path: Path, task: str, flags: list[str], options: dict[str, Any], n_references: int
) -> None:
    if shutil.which("java") is None:
        pytest.skip("no Java")
    table = Invented([], {}, [("big", "very large"), ("car", "a"), ("a b", "c"), ("run , the", "cats"), ("c", "a b")])
    table.write(tmp_path)
    paraphrases = str(tmp_path / PARAPHRASES)
    texts = list(invented_texts(n_references, 10 * n_references + len(task)))
    expected = printed_by_meteor(jar, tmp_path, texts, "-t", task, "-a", paraphrases, *flags)
    ours = metric("meteor", meteor_jar=str(jar), paraphrases=paraphrases, task=task, **options)
    columns = [list(column) for column in zip(*texts, strict=True)]
    actual = ours.suff_stats(columns[1:], columns[:1])[0].tolist()
    different = [(text, e, a) for text, e, a in zip(texts, expected, actual, strict=True) if e != a]
    assert different == []


@pytest.mark.slow
@pytest.mark.parametrize("english", [True, False])
def test_counts_of_german_equal_those_of_meteor_itself(data: Path, jar: Path, tmp_path: Path, english: bool) -> None:
    """The command line has English function words for all languages, unless -s names other ones."""
    if shutil.which("java") is None:
        pytest.skip("no Java")
    files = [data / "wmt12-en-de" / name for name in ("sys/DFKI-hunsicker.txt", "ref.txt")]
    texts = list(zip(*(lines_of(path)[:800] for path in files), strict=True))
    words = tmp_path / "german.words"
    with zipfile.ZipFile(jar) as archive:
        words.write_bytes(archive.read("function/german.words"))
    own = [] if english else ["-s", str(words)]
    expected = printed_by_meteor(jar, tmp_path, texts, "-l", "de", "-m", "exact stem", "-norm", *own)
    ours = metric(
        "meteor",
        language="de",
        modules=["exact", "stem"],
        normalized=True,
        meteor_jar=str(jar),
        english_function_words=english,
    )
    hypotheses, references = (list(column) for column in zip(*texts, strict=True))
    assert ours.suff_stats([references], [hypotheses])[0].tolist() == expected
