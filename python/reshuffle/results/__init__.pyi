from . import studies as studies
from .caveats import Caveat as Caveat
from .comparison import (
    Brevity as Brevity,
)
from .comparison import (
    Comparison as Comparison,
)
from .comparison import (
    Contribution as Contribution,
)
from .comparison import (
    DocumentScore as DocumentScore,
)
from .comparison import (
    Exchangeability as Exchangeability,
)
from .comparison import (
    Influence as Influence,
)
from .comparison import (
    PairedDifference as PairedDifference,
)
from .comparison import (
    SystemScore as SystemScore,
)
from .comparison import (
    UsedInterval as UsedInterval,
)
from .comparison import (
    UsedMetric as UsedMetric,
)
from .comparison import (
    UsedTest as UsedTest,
)
from .flips import FlippedSegment as FlippedSegment
from .flips import Flips as Flips
from .gate import Gate as Gate
from .gate import GateTask as GateTask
from .gate import LostSegment as LostSegment
from .gate import Trend as Trend
from .histograms import Histogram as Histogram
from .histograms import NullHistogram as NullHistogram
from .intervals import (
    ConfidenceInterval as ConfidenceInterval,
)
from .intervals import (
    clopper_pearson as clopper_pearson,
)
from .intervals import (
    may_lie_across as may_lie_across,
)
from .intervals import (
    robbins as robbins,
)
from .ranking import DetectableDifference as DetectableDifference
from .ranking import RankedSystem as RankedSystem
from .ranking import Ranking as Ranking
from .segments import SegmentTable as SegmentTable
from .sets import SetComparison as SetComparison
from .significance import SignificanceResult as SignificanceResult
from .significance import UsedStopping as UsedStopping
from .texts import ComparedTexts as ComparedTexts
from .verdicts import Verdict as Verdict
from .verdicts import sought_by as sought_by
from .verdicts import verdict as verdict
from .votes import FirstAdvantage as FirstAdvantage
from .votes import LargestResidual as LargestResidual
from .votes import VoteFit as VoteFit
