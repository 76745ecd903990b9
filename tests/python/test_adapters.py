"""The adapters for torchmetrics, evaluate and Inspect, compared with sacreBLEU and with these packages.

The packages are not required for the tests. Without them, the metric objects are compared with sacreBLEU only.
"""

import doctest
import math
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reshuffle import InputError, NativeMetric, metric, standard_error
from reshuffle.compat import torchmetrics as ours
from told import assert_raises

WORDS = 'the cat sat on a mat while it\'s raining . U.S. 3,5 Café &amp; Dog-house "x" hello! (big) 20% ärger'.split()


def texts(n: int, n_references: int, seed: int = 1) -> tuple[list[str], list[list[str]]]:
    """n hypotheses, and the references of each."""
    rng = random.Random(seed)
    references = [
        [[rng.choice(WORDS) for _ in range(rng.randint(4, 15))] for _ in range(n_references)] for _ in range(n)
    ]
    hypotheses = [[word if rng.random() < 0.8 else rng.choice(WORDS) for word in items[0]] for items in references]
    return [" ".join(words) for words in hypotheses], [[" ".join(words) for words in items] for items in references]


def length_of(line: str, bleu: NativeMetric) -> int:
    """The number of tokens that BLEU counts."""
    return int(bleu.suff_stats([[line]], [[line]])[0, 0, 0])


OPTIONS: dict[str, list[dict[str, Any]]] = {
    "SacreBLEUScore": [
        {}, {"smooth": True}, {"n_gram": 2, "lowercase": True}, {"tokenize": "intl"}, {"tokenize": "char"},
        {"weights": (0.4, 0.3, 0.2, 0.1)},
    ],
    "CHRFScore": [
        {}, {"n_word_order": 0, "beta": 3.0}, {"whitespace": True, "lowercase": True},
        {"return_sentence_level_score": True},
    ],
    "TranslationEditRate": [
        {}, {"normalize": True}, {"no_punctuation": True, "lowercase": False}, {"return_sentence_level_score": True},
    ],
}  # fmt: skip
CASES = [(name, options) for name, several in OPTIONS.items() for options in several]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda value: str(value) if isinstance(value, dict) else value)
def test_metric_objects_agree_with_torchmetrics(name: str, options: dict[str, Any], number: int) -> None:
    host = pytest.importorskip("torchmetrics.text")
    hypotheses, references = texts(70, number)
    theirs, mine = getattr(host, name)(**options), getattr(ours, name)(**options)
    if name == "SacreBLEUScore":  # of two references that are equally close, torchmetrics takes the first one's length
        references = [sorted(items, key=lambda line: length_of(line, mine.metric)) for items in references]
    for start in range(0, 70, 30):
        batch = slice(start, start + 30)
        theirs.update(hypotheses[batch], references[batch])
        mine.update(hypotheses[batch], references[batch])
    expected, found = theirs.compute(), mine.compute()
    if "return_sentence_level_score" in options:
        np.testing.assert_allclose(found[1], expected[1].numpy().ravel(), atol=2e-6)
        expected, found = expected[0], found[0]
    assert found == pytest.approx(float(expected), abs=1e-6)


def test_what_differs_from_torchmetrics() -> None:
    host = pytest.importorskip("torchmetrics.text")
    no_match = ["a b"], [["a c"]]
    assert float(host.SacreBLEUScore(smooth=True)(*no_match)) == 0 < ours.SacreBLEUScore(smooth=True)(*no_match)
    text = "the cat sat on the mat"
    longer, shorter = f"{text} now", "the cat sat on mat"
    for order in ([shorter, longer], [longer, shorter]):
        assert ours.SacreBLEUScore()([text], [order]) == 1
    assert float(host.SacreBLEUScore()([text], [[shorter, longer]])) == 1
    assert float(host.SacreBLEUScore()([text], [[longer, shorter]])) < 0.9
    # A segment of wmt17-en-de, for which torchmetrics and sacreBLEU find other shifts.
    shifted = (
        ["Frankie Dettori erreicht 3.000 Gewinner mit Sieg auf Newmarket auf Vorliebe"],
        [["Frankie Dettori erreicht auf Predilection seinen 3.000ten Gewinn bei Newmarket"]],
    )
    assert float(host.TranslationEditRate()(*shifted)) == pytest.approx(0.8)
    assert ours.TranslationEditRate()(*shifted) == pytest.approx(0.7)
    empty = [""], [["a"]]
    assert float(host.TranslationEditRate()(*empty)) == 0
    assert ours.TranslationEditRate()(*empty) == 1


