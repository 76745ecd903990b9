"""Reports of studies: what each study shows, and the formats that all share.

To add a study to the reports:

1. Write ``report/studies/NAME.py``, whose ``REPORT`` is a :class:`~reshuffle.report.studies.base.StudyReport` of
   functions: ``title(study)`` returns a line; ``tables(study)`` yields each :class:`~reshuffle.report.cells.Table`,
   with the sentences that explain its symbols; ``conclusions(study)`` yields what was found, and
   ``notes(study)`` how, in sentences. ``type1.py`` is the model, ``shared.py`` has what several studies need, and
   :class:`~reshuffle.report.studies.base.StudyReport` says what else there may be. A table is a
   :func:`~reshuffle.report.pivot.pivot` of records, whose columns are declared by their headings (``Cells``). Look at
   the text in a terminal of 80 columns.
2. ``results/studies/NAME.py``, a module of the same name, has a frozen dataclass for each type of record of its own,
   and ``STUDY``, which has them by the names of the tables. A name is the key of the JSON and the value of ``--table``.
   JSON, CSV, data frames and ``read_json`` are made from the fields. :data:`~reshuffle.results.studies.tables.MODULES`
   has the name of the module.
3. A figure is a class in the same file, usually a ``ColumnFigure`` (``figures.py``), with a method ``draw(ax)``, which
   reads ``self.records`` and ``self.study``, and imports what it needs of matplotlib; an entry in the study's
   ``FIGURES`` (:class:`~reshuffle.report.studies.figures.Figure`); and its name in
   :data:`reshuffle.types.StudyPlotKind`, in the order of ``MODULES``. ``figures.py`` also has markers and lines that
   differ without colours. Look at the picture.

Every format, ``result.plot``, ``reshuffle plot`` and ``reshuffle study --table`` follow from these.
"""

from __future__ import annotations

from .base import StudyReport, draw_figure, report_of
from .documents import study_document
from .figures import Figure

__all__ = ["Figure", "StudyReport", "draw_figure", "report_of", "study_document"]
