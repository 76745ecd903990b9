"""How each study is shown."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from ...errors import unknown_name
from ...results.studies import MODULES, StudyResult
from ...results.studies import STUDIES as RECORDS
from .base import StudyReport

STUDIES: Mapping[str, StudyReport] = {
    study: import_module(f"{__package__}.{module}").REPORT for study, module in zip(RECORDS, MODULES, strict=True)
}


def report_of(study: StudyResult) -> StudyReport:
    """How a study is shown. :class:`InputError` for a study that this version does not know."""
    if study.study not in STUDIES:
        raise unknown_name("study", study.study, STUDIES)
    return STUDIES[study.study]