@pytest.mark.parametrize("number", [1, 2])
def test_metric_objects_agree_with_sacrebleu(number: int) -> None:
    host = pytest.importorskip("sacrebleu")
    hypotheses, references = texts(70, number)
    columns = [list(column) for column in zip(*references, strict=True)]
    twins = [
        (ours.SacreBLEUScore(), host.BLEU(smooth_method="none")),
        (ours.SacreBLEUScore(smooth=True), host.BLEU(smooth_method="add-k")),
        (ours.CHRFScore(), host.CHRF(word_order=2, eps_smoothing=True)),
        (ours.TranslationEditRate(), host.TER()),
        (ours.TranslationEditRate(lowercase=False), host.TER(case_sensitive=True)),
    ]
    for mine, theirs in twins:
        for start in range(0, 70, 30):
            mine.update(hypotheses[start : start + 30], references[start : start + 30])
        assert mine.compute() * 100 == pytest.approx(theirs.corpus_score(hypotheses, columns).score, rel=1e-14)


def test_state_of_a_metric_object() -> None:
    hypotheses, references = texts(40, 2)
    whole = ours.CHRFScore()
    assert whole(hypotheses[:10], references[:10]) == ours.CHRFScore()(hypotheses[:10], references[:10])
    assert whole(hypotheses[10:], references[10:]) == ours.CHRFScore()(hypotheses[10:], references[10:])
    left, right = ours.CHRFScore(), ours.CHRFScore()
    left.update(hypotheses[:25], references[:25])
    right.update(hypotheses[25:], references[25:])
    alone = left.compute()
    left.merge_state(right)
    assert left.compute() == whole.compute() != alone
    assert (left.counts == whole.counts).all()
    gathered = ours.CHRFScore()
    gathered.merge_state([whole.counts[:5], whole.counts[5:]])
    assert gathered.compute() == whole.compute()
    expected = standard_error(whole.counts, whole.metric, method="bootstrap", n_resamples=500) / 100
    assert whole.standard_error(500) == expected > 0
    whole.reset()
    with pytest.raises(InputError, match="CHRFScore has no segments: call update first"):
        whole.compute()


def test_numbers_of_references_may_differ() -> None:
    hypotheses, references = texts(30, 3)
    ragged = [items[: 1 + row % 3] for row, items in enumerate(references)]
    score = ours.SacreBLEUScore()
    score.update(hypotheses, ragged)
    pairs = zip(hypotheses, ragged, strict=True)
    single = [metric("bleu").suff_stats([[line] for line in items], [[text]])[0, 0] for text, items in pairs]
    assert (score.counts == np.array(single)).all()


def test_texts_instead_of_lists() -> None:
    hypotheses, references = texts(5, 1)
    score = ours.SacreBLEUScore()
    assert score(hypotheses, [items[0] for items in references]) == score(hypotheses, references)
    line, two = "the cat sat on a mat", ["the cat sat on the mat", "a cat sat on a mat"]
    assert score(line, two) == score([line], [two])


