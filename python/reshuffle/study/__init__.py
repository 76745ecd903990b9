"""Studies: how significance tests and metrics behave on real outputs, by simulation."""

from __future__ import annotations

from .agreement import AgreementSettings, agreement, agreement_of
from .samples import SampleSettings, samples, samples_of
from .type1 import type1, type1_of
from .validation import ValidationSettings, validate, validate_of

__all__ = [
    "AgreementSettings",
    "SampleSettings",
    "ValidationSettings",
    "agreement",
    "agreement_of",
    "samples",
    "samples_of",
    "type1",
    "type1_of",
    "validate",
    "validate_of",
]
