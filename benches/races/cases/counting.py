"""Cases of counting, from texts to counts, beside tools in Python and Perl.

Each metric has two races: one system alone, which bears the whole cost of the references, and all systems in one call.
A tool that takes seconds per system counts only the first systems in the second race; its time per system does not
depend on their number.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from benches.data import Array, Texts
from reshuffle import NativeMetric, metric, tokenize

from ..agreement import DisagreementError, nothing, same_counts, same_scores
from ..race import Contender, Race, Skipped, call, command, new_folder
from ..rivals import ONE_THREAD, RESHUFFLE, SACREBLEU, forget_tokens, name, unless_missing

__all__ = ["chrf", "count", "gtm", "nist", "sentbleu", "ter"]


def systems_of(texts: Texts, systems: int) -> list[list[str]]:
    """The outputs of the first systems."""
    return list(texts.systems.values())[:systems]


def sizes(texts: Texts) -> list[tuple[str, int]]:
    """The label and the number of systems of both races."""
    everything = len(texts.systems)
    return [("one system", 1), (f"{everything} systems in one go, per system", everything)]


def ours(metric: NativeMetric, texts: Texts, systems: int, target: float, suffix: str = "") -> list[Contender]:
    """reshuffle with default settings, and on one thread. The outcome is the counts."""
    outputs, references = systems_of(texts, systems), texts.references
    return [
        Contender(
            RESHUFFLE + suffix, call(lambda: metric.suff_stats(references, outputs)), target=target, things=systems
        ),
        Contender(ONE_THREAD + suffix, call(lambda: metric.suff_stats(references, outputs, workers=1)), things=systems),
    ]


# sacreBLEU


def beside_sacrebleu(
    texts: Texts,
    make: Callable[..., Any],
    ours: Callable[[int], list[Contender]],
    check: Callable[..., None],
    what: str = "",
    few: int = sys.maxsize,
    at_most: int = sys.maxsize,
) -> list[Race]:
    """Races against a metric of sacreBLEU, made by ``make``; it counts at most ``few`` systems in one race.

    Its references are prepared in advance and timed separately, because its users can reuse them.
    """
    prepared = cache(lambda: make(references=texts.references))

    def theirs(systems: int) -> Contender:
        outputs = systems_of(texts, systems)

        def count() -> list[Any]:
            return [prepared()._extract_corpus_statistics(lines, None) for lines in outputs]

        def before() -> None:
            prepared()
            forget_tokens()

        return Contender(SACREBLEU, call(count, before), at_most=at_most, things=systems)

    prepare = Contender(
        SACREBLEU, call(lambda: make(references=texts.references), before=forget_tokens), at_most=at_most
    )
    return [
        Race(f"{what}references alone, not in sacreBLEU's times below", [prepare], nothing),
        *(Race(what + size, [theirs(min(few, systems)), *ours(systems)], check) for size, systems in sizes(texts)),
    ]


def count(texts: Texts) -> list[Race]:
    """Shows the speed of counting BLEU (13a, per system of 3,004 segments), the first step of every run. reshuffle's
    time includes the references, sacreBLEU's does not; sacreBLEU's cache of tokenized lines is emptied before every
    run."""
    bleu, theirs = metric("bleu"), BLEU()

    def check(expected: list[Any], *others: Array) -> None:
        same_counts(expected, *others)
        for actual in others:
            scores = bleu.score(actual.sum(axis=1))[: len(expected)]
            same_scores([theirs._aggregate_and_compute(system).score for system in expected], scores)

    return beside_sacrebleu(texts, BLEU, lambda systems: ours(bleu, texts, systems, 40), check)


def chrf(texts: Texts) -> list[Race]:
    """Shows the speed of counting chrF and chrF++, whose cost is n-grams rather than tokens: characters up to order
    six, and for chrF++ words up to order two. As in `count`, sacreBLEU's references are prepared; it counts four
    systems."""
    races = []
    for key, word_order in [("chrf", 0), ("chrf++", 2)]:
        native = metric(key)

        def make(references: Sequence[Sequence[str]], word_order: int = word_order) -> Any:
            return CHRF(word_order=word_order, references=references)

        def contenders(systems: int, native: NativeMetric = native) -> list[Contender]:
            return ours(native, texts, systems, 40)

        races += beside_sacrebleu(texts, make, contenders, same_counts, f"{native.name}: ", few=4, at_most=3)
    return races


def ter(texts: Texts) -> list[Race]:
    """Shows the speed of counting TER, a search for shifts. sacreBLEU takes seconds per system, so it counts two at
    most, and runs twice. Tercom's search (variant=tercom) is timed as well; it may differ in at most one of two hundred
    segments."""
    sacrebleus, tercoms = metric("ter"), metric("ter", variant="tercom")

    def contenders(systems: int) -> list[Contender]:
        tercom, _ = ours(tercoms, texts, systems, 40, ", variant=tercom")
        return [*ours(sacrebleus, texts, systems, 40), tercom]

    def check(expected: list[Any], *others: Array) -> None:
        *same, tercom = others
        same_counts(expected, *same)
        differ = (tercom != same[0]).any(axis=-1).mean()
        if differ > 1 / 200:
            raise DisagreementError(f"Tercom's search differs in {differ:.2%} of the segments")

    return beside_sacrebleu(texts, TER, contenders, check, few=2, at_most=2)


# Beside another metric


def gtm(texts: Texts) -> list[Race]:
    """Shows that GTM, which searches for common runs of words, is counted in less time than chrF, which has no search:
    all systems in one call, on all cores and on one thread. Checks that the matching is the number of common words if
    e = 1, and not larger if e = 2."""
    chrf = metric("chrf")
    matchings = {"e = 1": metric("gtm"), "e = 2": metric("gtm", exponent=2)}
    outputs, references = systems_of(texts, len(texts.systems)), texts.references

    def check(_: Array, words: Array, runs: Array) -> None:
        hypotheses = [line.split() for line in outputs[0]]
        common = [
            sum((Counter(hypothesis) & Counter(line.split())).values())
            for hypothesis, line in zip(hypotheses, references[0], strict=True)
        ]
        match, length, _ = words[0].T
        same_counts(match * [len(hypothesis) for hypothesis in hypotheses], length * common)
        if (runs[:, :, 0] > words[:, :, 0]).any():
            raise DisagreementError("a matching with e = 2 is larger than the number of matching words")

    def contender(name: str, native: NativeMetric, threads: int | None, target: float | None = None) -> Contender:
        run = call(lambda: native.suff_stats(references, outputs, workers=threads))
        return Contender(name, run, target=target, things=len(outputs))

    races = []
    for title, threads in ((RESHUFFLE, None), (ONE_THREAD, 1)):
        contenders = [contender(f"{title}: chrF", chrf, threads)]
        contenders += [contender(f"{title}: GTM, {e}", native, threads, 1) for e, native in matchings.items()]
        races.append(Race(f"{len(outputs)} systems in one go, per system", contenders, check))
    return races


# NLTK and mteval


def nist(texts: Texts) -> list[Race]:
    """Shows the speed of counting NIST, which has to read all references before the first segment. NLTK gets tokens,
    while reshuffle's time includes tokenization; scores must agree to 1e-7, as reshuffle sums information in fixed
    point. The Perl script of NIST reads SGM files with documents of 25 segments and tokenizes them itself; its time is
    that of the whole command (a few hundredths of a second of it are Perl's start), and its four printed decimals must
    be equal."""
    standard, slips = metric("nist"), metric("nist", mteval_quirks=True)

    def scores(native: NativeMetric, counts: Array) -> Any:
        return native.score(counts.sum(axis=1))

    def agree_with_nltk(expected: list[float], *others: Array) -> None:
        for counts in others:
            same_scores(expected, scores(standard, counts)[: len(expected)], 1e-7)

    def agree_with_perl(expected: list[float], *others: Array) -> None:
        for counts in others:
            same_scores(expected, scores(slips, counts)[: len(expected)].round(4))

    races = []
    for size, systems in sizes(texts):
        for few, theirs, native, check in [
            (4, nltk_nist, standard, agree_with_nltk),
            (2, perl_nist, slips, agree_with_perl),
        ]:
            rival = theirs(texts, min(few, systems))
            whose = rival.name.partition(" ")[0]
            contenders = [rival, *ours(native, texts, systems, 40, ", mteval_quirks" if native is slips else "")]
            races.append(Race(f"beside {whose}, {size}", contenders, check))
    return races


@cache
def reference_tokens(line: str) -> list[list[str]]:
    """The tokens of the only reference of a segment, in the nested list that NLTK expects."""
    return tokenize([line])


def nltk_nist(texts: Texts, systems: int) -> Contender | Skipped:
    """NLTK's NIST of the first systems, from tokens."""
    references = [reference_tokens(line) for line in texts.references[0]]
    outputs = [tokenize(lines) for lines in systems_of(texts, systems)]

    def score() -> list[float]:
        corpus_nist = import_module("nltk.translate.nist_score").corpus_nist
        return [corpus_nist(references, lines) for lines in outputs]

    contender = Contender(name("nltk").upper(), call(score), at_most=3, things=systems)
    return unless_missing("nltk", "nltk.translate.nist_score", contender)


def perl_nist(texts: Texts, systems: int) -> Contender | Skipped:
    """NIST's own script on the first systems, in one run."""
    title = "mteval-v13a.pl"
    if texts.mteval is None:
        return Skipped(title, "give its path with --mteval")
    if not texts.mteval.is_file():
        return Skipped(title, f"there is no file {texts.mteval.name}")
    if shutil.which("perl") is None:
        return Skipped(title, "Perl is not installed")
    folder = sgm_files(texts, systems)
    # The script needs XML::Twig even for files that are not XML; an empty module is enough.
    (folder / "XML").mkdir()
    (folder / "XML" / "Twig.pm").write_text("package XML::Twig; 1;\n", encoding="utf-8")
    arguments = ["perl", f"-I{folder}", str(texts.mteval), "-c", "-n"]
    for flag, part in [("-s", "src"), ("-r", "ref"), ("-t", "tst")]:
        arguments += [flag, str(folder / f"{part}.sgm")]

    def read(output: str) -> list[float]:
        lines = [line for line in output.splitlines() if line.startswith("NIST score =")]
        return [float(line.split()[3]) for line in lines]

    return Contender(title, command(*arguments, read=read), at_most=2, things=systems)


def sgm_files(texts: Texts, systems: int) -> Path:
    """Source, reference and systems in the format of the script.

    Lines are not escaped: the script decodes entities with a tokenizer that ours reproduces, so escaping would change
    the text. The script copies the rest of a document for every segment, so documents are as short as those of real
    test sets. It takes a document named 0 for one without a name.
    """
    folder = new_folder()
    # The script reports systems in the order of their names.
    outputs = {f"{number:02}": lines for number, lines in enumerate(systems_of(texts, systems))}
    reference = {"reference": texts.references[0]}
    for part, kind, columns in [("src", "srcset", reference), ("ref", "refset", reference), ("tst", "tstset", outputs)]:
        lines = [f'<{kind} setid="set" srclang="en" trglang="de">']
        for system, column in columns.items():
            for first in range(0, len(column), 25):
                lines.append(f'<doc docid="from {first}" sysid="{system}">')
                lines += [f'<seg id="{i}">{line}</seg>' for i, line in enumerate(column[first : first + 25], 1)]
                lines.append("</doc>")
        text = "\n".join([*lines, f"</{kind}>\n"])
        (folder / f"{part}.sgm").write_text(text, encoding="utf-8")
    return folder


def sentbleu(texts: Texts) -> list[Race]:
    """Shows the speed of sentence BLEU with smoothing 7, which NLTK implements differently from its authors.
    reshuffle's nltk-7 reproduces NLTK's numbers to 1e-8 (it counts in fixed point); its 7 is that of the authors and
    has no counterpart to compare with. NLTK gets tokens, while reshuffle's time includes tokenization."""
    theirs, authors = metric("sentbleu", smoothing="nltk-7"), metric("sentbleu")

    def check(expected: list[list[float]], *others: Array) -> None:
        for counts in others[:2]:
            actual = theirs.segment_scores(counts[: len(expected)]) / 100
            same_scores(expected, actual, 1e-8)

    races = []
    for size, systems in sizes(texts):
        seven, _ = ours(authors, texts, systems, 50, ", smoothing 7")
        contenders = [nltk_sentences(texts, systems), *ours(theirs, texts, systems, 50, ", nltk-7"), seven]
        races.append(Race(size, contenders, check))
    return races


def nltk_sentences(texts: Texts, systems: int) -> Contender | Skipped:
    """NLTK's sentence BLEU of every segment of the systems, from tokens."""
    references = [reference_tokens(line) for line in texts.references[0]]
    outputs = [tokenize(lines) for lines in systems_of(texts, systems)]

    def score() -> list[list[float]]:
        nltk = import_module("nltk.translate.bleu_score")
        smoothing = nltk.SmoothingFunction().method7
        return [
            [nltk.sentence_bleu(r, h, smoothing_function=smoothing) for r, h in zip(references, lines, strict=True)]
            for lines in outputs
        ]

    contender = Contender(name("nltk").upper(), call(score), at_most=3, things=systems)
    return unless_missing("nltk", "nltk.translate.bleu_score", contender)
