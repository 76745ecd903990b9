"""Metric objects with the calls of torchmetrics' ``SacreBLEUScore``, ``CHRFScore`` and ``TranslationEditRate``.

The objects have torchmetrics' options, ``update``, ``compute``, ``reset`` and ``merge_state``, but need neither
torchmetrics nor PyTorch. They keep the counts of each segment as integers and compute in float64, so that scores are
those of sacreBLEU divided by 100, however many batches there are, and have standard errors. torchmetrics sums counts in
float32.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reshuffle import InputError, NativeMetric, metric

from .harness import Counted

__all__ = ["CHRFScore", "SacreBLEUScore", "TranslationEditRate"]

Target = Sequence[str] | Sequence[Sequence[str]]


class _Score:
    """A metric that collects counts.

    Attributes
    ----------
    metric : NativeMetric
        The metric of reshuffle. Its scores are between 0 and 100 for BLEU and chrF.
    """

    higher_is_better: ClassVar[bool]

    def __init__(self, metric: NativeMetric, return_sentence_level_score: bool = False) -> None:
        self.metric = metric
        self.return_sentence_level_score = return_sentence_level_score
        self._counts: list[NDArray[Any]] = []

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.metric!r}, {sum(map(len, self._counts))} segments)"

    @property
    def counts(self) -> NDArray[Any]:
        """(S, K) ndarray of int64, the counts of the S segments so far.

        With ``metric``, they can be passed to the functions of reshuffle, for example
        :func:`reshuffle.bootstrap_interval`. Raises :class:`InputError` if there are no segments.
        """
        if not self._counts:
            raise InputError(f"{type(self).__name__} has no segments: call update first")
        if len(self._counts) > 1:
            self._counts = [np.concatenate(self._counts)]
        return self._counts[0]

    def update(self, preds: str | Sequence[str], target: Target) -> None:
        """Count a batch of S segments.

        Parameters
        ----------
        preds : sequence of str
            The hypotheses.
        target : sequence of sequence of str
            For each hypothesis its references, as in torchmetrics. A string stands for a single reference, except
            that ``preds`` may be a string and ``target`` the list of its references.

        Raises
        ------
        InputError
            If the numbers of hypotheses and lists of references differ, a hypothesis has no reference, or ``target`` is
            a string.
        """
        if isinstance(target, str):
            raise InputError(f"target is a string: expected a list of references for each prediction, got {target!r}")
        hypotheses = [preds] if isinstance(preds, str) else list(preds)
        references = [[item] if isinstance(item, str) else list(item) for item in target]
        if isinstance(preds, str) and all(isinstance(item, str) for item in target):
            references = [[str(item) for item in target]]
        if len(hypotheses) != len(references):
            raise InputError(f"{len(hypotheses)} predictions, but {len(references)} lists of references in target")
        if not hypotheses:
            return
        self._counts.append(Counted.from_groups(self.metric, hypotheses, references).counts)

    def compute(self) -> Any:
        """The score of all segments so far, a float. Raises :class:`InputError` if there are none.

        With ``return_sentence_level_score``, which BLEU does not have, a pair: the score, and the scores of the S
        segments, an (S,) ndarray of float64.
        """
        score = float(self.metric.score(self.counts.sum(axis=0))) / 100
        if not self.return_sentence_level_score:
            return score
        return score, np.asarray(self.metric.score(self.counts), np.float64) / 100

    def forward(self, preds: str | Sequence[str], target: Target) -> Any:
        """Count a batch, and return the score of this batch alone. Calling the object does the same."""
        before = self._counts
        self._counts = []
        try:
            self.update(preds, target)
            return self.compute()
        finally:
            self._counts = before + self._counts

    __call__ = forward

    def reset(self) -> None:
        """Forget all segments."""
        self._counts = []

    def merge_state(self, incoming: _Score | Iterable[NDArray[Any]]) -> None:
        """Add the segments of another object with the same options, or its ``counts`` from another process.

        Parameters
        ----------
        incoming : metric object, or iterable of (S, K) ndarray of int64

        Raises
        ------
        InputError
            If the options differ, an array has another number of columns, or its numbers are no counts.
        """
        if isinstance(incoming, _Score):
            if repr(incoming.metric) != repr(self.metric):
                raise InputError(f"the options differ: {self.metric!r} and {incoming.metric!r}")
            parts = list(incoming._counts)
        else:
            parts = [np.asarray(part) for part in incoming]
        width = len(self.metric.columns)
        if any(part.ndim != 2 or part.shape[1] != width for part in parts):
            raise InputError(f"counts must have the shape (segments, {width}), got {[part.shape for part in parts]}")
        if any(part.dtype.kind not in "iu" or (part.size and part.min() < 0) for part in parts):
            raise InputError(f"counts must be whole numbers that are not negative, got {[str(p.dtype) for p in parts]}")
        self._counts = self._counts + [part.astype(np.int64) for part in parts]

    def standard_error(self, n_resamples: int = 10_000) -> float:
        """The bootstrap standard error of :meth:`compute`, from ``n_resamples`` draws of the segments."""
        return Counted(self.metric, self.counts).bootstrap_error(n_resamples) / 100


class SacreBLEUScore(_Score):
    """BLEU between 0 and 1, to be used instead of ``torchmetrics.text.SacreBLEUScore``.

    Parameters
    ----------
    n_gram : int
        The longest n-grams.
    smooth : bool
        Whether to add one to matches and n-grams of two tokens and more.
    tokenize : str
        The tokenizer, as in sacreBLEU.
    lowercase : bool
    weights : sequence of float, optional
        The weights of the n-gram orders, by default equal.

    Examples
    --------
    >>> bleu = SacreBLEUScore()
    >>> bleu.update(["the cat sat on a mat"], [["the cat sat on the mat"]])
    >>> bleu.update(["a dog barks at the moon"], [["a dog barked at the moon"]])
    >>> round(bleu.compute(), 4)
    0.4204
    >>> bleu.counts.shape
    (2, 10)
    """

    higher_is_better = True

    def __init__(
        self,
        n_gram: int = 4,
        smooth: bool = False,
        tokenize: str = "13a",
        lowercase: bool = False,
        weights: Sequence[float] | None = None,
    ) -> None:
        options: dict[str, Any] = {} if weights is None else {"weights": tuple(weights)}
        if smooth:
            options["smooth_value"] = 1
        super().__init__(
            metric(
                "bleu",
                max_ngram_order=n_gram,
                smooth_method="add-k" if smooth else "none",
                tokenize=tokenize,
                lowercase=lowercase,
                **options,
            )
        )


class CHRFScore(_Score):
    """chrF between 0 and 1, by default chrF++, to be used instead of ``torchmetrics.text.CHRFScore``.

    Parameters
    ----------
    n_char_order, n_word_order : int
        The longest n-grams of characters and of words.
    beta : float
        The weight of recall.
    lowercase : bool
    whitespace : bool
        Whether spaces count as characters.
    return_sentence_level_score : bool
        Whether ``compute`` returns a pair with the scores of the segments.

    Notes
    -----
    Like torchmetrics, it averages the F-scores of all orders, which is sacreBLEU's ``eps_smoothing=True``. sacreBLEU's
    default leaves out orders for which a segment is too short.

    Examples
    --------
    >>> chrf = CHRFScore(return_sentence_level_score=True)
    >>> chrf.update(["the cat sat on a mat"], [["the cat sat on the mat"]])
    >>> score, sentences = chrf.compute()
    >>> round(score, 4), sentences.shape
    (0.674, (1,))
    """

    higher_is_better = True

    def __init__(
        self,
        n_char_order: int = 6,
        n_word_order: int = 2,
        beta: float = 2.0,
        lowercase: bool = False,
        whitespace: bool = False,
        return_sentence_level_score: bool = False,
    ) -> None:
        chrf = metric(
            "chrf",
            char_order=n_char_order,
            word_order=n_word_order,
            beta=beta,
            lowercase=lowercase,
            whitespace=whitespace,
            eps_smoothing=True,
        )
        super().__init__(chrf, return_sentence_level_score)


class TranslationEditRate(_Score):
    """TER as edits per reference word, to be used instead of ``torchmetrics.text.TranslationEditRate``.

    Parameters
    ----------
    normalize, no_punctuation, lowercase, asian_support : bool
        The options of sacreBLEU's tokenizer for TER. ``lowercase`` is on by default, as in both packages.
    return_sentence_level_score : bool
        Whether ``compute`` returns a pair with the scores of the segments.

    Examples
    --------
    >>> ter = TranslationEditRate()
    >>> round(ter(["the cat sat on a mat"], [["the cat sat on the mat"]]), 4)
    0.1667
    """

    higher_is_better = False

    def __init__(
        self,
        normalize: bool = False,
        no_punctuation: bool = False,
        lowercase: bool = True,
        asian_support: bool = False,
        return_sentence_level_score: bool = False,
    ) -> None:
        ter = metric(
            "ter",
            normalized=normalize,
            no_punct=no_punctuation,
            case_sensitive=not lowercase,
            asian_support=asian_support,
        )
        super().__init__(ter, return_sentence_level_score)
