from ..data.judgments import Judgments as Judgments
from ..data.judgments import read_judgments as read_judgments
from ..data.score_tables import ScoreTable as ScoreTable
from ..data.score_tables import read_all_scores as read_all_scores
from ..data.score_tables import read_scores as read_scores
from ..data.system_names import read_sysmap as read_sysmap
from ..results.studies import (
    HumanScores as HumanScores,
)
from ..results.studies import (
    MetaEvaluation as MetaEvaluation,
)
from ..results.studies import (
    MetricAgreement as MetricAgreement,
)
from ..results.studies import (
    MetricDifference as MetricDifference,
)
from ..results.studies import (
    MetricGroup as MetricGroup,
)
from ..results.studies import (
    MetricSystemScore as MetricSystemScore,
)
from ..results.studies import (
    SmoothingSetting as SmoothingSetting,
)
from .coefficients import COEFFICIENTS as COEFFICIENTS
from .coefficients import TESTS as TESTS
from .human import HUMAN_SCORES as HUMAN_SCORES
from .human import human_scores as human_scores
from .material import JudgedSet as JudgedSet
from .metric_scores import MetricScores as MetricScores
from .segments import segments as segments
from .smoothing import smoothing_grid as smoothing_grid
from .smoothing import tune_smoothing as tune_smoothing
from .systems import systems as systems
from .williams import williams as williams

__all__: list[str]
