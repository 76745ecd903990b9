"""How each study is shown."""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import unknown_name
from ...results.studies import StudyResult
from . import (
    agreement,
    design,
    exchange,
    gate,
    human,
    mbr,
    meta,
    multiplicity,
    oracle,
    power,
    runs,
    samples,
    sensitivity,
    smoothing,
    tune,
    type1,
    validation,
    watch,
)
from .base import StudyReport

STUDIES: Mapping[str, StudyReport] = {
    "type1": type1.REPORT,
    "multiplicity": multiplicity.REPORT,
    "power": power.REPORT,
    "plan": design.REPORT,
    "sensitivity": sensitivity.REPORT,
    "validate": validation.REPORT,
    "samples": samples.REPORT,
    "agreement": agreement.REPORT,
    "exchange": exchange.REPORT,
    "gate": gate.REPORT,
    "runs": runs.REPORT,
    "meta": meta.REPORT,
    "tune-smoothing": smoothing.REPORT,
    "tune": tune.REPORT,
    "oracle": oracle.REPORT,
    "mbr": mbr.REPORT,
    "human": human.REPORT,
    "watch": watch.REPORT,
}


def report_of(study: StudyResult) -> StudyReport:
    """How a study is shown. :class:`InputError` for a study that this version does not know."""
    if study.study not in STUDIES:
        raise unknown_name("study", study.study, STUDIES)
    return STUDIES[study.study]
