"""The folder of a paper: its tables, paragraphs, entries, figures, and the facts that a checklist asks for.

The contents are those of the other reports. This module chooses and names them.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from attrs import evolve

from ..errors import InputError, listed, printable, writing
from ..leftovers import replacements
from ..results import Comparison, SetComparison
from ..results.studies import StudyResult
from ..types import Groups
from .captions import symbols_of_figure
from .checklist import TITLE, as_checklist
from .document import Document, Picture, References
from .kinds import methods_of, paper_document
from .latex import as_latex, figure_label, labels_of, latex_figures, latex_paragraph
from .layout import Layout, averaged
from .methods import of_differences
from .plots import check_matplotlib, figure_of, file_of
from .plots.look import COLUMN, PAGE_HEIGHT
from .sets import headed
from .sources import every_entry
from .studies import Figure
from .systems import shows_best_alone
from .tables import differences
from .typst import as_typst, typst_figures, typst_paragraph
from .wording import ci, file_names, joined

if TYPE_CHECKING:
    from .plots.forest import Forest

ENTRIES, FACTS = "references.bib", "checklist.txt"
# What the last line of the checklist begins with.
WRITTEN = "Files of this paper: "
# The files that have the same names for every result.
PARTS = ("table", "methods", "appendix", "figures")
FIXED = (*(f"{part}.{ending}" for ending in ("tex", "typ") for part in PARTS), ENTRIES, FACTS)

Replacements: TypeAlias = AbstractContextManager[list[IO[Any]]]
Paper: TypeAlias = Comparison | SetComparison | StudyResult
# The most figures of a study; `reshuffle plot` draws the others.
MOST_FIGURES = 8


def paper_files(result: Paper, layout: Layout) -> dict[str, bytes]:
    """The contents of the files, by their names. :class:`ModuleNotFoundError` if matplotlib is not installed.

    Labels and names of figures contain the label of the layout, so that an article may have several papers.
    """
    check_matplotlib()
    layout = evolve(layout.named(result), methods=True, table=None).for_paper()
    whole = paper_document(result, layout)
    names, beside_label = whole.names, f"{layout.label}-differences"
    assert whole.methods is not None
    table, methods = replace(whole, methods=None), whole.methods
    drawn = _study_figures(result) if isinstance(result, StudyResult) else _figures(result, layout)
    figures = {f"{layout.label}-{file}": picture for file, picture in drawn}
    gives = "the results"
    if not isinstance(result, StudyResult):
        gives = "the " + _with_groups("scores", {kind for each in table.tables for kind in each.groups})
        in_figures = {kind for picture in figures.values() for kind in picture.groups}
        methods = methods_of(layout.apply(result), layout, in_figures)
    refers = [References(labels_of(table, layout.label), "gives", gives)] if table.tables else []
    beside = None
    if isinstance(result, StudyResult):
        refers += [References([*map(figure_label, figures)], "shows", "them")] if figures else []
    else:
        beside = _differences(result, layout, whole)
        if beside is not None:
            what = of_differences(next(iter(averaged(result).values())))
            refers.append(References(labels_of(beside, beside_label), "gives", what))
        refers += [References([figure_label(file)], "shows", picture.what) for file, picture in figures.items()]
    texts = {}
    for ending, tables, paragraph, pictures in (
        ("tex", as_latex, latex_paragraph, latex_figures),
        ("typ", as_typst, typst_paragraph, typst_figures),
    ):
        texts[f"table.{ending}"] = tables(table, layout)
        if beside is not None:
            texts[f"differences.{ending}"] = tables(beside, evolve(layout, label=beside_label))
        texts[f"methods.{ending}"] = paragraph(methods.main, ENTRIES, names, refers)
        texts[f"appendix.{ending}"] = paragraph(methods.details, ENTRIES, names)
        texts[f"figures.{ending}"] = pictures(figures, names)
    texts[ENTRIES] = every_entry()
    texts[FACTS] = as_checklist(result, layout, ENTRIES)
    texts[FACTS] += f"\n{WRITTEN}{', '.join([*texts, *figures])}\n"
    return {file: text.encode() for file, text in texts.items()} | {
        file: picture.content for file, picture in figures.items()
    }


def check_folder(folder: Path, names: Collection[str] | None = None) -> list[Path]:
    """The figures that an earlier paper left in the folder and a paper with these files lacks.

    Raise :class:`InputError` if the folder cannot be made, or has files of these names that no earlier paper wrote.

    An earlier paper is recognized by its checklist, which ends with the names of its files. Without names, only those
    that every paper has are checked.
    """
    shown = printable(str(folder))
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{shown} is a file: choose another name for the folder of the paper")
    facts = folder / FACTS
    said = facts.read_text("utf-8", "replace") if facts.is_file() else ""
    written = said.partition(WRITTEN)[2].partition("\n")[0].strip()
    own = written.split(", ") if said.startswith(TITLE) else []
    existing = [name for name in names or FIXED if (folder / name).exists() and name not in own]
    if existing:
        raise InputError(f"{shown} has {listed(existing)} already, not from an earlier paper: choose another folder")
    if names is None:
        return []
    # Only figures and the table of differences are not in every paper: no other name in the list is of this package.
    kept = {name.casefold() for name in names}
    others = (name for name in own if re.fullmatch(r"[^/\\]+\.pdf|differences\.(tex|typ)", name))
    return [folder / name for name in others if name.casefold() not in kept and (folder / name).is_file()]


def write_paper(
    result: Paper, folder: Path, layout: Layout, replaced: Callable[..., Replacements] = replacements
) -> list[Path]:
    """Write all files, or none if one of them cannot be made, and return their paths.

    ``replaced`` opens the files, as :func:`~reshuffle.leftovers.replacements`.
    """
    contents = paper_files(result, layout.labelled(folder.resolve().name))
    stale = check_folder(folder, contents)
    shown = {str(folder / name): printable(str(folder / name)) for name in contents}
    with writing(printable(str(folder))):
        folder.mkdir(parents=True, exist_ok=True)
        with replaced(shown) as files:
            for file, content in zip(files, contents.values(), strict=True):
                file.write(content)
        for path in stale:
            path.unlink()
    return [folder / name for name in contents]


def _differences(result: Comparison | SetComparison, layout: Layout, whole: Document) -> Document | None:
    """The table of differences of what is drawn; None without tests."""
    shown = averaged(layout.apply(result))
    blocks = [headed(name, differences(each, layout)) for name, each in shown.items() if each.comparisons]
    return Document(blocks, [], whole.signature, names=whole.names) if blocks else None


def _figures(result: Comparison | SetComparison, layout: Layout) -> Iterator[tuple[str, Picture]]:
    """The figures of the average over test sets or, without one, of all test sets.

    Two figures if there is one metric. Of several metrics, one figure has a panel each: tables have the other numbers.
    """
    drawn = averaged(result)
    first, *_ = drawn.values()
    metrics = [metric.name for metric in first.metrics]
    panels = {
        " on ".join(filter(None, (metric if len(metrics) > 1 or not name else "", name))): (comparison, metric)
        for metric in metrics
        for name, comparison in drawn.items()
    }
    names = {system: name for system, name in layout.names.items() if system in first.systems}
    for kind in _kinds(first)[: 2 if len(metrics) == 1 else 1]:
        shown, figure = _that_fit(kind, panels, names=names, digits=layout.digits)
        under = joined(dict.fromkeys(metric for _, metric in shown.values()))
        over = ", average over the test sets" if first.averaged_over else ""
        forests = [_forest(*panel, layout) for panel in shown.values()] if kind == "forest" else []
        left = "" if len(shown) == len(panels) else f" Only the first {len(shown)} of {len(panels)} panels have room."
        pairs, arrows = [pair for each in forests for pair in each.pairs], any(each.inner for each in forests)
        symbols, groups = symbols_of_figure(first, kind, len(shown), pairs, arrows)
        what = _what(kind, [*shown.values()], layout, groups)
        caption = " ".join(filter(None, [f"{under}{over}: {what}.", symbols]))
        yield f"{kind}.pdf", _picture(figure, f"{caption}{left}", f"the {what}", groups)


Panels: TypeAlias = dict[str, tuple[Comparison, str]]


def _that_fit(kind: str, panels: Panels, **options: Any) -> tuple[Panels, Any]:
    """As many panels as a page has room for, the first metric first, and their figure."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure: Any = figure_of(kind, panels, **options)
    height = figure.get_figheight()
    if height > PAGE_HEIGHT and len(panels) > 1:  # a single panel is as high as a page allows
        shown = dict([*panels.items()][: max(int(len(panels) * PAGE_HEIGHT / height), 1)])
        return shown, figure_of(kind, shown, **options)
    for each in caught:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    return panels, figure


