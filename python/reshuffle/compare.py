"""``compare``, ``score`` and ``segment_scores``: from texts to results, step by step."""

from __future__ import annotations

from . import _core, signature
from .comparing import compared, data_and_units, scored
from .options.comparisons import Compare, Score, SegmentScoring
from .options.declare import called_with
from .progress import reported
from .resampling.units import Documents
from .results import Comparison, SegmentTable, UsedMetric
from .settings import ComparisonSettings, Resampling


@called_with(Compare)
def compare(options: Compare) -> Comparison:
    """Score systems against references and test whether they differ by more than chance.

    All pairs and all metrics use the same shuffles and the same bootstrap draws.

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        If the texts differ in length, there are fewer than two systems, segments or documents, a name is unknown, an
        argument is out of range, the test or the interval does not support one of the metrics, or texts are to be
        included that are not there.

    Notes
    -----
    ``pvalue`` is never adjusted for multiple tests. ``adjusted_pvalue`` is, and unless it is None it decides about
    stars and :meth:`PairedDifference.is_significant`. Memory: 8·k·S·K bytes for the counts and 8·k·R bytes for the
    draws of each metric (k systems, S segments, K counts, R resamples).

    Examples
    --------
    Three segments are too few for the bootstrap, but not for approximate randomization:

    >>> references = ["the cat sat on the mat", "a dog barked at the moon", "it rained all day long"]
    >>> good = ["the cat sat on the mat", "a dog barked at the moon", "it rained all day"]
    >>> poor = ["cat on mat", "the dog barks at a moon", "rain all the day"]
    >>> comparison = compare(references, {"poor": poor, "good": good}, test="ar", n_resamples=99)
    >>> [f"{score.system}: {score.score:.1f}" for score in comparison.scores]
    ['poor: 6.0', 'good: 93.9']
    >>> comparison.comparisons[0].test.pvalue  # 2 of 8 shuffles
    0.25

    The first two segments are one document:

    >>> documents = ["a", "a", "b"]
    >>> comparison = compare(references, {"poor": poor, "good": good}, documents=documents, test="ar", n_resamples=99)
    >>> comparison.unit, comparison.n_units
    ('document', 2)

    The same from the columns of a data frame:

    >>> import pandas
    >>> frame = pandas.DataFrame({"ref": references, "poor": poor, "good": good, "talk": documents})
    >>> again = compare(frame["ref"], frame[["poor", "good"]], documents=frame["talk"], test="ar", n_resamples=99)
    >>> again == comparison
    True
    """
    testing = ComparisonSettings.from_options(options)
    data, units = data_and_units(options)
    with reported(options.progress) as watched:
        resampling = Resampling.from_options(options, watched)
        return compared(data, units, testing, resampling)


@called_with(Score)
def score(options: Score) -> Comparison:
    """Score systems against references, with confidence intervals if ``interval`` or ``confidence_level`` is given.

    The parameters are those of :func:`compare`. One system is enough, and without intervals one segment too. If only
    one of ``interval`` and ``confidence_level`` is given, the other has its default there.

    Returns
    -------
    Comparison
        With scores only: ``comparisons`` is empty.

    Raises
    ------
    InputError
        As :func:`compare`, and for ``documents`` or ``strata`` without ``interval`` or ``confidence_level``: only
        intervals depend on them.

    Examples
    --------
    >>> result = score(["the cat sat on the mat"], {"a": ["the cat sat on a mat"]})
    >>> round(result.scores[0].score, 2)
    53.73
    """
    wanted = ComparisonSettings.for_scores(options.interval, options.confidence_level)
    data, units = data_and_units(options)
    with reported(options.progress) as watched:
        return scored(data, units, wanted, Resampling.from_options(options, watched))


@called_with(SegmentScoring)
def segment_scores(options: SegmentScoring) -> SegmentTable:
    """The score of every segment of every system, or of every document.

    The parameters are those of :func:`compare`. One system and one segment are enough. With ``documents``, each
    document is scored by the corpus formula from its summed counts.

    Returns
    -------
    SegmentTable

    Raises
    ------
    InputError
        As :func:`compare`.

    Notes
    -----
    The mean of segment scores is the corpus score only for metrics that are means. Segment BLEU leaves out the n-gram
    orders for which the hypothesis is too short, as sacreBLEU's ``sentence_bleu`` does (``eff:yes`` in the signature).

    Examples
    --------
    >>> table = segment_scores(["the cat sat on the mat", "no"], {"a": ["the cat sat on a mat", "no"]})
    >>> table.scores["BLEU"].round(2)
    array([[ 53.73, 100.  ]])
    """
    data, units = data_and_units(options)
    grouping = None if units.documents is None else Documents.from_ids(units.documents, data.n_segments, least=1)
    with reported(options.progress) as watched:
        samples = data.count_alone(data.names, Resampling(threads=options.threads, progress=watched))
    nrefs = data.n_references
    signatures = [(m.segment_signature if grouping is None else m.signature)(nrefs) for m in data.metrics]
    used = tuple(
        UsedMetric(label, line, m.higher_is_better)
        for label, line, m in zip(data.labels, signatures, data.metrics, strict=True)
    )
    scores = [s.segment_scores(data.names) if grouping is None else s.document_scores(grouping) for s in samples]
    return SegmentTable(
        systems=data.names,
        metrics=used,
        scores=dict(zip(data.labels, scores, strict=True)),
        signature=signature.joined([*signatures, signature.VERSION]),
        version=_core.VERSION,
        documents=None if grouping is None else grouping.names,
        segment_ids=None if grouping is not None or data.segment_ids is None else tuple(data.segment_ids),
    )
