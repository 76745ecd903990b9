"""Cases with programs that are written for other tools, and run on reshuffle through its drop-in backends."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from importlib import import_module
from io import StringIO
from typing import Any

import numpy as np
import sacrebleu

from benches.data import BASELINE, OTHER, Texts
from reshuffle import metric, standard_error

from ..agreement import DisagreementError, same_pvalues, same_scores
from ..race import Contender, Measurement, Race, Skipped, call, command
from ..rivals import SACREBLEU, forget_tokens, name, unless_missing
from .resampling import SHUFFLES

__all__ = ["dropin", "dropin_command", "harness"]

DROPIN, ADAPTER = "reshuffle.compat.sacrebleu", "reshuffle.compat.lm_eval"
INSTALLED = f"{SACREBLEU} after install()"
METRICS = ("bleu", "chrf", "ter")
# For each metric, how many systems sacreBLEU scores in a run (its time per system does not depend on their number), and
# the target.
CORPUS_SCORES = {"bleu": (16, 20), "chrf": (4, 30), "ter": (2, 100)}


def same_results(expected: Sequence[Any], *others: Sequence[Any]) -> None:
    """Check that the drop-in returns the same results as sacreBLEU, to the last digit, as far as both computed them."""
    for actual in others:
        if list(expected) != list(actual[: len(expected)]):
            raise DisagreementError(f"results differ: {expected[:3]} and {actual[:3]}")


def patched(measure: Callable[[], Measurement], pvalues: str = "exact-replay") -> Callable[[], Measurement]:
    """The same measurement with sacreBLEU patched."""

    def measure_patched() -> Measurement:
        with import_module("reshuffle.compat").install(only="sacrebleu", pvalues=pvalues):
            return measure()

    return measure_patched


def beside(make: Callable[[Any, int], Callable[[], Any]], few: int, many: int, target: float) -> list[Contender]:
    """Contenders: sacreBLEU, the drop-in, and patched sacreBLEU.

    ``make`` takes the module to use, and the number of things to compute in one run: ``few`` for sacreBLEU, ``many``
    for the others. The caches of tokens are emptied before every run.
    """
    host, ours = sacrebleu, import_module(DROPIN)
    return [
        Contender(SACREBLEU, call(make(host, few), forget_tokens), at_most=2, things=few),
        Contender(DROPIN, call(make(ours, many), forget_tokens), target=target, things=many),
        Contender(INSTALLED, patched(call(make(host, many), forget_tokens)), target=target, things=many),
    ]


def dropin(texts: Texts) -> list[Race]:
    """Shows the speed-up of programs that call sacreBLEU, from texts to results: scores of all systems in a loop,
    sentence_bleu of one segment after the other, and the bootstrap test of one pair with sacreBLEU's own random
    numbers. The program either imports the drop-in instead of sacreBLEU, or runs with sacreBLEU patched. Results must
    be equal to the last digit, except for the p-values of pvalues=sound, which come from another test. sacreBLEU runs
    at most twice, and scores only four of the systems by chrF and two by TER."""
    outputs, references = list(texts.systems.values()), texts.references

    def corpus_scores(key: str, module: Any, n: int) -> Callable[[], Any]:
        def run() -> list[Any]:
            scorer = getattr(module, key.upper())()
            return [scorer.corpus_score(lines, references).score for lines in outputs[:n]]

        return run

    def sentences(module: Any, n: int) -> Callable[[], Any]:
        pairs = list(zip(texts.systems[OTHER][:n], references[0], strict=False))
        return lambda: [module.sentence_bleu(line, [reference]).score for line, reference in pairs]

    def bootstrap(keys: Sequence[str], module: Any, _: int) -> Callable[[], Any]:
        systems = [(system, texts.systems[system]) for system in (BASELINE, OTHER)]

        def run() -> list[Any]:
            metrics = {key: getattr(module, key.upper())() for key in keys}
            significance = import_module(f"{module.__name__}.significance")
            _, results = significance.PairedTest(systems, metrics, references, test_type="bs")()
            return [vars(result) for title in results if title != "System" for result in results[title]]

        return run

    n = len(references[0])
    races = [Race("sentence_bleu, per segment", beside(sentences, n, n, 5), same_results)]
    for key, (few, target) in CORPUS_SCORES.items():
        what = f"corpus_score, {metric(key).name}, {len(outputs)} systems, per system"
        races.append(Race(what, beside(partial(corpus_scores, key), few, len(outputs), target), same_results))

    def same_tests(*results: list[Any]) -> None:
        *replayed, sound = results
        same_results(*replayed)
        same_scores([result["score"] for result in replayed[0]], [result["score"] for result in sound])

    for keys in (*((key,) for key in METRICS), METRICS):
        sound = patched(call(bootstrap(keys, sacrebleu, 1), forget_tokens), "sound")
        contenders = [*beside(partial(bootstrap, keys), 1, 1, 100), Contender(f"{INSTALLED}, sound", sound, target=100)]
        titles = ", ".join(metric(key).name for key in keys)
        races.append(Race(f"PairedTest of one pair, bs, {titles}", contenders, same_tests))
    return races


def dropin_command(texts: Texts) -> list[Race]:
    """Shows the speed-up of sacreBLEU's command line: all systems against the first by approximate randomization, under
    BLEU, chrF and TER, including the start of the interpreter, imports and reading. With exact-replay, the output must
    be that of sacreBLEU, byte for byte. With pvalues=sound, p-values are reshuffle's, and must be equal within Monte
    Carlo error. sacreBLEU takes minutes and runs once."""
    arguments = [texts.files.reference, "-i", *texts.files.systems, "-m", *METRICS, "--paired-ar"]

    def same_output(theirs: str, replayed: str, sound: str) -> None:
        if replayed != theirs:
            raise DisagreementError("exact-replay has another output than sacreBLEU")
        for row, other in zip(json.loads(theirs), json.loads(sound), strict=True):
            for title in ("BLEU", "chrF2", "TER"):
                same_scores(row[title]["score"], other[title]["score"])
                if row[title]["p_value"] is not None:
                    same_pvalues(row[title]["p_value"], SHUFFLES, other[title]["p_value"], SHUFFLES)

    def run(*module: str) -> Callable[[], Measurement]:
        return command(sys.executable, "-m", *module, *arguments, read=str)

    contenders = [
        Contender(SACREBLEU, run("sacrebleu"), at_most=1),
        Contender(f"{DROPIN}, exact-replay", run(DROPIN), target=30),
        Contender(f"{DROPIN}, sound", run(DROPIN, "--pvalues", "sound"), target=60),
    ]
    return [Race(f"{len(texts.systems)} systems, three metrics, --paired-ar", contenders, same_output)]


# For each metric, the number of the harness's draws that are timed, and the largest number that the harness makes.
DRAWS = {"bleu": 100, "chrf": 10, "ter": 4}
CAP, MANY_DRAWS = 100, 100_000


def harness(texts: Texts) -> list[Race]:
    """Shows the time per draw of a standard error in lm-evaluation-harness, from the items of a task to the result. The
    harness scores the texts of every draw, and makes at most 100 draws. reshuffle counts the texts once, and makes 100
    or 100,000 draws. With the draws of the harness, which come from Python's generator, the counts must give its
    standard error to 1e-9. For chrF and TER the harness makes fewer draws, because each takes seconds."""
    items = list(zip(texts.references[0], texts.systems[OTHER], strict=True))

    def theirs(key: str, n: int) -> float:
        metrics = import_module("lm_eval.api.metrics")
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):  # its progress bar
            return float(metrics.bootstrap_stderr(getattr(metrics, key), items, n))

    def ours(key: str, n: int) -> float:
        function = getattr(import_module("lm_eval.api.metrics"), key)
        return float(import_module(ADAPTER).bootstrap_stderr(function, items, n))

    def check(key: str, expected: float, *others: float) -> None:
        metric, counts = import_module(ADAPTER).count(getattr(import_module("lm_eval.api.metrics"), key), items)
        generator, segments = random.Random(0), range(len(items))
        indices = np.array([generator.choices(segments, k=len(segments)) for _ in range(DRAWS[key])])
        same_scores(expected, standard_error(counts, metric, method="bootstrap", indices=indices))
        for actual in others:
            if abs(actual / expected - 1) > 5 / np.sqrt(2 * (DRAWS[key] - 1)):  # Monte Carlo error
                raise DisagreementError(f"standard errors differ by more than Monte Carlo error: {expected}, {actual}")

    races = []
    for key, n in DRAWS.items():
        rival = Contender(name("lm_eval"), call(partial(theirs, key, n), forget_tokens), at_most=1, things=n)
        contenders: list[Contender | Skipped] = [
            unless_missing("lm_eval", "lm_eval.api.metrics", rival),
            Contender(f"{ADAPTER}, {CAP} draws", call(partial(ours, key, CAP)), target=1000, things=CAP),
            Contender(f"{ADAPTER}, {MANY_DRAWS:,} draws", call(partial(ours, key, MANY_DRAWS)), things=MANY_DRAWS),
        ]
        races.append(Race(f"standard error, {metric(key).name}, per draw", contenders, partial(check, key)))
    return races