def _picture(figure: Any, caption: str, what: str = "", groups: Sequence[Groups] = ()) -> Picture:
    return Picture(file_of(figure, "pdf"), caption, bool(figure.get_figwidth() > 1.01 * COLUMN), what, groups)


def _what(kind: str, panels: Sequence[tuple[Comparison, str]], layout: Layout, groups: Collection[Groups] = ()) -> str:
    """What a figure shows, after the names of the metrics."""
    comparison, _ = panels[0]
    level = "" if comparison.confidence_level is None else f" with {ci(comparison.confidence_level)}"
    adjusted = "adjusted p-values" if comparison.family_size > 1 else "p-values"
    from_which = dict.fromkeys(_compared_with(each, metric, layout) for each, metric in panels)
    several = "the best system" if comparison.is_reversible else "one system under each metric"
    baseline = next(iter(from_which)) if len(from_which) == 1 else several
    return {
        "forest": f"differences from {baseline}{level}",
        "matrix": f"{adjusted} of all pairs of systems",
        "ranking": f"{_with_groups(f'scores{level}', groups)}{'' if len(panels) > 1 else ', best first'}",
        "densities": "bootstrap distributions of the scores",
    }[kind]


def _with_groups(what: str, groups: Collection[Groups]) -> str:
    """The same with the ranks and the groups that a table or figure has beside it."""
    names: dict[Groups, str] = {"ranks": "ranks", "letters": "groups"}
    return joined([what, *(name for kind, name in names.items() if kind in groups)])


