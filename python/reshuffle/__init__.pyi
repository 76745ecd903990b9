from . import (
    _core as _core,
)
from . import (
    compat as compat,
)
from . import (
    data as data,
)
from . import (
    errors as errors,
)
from . import (
    inference as inference,
)
from . import (
    meta as meta,
)
from . import (
    metrics as metrics,
)
from . import (
    report as report,
)
from . import (
    resampling as resampling,
)
from . import (
    results as results,
)
from . import (
    study as study,
)
from . import (
    tune as tune,
)
from . import (
    types as types,
)
from ._core import Progress as Progress
from .compare import compare as compare
from .compare import score as score
from .compare import segment_scores as segment_scores
from .counts import CountsWriter as CountsWriter
from .counts import save_counts as save_counts
from .data.corpus import Corpus as Corpus
from .data.corpus import read_corpus as read_corpus
from .data.evaluations.code_results import pass_at_k as pass_at_k
from .data.files import read_lines as read_lines
from .data.joined_scores import JoinedScores as JoinedScores
from .data.joined_scores import join_scores as join_scores
from .data.saved import read_html as read_html
from .data.saved import read_json as read_json
from .data.score_tables import ScoreTable as ScoreTable
from .data.score_tables import read_scores as read_scores
from .data.scored_texts import ScoredTexts as ScoredTexts
from .data.scored_texts import read_scored_texts as read_scored_texts
from .data.votes import VoteTable as VoteTable
from .errors import InputError as InputError
from .errors import InputWarning as InputWarning
from .errors import WorkerError as WorkerError
from .flips import flips as flips
from .gate import gate as gate
from .human import human as human
from .inference.intervals import bootstrap_interval as bootstrap_interval
from .inference.intervals import standard_error as standard_error
from .inference.multiplicity import experimentwise_error as experimentwise_error
from .inference.significance import (
    approximate_randomization as approximate_randomization,
)
from .inference.significance import (
    bootstrap_test as bootstrap_test,
)
from .metrics.base import Formula as Formula
from .metrics.base import Metric as Metric
from .metrics.black_box import CorpusFunction as CorpusFunction
from .metrics.native import NativeMetric as NativeMetric
from .metrics.native import metric as metric
from .metrics.native import tokenize as tokenize
from .metrics.ngrams import CommonNgrams as CommonNgrams
from .metrics.ngrams import common_ngrams as common_ngrams
from .metrics.precomputed import (
    FromCounts as FromCounts,
)
from .metrics.precomputed import (
    OwnTexts as OwnTexts,
)
from .metrics.precomputed import (
    SegmentScores as SegmentScores,
)
from .metrics.precomputed import (
    f_score as f_score,
)
from .metrics.stored import CountsFile as CountsFile
from .metrics.stored import StoredCounts as StoredCounts
from .metrics.stored import open_counts as open_counts
from .options.choices import (
    AR as AR,
)
from .options.choices import (
    Equivalence as Equivalence,
)
from .options.choices import (
    NonInferiority as NonInferiority,
)
from .options.choices import (
    Simultaneous as Simultaneous,
)
from .resampling.stopping import BesagClifford as BesagClifford
from .resampling.stopping import Gandy as Gandy
from .resampling.supplied import resampled_sums as resampled_sums
from .resampling.units import design_effect as design_effect
from .resampling.units import intraclass_correlation as intraclass_correlation
from .results import (
    Brevity as Brevity,
)
from .results import (
    Caveat as Caveat,
)
from .results import (
    Comparison as Comparison,
)
from .results import (
    ConfidenceInterval as ConfidenceInterval,
)
from .results import (
    DetectableDifference as DetectableDifference,
)
from .results import (
    DocumentScore as DocumentScore,
)
from .results import (
    Exchangeability as Exchangeability,
)
from .results import (
    FlippedSegment as FlippedSegment,
)
from .results import (
    Flips as Flips,
)
from .results import (
    Gate as Gate,
)
from .results import (
    GateTask as GateTask,
)
from .results import (
    Histogram as Histogram,
)
from .results import (
    Influence as Influence,
)
from .results import (
    LostSegment as LostSegment,
)
from .results import (
    NullHistogram as NullHistogram,
)
from .results import (
    PairedDifference as PairedDifference,
)
from .results import (
    RankedSystem as RankedSystem,
)
from .results import (
    Ranking as Ranking,
)
from .results import (
    SegmentTable as SegmentTable,
)
from .results import (
    SetComparison as SetComparison,
)
from .results import (
    SignificanceResult as SignificanceResult,
)
from .results import (
    SystemScore as SystemScore,
)
from .results import (
    Trend as Trend,
)
from .results import (
    UsedInterval as UsedInterval,
)
from .results import (
    UsedMetric as UsedMetric,
)
from .results import (
    UsedStopping as UsedStopping,
)
from .results import (
    UsedTest as UsedTest,
)
from .results.studies import RunComparison as RunComparison
from .results.studies import StudyResult as StudyResult
from .runs import compare_runs as compare_runs
from .seeds import DerivedSeed as DerivedSeed
from .seeds import derive_seed as derive_seed
from .sets import TestSet as TestSet
from .sets import compare_sets as compare_sets
from .votes import votes as votes
from .watch import watch as watch

__version__: str
__all__: list[str]
