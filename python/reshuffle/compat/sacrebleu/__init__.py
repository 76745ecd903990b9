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
from ..patching import Installed, SeamReport

try:
    patching.host_version("sacrebleu")  # raises an error for unsupported versions, before the imports below can fail
except InputError as error:
    # `python -m reshuffle.compat.sacrebleu` imports this package before its __main__ module, which therefore cannot
    # catch the error. During this import, sys.argv[0] is "-m".
    if sys.argv[:1] == ["-m"] and __name__ in sys.orig_argv:
        print(f"python -m {__name__}: error: {error}", file=sys.stderr)
        sys.exit(2)
    raise

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


def corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    smooth_method: str = "exp",
    smooth_value: float | None = None,
    force: bool = False,
    lowercase: bool = False,
    tokenize: str | None = BLEU.TOKENIZER_DEFAULT,
    use_effective_order: bool = False,
) -> BLEUScore:
    """BLEU of a corpus. Each column of ``references`` has one reference for each segment, or None where it is missing.

    >>> round(corpus_bleu(["the cat sat on a mat"], [["the cat sat on the mat"]]).score, 2)
    53.73
    """
    bleu = BLEU(lowercase, force, tokenize, smooth_method, smooth_value, effective_order=use_effective_order)
    return bleu.corpus_score(hypotheses, references)


def raw_corpus_bleu(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    smooth_value: float | None = BLEU.SMOOTH_DEFAULTS["floor"],
) -> BLEUScore:
    """BLEU of a tokenized corpus, with ``floor`` smoothing and effective order.

    >>> round(raw_corpus_bleu(["the cat sat on a mat"], [["the cat sat on the mat"]]).score, 2)
    53.73
    """
    return corpus_bleu(hypotheses, references, "floor", smooth_value, True, tokenize="none", use_effective_order=True)


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


def corpus_chrf(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    char_order: int = CHRF.CHAR_ORDER,
    word_order: int = CHRF.WORD_ORDER,
    beta: int = CHRF.BETA,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> CHRFScore:
    """chrF of a corpus, or chrF++ if ``word_order`` is 2. ``references`` are columns, as in :func:`corpus_bleu`.

    >>> round(corpus_chrf(["the cat sat on a mat"], [["the cat sat on the mat"]]).score, 2)
    65.98
    """
    chrf = CHRF(char_order, word_order, beta, whitespace=not remove_whitespace, eps_smoothing=eps_smoothing)
    return chrf.corpus_score(hypotheses, references)


def sentence_chrf(
    hypothesis: str,
    references: Sequence[str],
    char_order: int = CHRF.CHAR_ORDER,
    word_order: int = CHRF.WORD_ORDER,
    beta: int = CHRF.BETA,
    remove_whitespace: bool = True,
    eps_smoothing: bool = False,
) -> CHRFScore:
    """chrF of a sentence, or chrF++ if ``word_order`` is 2.

    >>> round(sentence_chrf("the cat sat on a mat", ["the cat sat on the mat"]).score, 2)
    65.98
    """
    chrf = CHRF(char_order, word_order, beta, whitespace=not remove_whitespace, eps_smoothing=eps_smoothing)
    return chrf.sentence_score(hypothesis, references)


def corpus_ter(
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str | None]],
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TERScore:
    """TER of a corpus. ``references`` are columns, as in :func:`corpus_bleu`.

    >>> round(corpus_ter(["the cat sat on a mat"], [["the cat sat on the mat"]]).score, 2)
    16.67
    """
    return TER(normalized, no_punct, asian_support, case_sensitive).corpus_score(hypotheses, references)


def sentence_ter(
    hypothesis: str,
    references: Sequence[str],
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> TERScore:
    """TER of a sentence.

    >>> round(sentence_ter("the cat sat on a mat", ["the cat sat on the mat"]).score, 2)
    16.67
    """
    return TER(normalized, no_punct, asian_support, case_sensitive).sentence_score(hypothesis, references)