def _compared_with(comparison: Comparison, metric: str, layout: Layout) -> str:
    """The baseline of a forest plot. Of all pairs, it may be another system under each metric."""
    if not comparison.comparisons:
        return ""
    from .plots.view import View  # imports matplotlib

    view = View.from_options(comparison, metric, layout.names, layout.digits)
    baseline, _ = view.against(None)
    is_best = comparison.baseline is None and baseline == next(iter(view.scores))
    return f"{layout.name(baseline)}, the best system," if is_best else layout.name(baseline)


def _forest(comparison: Comparison, metric: str, layout: Layout) -> Forest:
    """What a forest plot shows."""
    from .plots.forest import Forest  # imports matplotlib
    from .plots.view import View

    return Forest.from_view(View.from_options(comparison, metric, layout.names, layout.digits))


def _study_figures(study: StudyResult) -> Iterator[tuple[str, Picture]]:
    """The first figures of a study, for each of their options."""
    from .studies import draw_figure, report_of

    figures = report_of(study.study).figures
    every = [(kind, chosen) for kind, figure in figures.items() for chosen in _on_pages(study, kind, figure)]
    kinds = [kind for kind, _ in every]
    given = [" ".join([kind, *map(str, filter(None, own.values()))]) for kind, own in every]
    labels = [label if kinds.count(kind) > 1 else kind for label, kind in zip(given, kinds, strict=True)]
    for (kind, chosen), name in [*zip(every, file_names(labels).values(), strict=True)][:MOST_FIGURES]:
        # Without what a result has none of, such as a grouping of scores of systems.
        values = ", ".join(f"{field.replace('_', ' ')}: {value}" for field, value in chosen.items() if value)
        about = figures[kind].about.rstrip(".")
        caption = f"{about} ({values})." if values else f"{about}."
        yield f"{name}.pdf", _picture(draw_figure(study, kind, **chosen).figure, caption)


def _on_pages(study: StudyResult, kind: str, figure: Figure) -> Iterator[dict[str, Any]]:
    """The options of the figures of a kind: with a panel for each metric if these fit a page, else one for each."""
    from .plots.panels import stacked_height
    from .studies.figures import PANELS

    every = figure.choices(study)
    for common in dict.fromkeys(tuple((f, v) for f, v in each.items() if f not in PANELS) for each in every):
        own = [each for each in every if dict(common).items() <= each.items()]
        shared = {f: v for f, v in own[0].items() if all(each[f] == v for each in own)}
        panels = figure.panels(study, kind, shared).values()
        fits = stacked_height(figure.drawing(study, records) for records in panels) <= PAGE_HEIGHT
        yield from [shared] if fits else own


def _kinds(comparison: Comparison) -> list[str]:
    """The differences, and the p-values of all pairs or the scores; of scores alone, also their distributions.

    Of all pairs of many systems, the scores and which of them differ: the table has the differences from the best one.
    """
    if not comparison.comparisons:
        return ["ranking", *["densities"] * any(score.draws is not None for score in comparison.scores)]
    if shows_best_alone(comparison):
        return ["ranking", "matrix"]
    all_pairs = comparison.baseline is None and len(comparison.systems) > 2
    return ["forest", "matrix" if all_pairs else "ranking"]
