"""sacreBLEU's functions and classes, with the same arguments and results, counted and resampled by reshuffle.

``from reshuffle.compat.sacrebleu import BLEU, corpus_bleu`` replaces the same import from ``sacrebleu``, which must be
installed. :func:`install` patches sacreBLEU in place, for programs that import it themselves.

Statistics, scores, signatures, warnings and errors are sacreBLEU's. What reshuffle cannot count is left to sacreBLEU's
own methods: :func:`seams` reports how often this happened, and why. In the modules of this package, sacreBLEU is also
called the host.

>>> from reshuffle.compat.sacrebleu import corpus_bleu
>>> corpus_bleu(["the cat sat on a mat"], [["the cat sat on the mat"]])
BLEU = 53.73 83.3/60.0/50.0/33.3 (BP = 1.000 ratio = 1.000 hyp_len = 6 ref_len = 6)
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from reshuffle import InputError

from .. import patching
from ..patching import Installed, SeamReport, rebound

try:
    patching.host_version("sacrebleu")  # raises an error for unsupported versions, before the imports below can fail
except InputError as error:
    # `python -m reshuffle.compat.sacrebleu` imports this package before its __main__ module, which therefore cannot
    # catch the error. During this import, sys.argv[0] is "-m".
    if sys.argv[:1] == ["-m"] and __name__ in sys.orig_argv:
        print(f"python -m {__name__}: error: {error}", file=sys.stderr)
        sys.exit(2)
    raise

import sacrebleu.compat as functions
from sacrebleu import (
    DATASETS,
    SACREBLEU_DIR,
    __version__,
    download_test_set,
    extract_char_ngrams,
    extract_word_ngrams,
    get_available_testsets,
    get_langpairs_for_testset,
    get_reference_files,
    get_source_file,
    smart_open,
)

from .metrics import BLEU, CHRF, METRICS, TER, BLEUScore, CHRFScore, TERScore
from .seams import bleu_of_sentences
from .significance import PairedTest, Result

__all__ = [
    "BLEU",
    "CHRF",
    "DATASETS",
    "METRICS",
    "SACREBLEU_DIR",
    "TER",
    "BLEUScore",
    "CHRFScore",
    "PairedTest",
    "Result",
    "TERScore",
    "__version__",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_ter",
    "download_test_set",
    "extract_char_ngrams",
    "extract_word_ngrams",
    "get_available_testsets",
    "get_langpairs_for_testset",
    "get_reference_files",
    "get_source_file",
    "install",
    "installed",
    "raw_corpus_bleu",
    "seams",
    "sentence_bleu",
    "sentence_chrf",
    "sentence_ter",
    "smart_open",
    "uninstall",
]


def install(*, pvalues: str = "exact-replay", log: str = "warn") -> Installed:
    """Patch sacreBLEU in place. See :func:`reshuffle.compat.install`."""
    return patching.install("sacrebleu", pvalues=pvalues, log=log)


def uninstall() -> None:
    """Restore sacreBLEU's own functions. No effect if it is not patched."""
    patching.uninstall("sacrebleu")


def installed() -> Installed | None:
    """What is patched, or None if sacreBLEU is not patched. See :func:`reshuffle.compat.installed`."""
    found = patching.installed()
    return found if found is not None and "sacrebleu" in found.hosts else None


def seams() -> list[SeamReport]:
    """What is replaced in sacreBLEU, and how often it was called. See :func:`reshuffle.compat.seams`."""
    return patching.seams("sacrebleu")


# sacreBLEU's own code, with the metrics of this package.
corpus_bleu = rebound(
    functions.corpus_bleu,
    __name__,
    "BLEU of a corpus. Each column of ``references`` has one reference for each segment, or None where it is missing.",
    **METRICS,
)
raw_corpus_bleu = rebound(
    functions.raw_corpus_bleu,
    __name__,
    "BLEU of a tokenized corpus, with ``floor`` smoothing and effective order.",
    corpus_bleu=corpus_bleu,
)
corpus_chrf, sentence_chrf, corpus_ter, sentence_ter = (
    rebound(getattr(functions, name), __name__, about, **METRICS)
    for name, about in {
        "corpus_chrf": "chrF of a corpus, or chrF++ if ``word_order`` is 2. ``references`` are as for corpus_bleu.",
        "sentence_chrf": "chrF of a sentence, or chrF++ if ``word_order`` is 2.",
        "corpus_ter": "TER of a corpus. ``references`` are as for corpus_bleu.",
        "sentence_ter": "TER of a sentence.",
    }.items()
)


def sentence_bleu(
    hypothesis: str,
    references: Sequence[str],
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    lowercase: bool = False,
    tokenize: str | None = BLEU.TOKENIZER_DEFAULT,
    use_effective_order: bool = True,
) -> BLEUScore:
    """BLEU of a sentence.

    >>> round(sentence_bleu("the cat sat on a mat", ["the cat sat on the mat"]).score, 2)
    53.73
    """
    bleu = bleu_of_sentences(BLEU, smooth_method, smooth_value, lowercase, tokenize, use_effective_order)
    return bleu.sentence_score(hypothesis, references)
