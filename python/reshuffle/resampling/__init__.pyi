from .problems import ProblemGroup as ProblemGroup
from .problems import Problems as Problems
from .problems import is_batch as is_batch
from .reductions import (
    Draws as Draws,
)
from .reductions import (
    Histograms as Histograms,
)
from .reductions import (
    MaxT as MaxT,
)
from .reductions import (
    MinP as MinP,
)
from .reductions import (
    PermutedCounts as PermutedCounts,
)
from .reductions import (
    PermutedHistograms as PermutedHistograms,
)
from .reductions import (
    PermutedTally as PermutedTally,
)
from .reductions import (
    Reduction as Reduction,
)
from .reductions import (
    SequentialCounts as SequentialCounts,
)
from .reductions import (
    SequentialTally as SequentialTally,
)
from .reductions import (
    Series as Series,
)
from .reductions import (
    Spread as Spread,
)
from .reductions import (
    Tally as Tally,
)
from .reductions import (
    directed as directed,
)
from .reductions import (
    extremeness as extremeness,
)
from .reductions import (
    ranks_among_all as ranks_among_all,
)
from .reductions import (
    reached as reached,
)
from .reductions import (
    signs as signs,
)
from .replicates import Replicates as Replicates
from .samples import (
    Batch as Batch,
)
from .samples import (
    CountSample as CountSample,
)
from .samples import (
    DifferingColumn as DifferingColumn,
)
from .samples import (
    GroupCodes as GroupCodes,
)
from .samples import (
    Pairs as Pairs,
)
from .samples import (
    Sample as Sample,
)
from .samples import (
    TextSample as TextSample,
)
from .samples import (
    resampler_of_sums as resampler_of_sums,
)
from .samples import (
    samples_of as samples_of,
)