def test_wrong_input_of_metric_objects() -> None:
    assert_raises("python_errors_of_metric_objects", globals() | {"score": ours.SacreBLEUScore()})


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The package evaluate, without a network and with caches of its own."""
    host = pytest.importorskip("evaluate")
    pytest.importorskip("sacrebleu")
    folder = tmp_path_factory.mktemp("huggingface")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host.config, "HF_EVALUATE_OFFLINE", True)
        patch.setattr(host.config, "HF_MODULES_CACHE", str(folder / "modules"))
        patch.setattr(host.config, "HF_METRICS_CACHE", folder / "metrics")
        yield host


@pytest.mark.parametrize("package", ["evaluate", "inspect_ai"])
def test_the_example_of_the_page_runs(package: str, request: pytest.FixtureRequest) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/coming-from/harnesses.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (block,) = (text for text in blocks if f"reshuffle.compat.{package} import" in text)
    host = request.getfixturevalue("offline") if package == "evaluate" else pytest.importorskip(package)
    names: dict[str, Any] = {}
    exec(block, names)
    if package == "evaluate":
        assert names["result"]["score"] > names["result"]["standard_error"] > 0
    else:  # its model is not run: Inspect then loads files from the network
        assert isinstance(names["task"], host.Task)
        assert len(names["task"].scorer) == len(names["task"].dataset) == 1


@pytest.mark.parametrize("number", [1, 2])
def test_modules_of_evaluate_agree_with_sacrebleu(offline: Any, number: int) -> None:
    import sacrebleu as host

    from reshuffle.compat.evaluate import module_path

    hypotheses, references = texts(40, number)
    columns = [list(column) for column in zip(*references, strict=True)]

    def compute(name: str, **options: Any) -> dict[str, Any]:
        loaded = offline.load(module_path(name))
        result: dict[str, Any] = loaded.compute(predictions=hypotheses, references=references, **options)
        return result

    bleu = host.BLEU(lowercase=True, smooth_method="floor").corpus_score(hypotheses, columns)
    names = ("score", "counts", "totals", "precisions", "bp", "sys_len", "ref_len")
    found = compute("sacrebleu", lowercase=True, smooth_method="floor")
    assert found == {name: getattr(bleu, name) for name in names}
    chrf = host.CHRF(word_order=2).corpus_score(hypotheses, columns)
    found = compute("chrf", word_order=2)
    assert found == {name: getattr(chrf, name) for name in ("score", "char_order", "word_order", "beta")}
    ter = host.TER(normalized=True, no_punct=True).corpus_score(hypotheses, columns)
    found = compute("ter", normalized=True, ignore_punct=True)
    assert found == {name: getattr(ter, name) for name in ("score", "num_edits", "ref_length")}
    (counts,) = metric("ter").suff_stats(columns, [hypotheses])
    expected = standard_error(counts, metric("ter"), method="bootstrap", n_resamples=300)
    assert compute("ter", n_resamples=300)["standard_error"] == expected


def test_published_numbers_of_evaluate(offline: Any) -> None:
    """The examples of evaluate 0.4's pages of its modules."""
    from reshuffle.compat.evaluate import load

    predictions = ["hello there general kenobi", "on our way to ankh morpork"]
    references = [["hello there general kenobi", "hello there !"], ["goodbye ankh morpork", "ankh morpork"]]
    assert round(load("sacrebleu").compute(predictions=predictions, references=references)["score"], 1) == 39.8
    predictions = ["does this sentence match??", "what about this sentence?"]
    references = [["does this sentence match", "does this sentence match!?!"], ["wHaT aBoUt ThIs SeNtEnCe?"] * 2]
    found = load("ter").compute(predictions=predictions, references=references, normalized=True, case_sensitive=True)
    assert found == {"score": 57.14285714285714, "num_edits": 6, "ref_length": 10.5}
    predictions = ["hello there general kenobi", "foo bar foobar"]
    found = load("bleu").compute(
        predictions=predictions, references=[["hello there general kenobi", "hello there!"], ["foo bar foobar"]]
    )
    assert found == {
        "bleu": 1.0,
        "precisions": [1.0, 1.0, 1.0, 1.0],
        "brevity_penalty": 1.0,
        "length_ratio": 7 / 6,
        "translation_length": 7,
        "reference_length": 6,
    }


def ngrams(line: str, order: int) -> Counter[str]:
    words = line.split()
    return Counter(" ".join(words[i : i + order]) for i in range(len(words) - order + 1))


@pytest.mark.parametrize("smooth", [False, True])
def test_bleu_of_evaluate_by_its_definition(offline: Any, smooth: bool) -> None:
    from reshuffle.compat.evaluate import load

    hypotheses, references = texts(40, 2)
    references[0] = references[0][:1]
    bleu = load("bleu")
    options: dict[str, Any] = {"tokenizer": str.split, "smooth": smooth, "n_resamples": 50}
    found = bleu.compute(predictions=hypotheses, references=references, **options)
    shortest = sum(min(len(line.split()) for line in items) for items in references)
    length = sum(len(line.split()) for line in hypotheses)
    assert (found["reference_length"], found["translation_length"]) == (shortest, length)
    precisions = []
    for order in range(1, 5):
        matches = possible = 0
        for text, items in zip(hypotheses, references, strict=True):
            best: Counter[str] = Counter()
            for line in items:
                best |= ngrams(line, order)
            matches += (ngrams(text, order) & best).total()
            possible += ngrams(text, order).total()
        precisions.append((matches + smooth) / (possible + smooth))
    assert found["precisions"] == pytest.approx(precisions, rel=1e-14)
    penalty = min(1.0, math.exp(1 - shortest / length))
    assert found["bleu"] == pytest.approx(penalty * math.prod(precisions) ** (1 / 4), rel=1e-12)
    assert found["standard_error"] > 0
    by_characters = bleu.compute(predictions=["abcde"], references=["abcdf"], tokenizer=list)
    assert by_characters["precisions"] == [4 / 5, 3 / 4, 2 / 3, 1 / 2]


