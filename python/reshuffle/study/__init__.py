"""Studies: how significance tests and metrics behave on real outputs, by simulation."""

from __future__ import annotations

from .design import plan, plan_of
from .parametric_power import parametric_power, parametric_power_of
from .power import power, power_of
from .sensitivity import sensitivity, sensitivity_of
from .type1 import type1, type1_of
from .validation import validate

__all__ = [
    "parametric_power",
    "parametric_power_of",
    "plan",
    "plan_of",
    "power",
    "power_of",
    "sensitivity",
    "sensitivity_of",
    "type1",
    "type1_of",
    "validate",
]
