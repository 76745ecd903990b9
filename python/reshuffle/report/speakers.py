"""The error rates of each speaker, a table of the first metric of speech recognition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..results import Comparison, DocumentScore, SystemScore
from .cells import Table, decimals_of
from .layout import Layout
from .systems import sorted_systems

# So many documents are shown of more than FEW.
FIRST = 5


def document_tables(comparison: Comparison, layout: Layout, every: bool = False) -> Iterator[Table]:
    """A row for each document and system; no table if there are no scores of documents. JSON has all metrics.

    Of many documents, those with the highest error rates are shown, unless tables of pairs or ``every`` are wanted.
    """
    if not comparison.document_scores or (layout.pairs is False and not every):
        return
    metric = comparison.document_scores[0].metric
    in_all = [score for score in comparison.scores if score.metric == metric]
    decimals, details = decimals_of(in_all, layout.digits), list(in_all[0].details)
    by_document: dict[str, dict[str, DocumentScore | SystemScore]] = {}
    for score in comparison.document_scores:
        if score.metric == metric:
            by_document.setdefault(score.document, {})[score.system] = score
    header = ["Document", "System", "Segments", metric, *details]
    title = f"{metric} by document"
    if not (every or layout.shows_all_documents(comparison)):
        means = {name: sum(each.score for each in own.values()) / len(own) for name, own in by_document.items()}
        highest = sorted(by_document, key=means.__getitem__, reverse=True)[:FIRST]
        title = f"{title}: the {len(highest)} highest of {len(by_document)}"
        by_document = {name: by_document[name] for name in highest}
    table = Table(title, header, n_names=2, grouped=1)

    def add(document: str, scores: Mapping[str, DocumentScore | SystemScore]) -> None:
        for score in map(scores.__getitem__, sorted_systems(comparison)):
            counts = [f"{score.details[name]:,.0f}" for name in details]
            table.add([document, score.system, f"{score.n_segments:,}", f"{score.score:.{decimals}f}", *counts])

    for document, scores in by_document.items():
        add(document, scores)
    table.rule()
    add("all", {score.system: score for score in in_all})
    yield table
