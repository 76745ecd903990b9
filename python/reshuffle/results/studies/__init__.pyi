from .agreement import (
    DomainBand as DomainBand,
)
from .agreement import (
    GainBin as GainBin,
)
from .agreement import (
    GainThreshold as GainThreshold,
)
from .agreement import (
    PairPvalue as PairPvalue,
)
from .agreement import (
    TestAgreement as TestAgreement,
)
from .base import Rate as Rate
from .base import StudyResult as StudyResult
from .design import (
    DetectableAtSize as DetectableAtSize,
)
from .design import (
    PairError as PairError,
)
from .design import (
    PlannedLooks as PlannedLooks,
)
from .design import (
    PlannedPower as PlannedPower,
)
from .design import (
    PlannedSize as PlannedSize,
)
from .exchange import ExchangeRate as ExchangeRate
from .human import LabelledEstimate as LabelledEstimate
from .mbr import MbrChoice as MbrChoice
from .mbr import MbrScore as MbrScore
from .meta import (
    HumanScores as HumanScores,
)
from .meta import (
    MetaEvaluation as MetaEvaluation,
)
from .meta import (
    MetricAgreement as MetricAgreement,
)
from .meta import (
    MetricDifference as MetricDifference,
)
from .meta import (
    MetricGroup as MetricGroup,
)
from .meta import (
    MetricSystemScore as MetricSystemScore,
)
from .multiplicity import FamilyWiseRate as FamilyWiseRate
from .oracle import ChosenEntry as ChosenEntry
from .oracle import ListScore as ListScore
from .oracle import OracleSearch as OracleSearch
from .power import FittedSwapEffects as FittedSwapEffects
from .power import PowerRate as PowerRate
from .runs import (
    ObservedDifference as ObservedDifference,
)
from .runs import (
    RunComparison as RunComparison,
)
from .runs import (
    RunDifference as RunDifference,
)
from .runs import (
    RunScores as RunScores,
)
from .runs import (
    SystemRuns as SystemRuns,
)
from .samples import (
    CurvePoint as CurvePoint,
)
from .samples import (
    SampleDifference as SampleDifference,
)
from .samples import (
    SampleRange as SampleRange,
)
from .samples import (
    SampleScore as SampleScore,
)
from .sensitivity import (
    MetricSensitivity as MetricSensitivity,
)
from .sensitivity import (
    PowerContrast as PowerContrast,
)
from .sensitivity import (
    ScoredSystem as ScoredSystem,
)
from .sensitivity import (
    TestedDifference as TestedDifference,
)
from .smoothing import SmoothingSetting as SmoothingSetting
from .tables import RECORDS as RECORDS
from .tables import RESULTS as RESULTS
from .tables import TABLES_OF as TABLES_OF
from .tables import record_types as record_types
from .tune import (
    StartingScores as StartingScores,
)
from .tune import (
    TuningResult as TuningResult,
)
from .tune import (
    TuningRun as TuningRun,
)
from .tune import (
    TuningStep as TuningStep,
)
from .type1 import PvalueShare as PvalueShare
from .validation import (
    BandAccuracy as BandAccuracy,
)
from .validation import (
    GapConclusions as GapConclusions,
)
from .validation import (
    PairConclusions as PairConclusions,
)
from .validation import (
    SampleSpread as SampleSpread,
)
from .watch import SequentialLook as SequentialLook
from .watch import SequentialVerdict as SequentialVerdict