def test_wrong_input_of_evaluate(offline: Any) -> None:
    from reshuffle.compat.evaluate import load

    with pytest.raises(InputError, match="no module 'rouge' for evaluate; there are bleu, chrf, sacrebleu, ter"):
        load("rouge")
    with pytest.raises(InputError, match="the same number of references, got 1 to 2"):
        load("chrf").compute(predictions=["a", "b"], references=[["a"], ["a", "b"]])
    with pytest.raises(TypeError, match="unexpected keyword argument 'no_punct'; there are normalized, ignore_punct, "):
        load("ter").compute(predictions=["a"], references=["a"], no_punct=True)
    from reshuffle.compat.evaluate.items import columns

    with pytest.raises(InputError, match="no predictions"):
        columns([])
    with pytest.raises(InputError, match="the same number of references, got 0 to 0"):
        columns([[]])


@pytest.mark.filterwarnings("ignore")  # of the libraries that Inspect uses
def test_a_task_of_inspect(tmp_path: Path) -> None:
    host = pytest.importorskip("inspect_ai")
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.solver import solver

    from reshuffle.compat.inspect_ai import count, translation

    hypotheses, references = texts(12, 2)
    samples = [Sample(input=str(row), target=items) for row, items in enumerate(references)]

    @solver  # type: ignore[untyped-decorator]
    def translated() -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            state.output = ModelOutput.from_content("mockllm/model", hypotheses[int(state.input_text)])
            return state

        return solve

    (log,) = host.eval(
        host.Task(dataset=samples, solver=translated(), scorer=translation("chrf", {"word_order": 2})),
        model="mockllm/model",
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    found = {name: value.value for name, value in log.results.scores[0].metrics.items()}
    chrf = metric("chrf", word_order=2)
    (counts,) = chrf.suff_stats([list(column) for column in zip(*references, strict=True)], [hypotheses])
    error = standard_error(counts, chrf, method="bootstrap", n_resamples=10_000)
    assert {name.split("/")[-1]: value for name, value in found.items()} == {
        "corpus_score": float(chrf.score(counts.sum(axis=0))),
        "corpus_stderr": float(error),
    }
    scores = [sample.scores for sample in log.samples]
    assert (count(next(iter(score.values())) for score in scores).counts == counts).all()
    assert [next(iter(score.values())).value for score in scores] == pytest.approx(chrf.score(counts).tolist())


def test_scores_of_inspect() -> None:
    host = pytest.importorskip("inspect_ai.scorer")
    from reshuffle.compat import inspect_ai as adapter

    assert math.isnan(adapter.corpus_score()([]))
    assert adapter.corpus_stderr()([]) == 0
    with pytest.raises(InputError, match="no scores"):
        adapter.count([])
    with pytest.raises(InputError, match=re.escape("score 1 (counted from 0) has no counts")):
        adapter.count([adapter.score_of("a", ["a"]), host.Score(value=1)])
    with pytest.raises(InputError, match="different metrics or options"):
        adapter.count([adapter.score_of("a", ["a"]), adapter.score_of("a", ["a"], "ter")])
    with pytest.raises(InputError, match="no target"):
        adapter.score_of("a", [])
    with pytest.raises(InputError, match="nist needs the references of all samples"):
        adapter.score_of("a", ["a"], "nist")
    with pytest.raises(InputError, match="nist needs the references of all samples"):
        adapter.translation("nist")
    pairs = [("a b c d e", ["a b c d"]), ("a b c", ["a b d", "a b c d"])]  # numbers of references may differ
    columns: list[list[str | None]] = [["a b c d", "a b d"], [None, "a b c d"]]
    expected = metric("bleu").suff_stats(columns, [[text for text, _ in pairs]])[0]
    assert (adapter.count(adapter.score_of(*pair) for pair in pairs).counts == expected).all()
    assert adapter.score_of("a b", ["a b"]).value == pytest.approx(100)  # BLEU of a short sentence
    # Inspect's decorators hide these docstrings from doctest.
    text = Path(adapter.__file__).read_text("utf-8")
    for name in ("corpus_score", "corpus_stderr", "translation"):
        source = re.search(rf'\ndef {name}\(.*?"""(.*?)"""', text, re.DOTALL)
        assert source is not None
        example = doctest.DocTestParser().get_doctest(source[1], vars(adapter).copy(), name, None, 0)
        assert example.examples
        assert doctest.DocTestRunner().run(example).failed == 0
