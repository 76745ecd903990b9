"""One call of an evaluation library or of its adapter, in a Python that has the library.

    PYTHON -m benches.races.programs.adapter_calls LIBRARY CALL theirs|ours

Prints JSON: seconds of the fastest of some calls after the imports, and the result. ``PYTHONPATH`` must name reshuffle.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from time import perf_counter
from typing import Any

from benches.data import OTHER, find

# Calls are repeated for this long, because the first ones fill caches of the processor.
SECONDS = 1.0
# torchmetrics takes minutes for chrF and TER of the whole test set.
FEW = 300
N_RESAMPLES = 1000

Call = Callable[[], Any]


def torchmetrics(what: str, side: str, hypotheses: Sequence[str], references: Sequence[str]) -> Call:
    """A metric object's ``update`` and ``compute``."""
    module = import_module("torchmetrics.text" if side == "theirs" else "reshuffle.compat.torchmetrics")
    n = len(hypotheses) if what == "SacreBLEUScore" else FEW
    targets = [[reference] for reference in references[:n]]

    def call() -> float:
        score = getattr(module, what)()
        score.update(hypotheses[:n], targets)
        return float(score.compute())

    return call


def evaluate(what: str, side: str, hypotheses: Sequence[str], references: Sequence[str]) -> Call:
    """``compute`` of a module. The scripts are the folder ``metrics`` of evaluate's repository."""
    host = import_module("evaluate")
    host.config.HF_EVALUATE_OFFLINE = True
    path = f"{os.environ['RESHUFFLE_EVALUATE_SCRIPTS']}/{what}"
    if side == "ours":
        path = import_module("reshuffle.compat.evaluate").module_path(what)
    module = host.load(path)

    def call() -> float:
        for cached in ("Tokenizer13a", "TokenizerRegexp"):  # repeated calls would find the texts of the first
            forget = vars(sys.modules[type(module).__module__]).get(cached)
            if forget is not None:
                import_module(forget.__module__).TokenizerRegexp.__call__.cache_clear()
                forget.__call__.cache_clear()
        return float(module.compute(predictions=hypotheses, references=references)[what])

    return call


def inspect_ai(what: str, side: str, hypotheses: Sequence[str], references: Sequence[str]) -> Call:
    """The bootstrap standard error of the scores of all samples: Inspect's is that of their mean."""
    ours = import_module("reshuffle.compat.inspect_ai")
    sample = import_module("inspect_ai.scorer").SampleScore
    scores = [sample(score=ours.score_of(h, [r], what)) for h, r in zip(hypotheses, references, strict=True)]
    if side == "ours":
        return lambda: ours.corpus_stderr(N_RESAMPLES)(scores)
    stderr = import_module("inspect_ai.scorer").bootstrap_stderr(N_RESAMPLES)
    return lambda: float(stderr(scores))


def main() -> None:
    """Print the fastest call."""
    library, what, side = sys.argv[1:]
    files = find()
    make = {"torchmetrics": torchmetrics, "evaluate": evaluate, "inspect_ai": inspect_ai}[library]
    call = make(what, side, files.outputs()[OTHER], files.references()[0])
    result, fastest, start = None, float("inf"), perf_counter()
    while result is None or perf_counter() - start < SECONDS:
        begun = perf_counter()
        result = call()
        fastest = min(fastest, perf_counter() - begun)
    print(json.dumps({"seconds": fastest, "result": result}))


if __name__ == "__main__":
    main()
