"""MultEval 0.5.1 (Clark et al. 2011, P11-2031): its command line, computed by reshuffle.

``python -m reshuffle.compat.multeval eval|nbest OPTIONS`` takes MultEval's options. It prints MultEval's table, and
writes its LaTeX table, ranked segments, segment scores and ranked n-best lists. Scores of BLEU, METEOR, TER and length
are those of MultEval; ``s_sel`` and p-values come from other random numbers, which ``--seed`` determines.

By default p-values are those of MultEval's test, ``--test multeval``. It treats segments of different runs as if they
were independent, does not count ties, and for three and more runs depends on their order. ``--test auto`` and the other
exchange units of :func:`reshuffle.compare_runs` replace it, and ``reshuffle runs`` shows several side by side.

Differences from MultEval: nothing is downloaded, METEOR is version 1.5, TER's costs, beam and shifts cannot be changed,
a carriage return alone does not end a line, and ``nbest`` reports the decoder's first hypotheses as ``topbest`` under
every metric, where MultEval takes those that are best by the metric before. The most frequent unmatched words of
METEOR are not listed. An existing file is only replaced if it looks like an earlier output of the command.

>>> from reshuffle.compat.multeval import main
>>> main(["eval", "--refs", "missing.txt", "--hyps-baseline", "missing.txt", "--metrics", "bleu"])
2
"""

from __future__ import annotations

from collections.abc import Sequence

from ..commands import run
from .arguments import option_named, parse

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code.

    2 for wrong input and for output that cannot be written, 3 if memory runs out, with one line on standard error.
    """
    return run("multeval", _run, arguments, option_named)


def _run(arguments: list[str]) -> str:
    options = parse(arguments)
    # Not for --help: they import numpy.
    from .evaluation import evaluate
    from .metrics import metrics_named
    from .nbest import ranked_nbest

    metrics = metrics_named(options.metrics, options)
    return (ranked_nbest if options.module == "nbest" else evaluate)(options, metrics)
