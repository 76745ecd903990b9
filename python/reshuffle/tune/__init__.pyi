from ..options.tuning import L1 as L1
from ..options.tuning import Kbmira as Kbmira
from ..options.tuning import Mert as Mert
from ..options.tuning import Pro as Pro
from ..options.tuning import Xbleu as Xbleu
from .choosing import Chosen as Chosen
from .choosing import LinearModel as LinearModel
from .choosing import Model as Model
from .decoders import (
    Decoder as Decoder,
)
from .decoders import (
    command_decoder as command_decoder,
)
from .decoders import (
    simulated_decoder as simulated_decoder,
)
from .decoders import (
    write_weights as write_weights,
)
from .driver import Tuned as Tuned
from .driver import tune as tune
from .l1 import (
    Reranker as Reranker,
)
from .l1 import (
    SelectionStep as SelectionStep,
)
from .l1 import (
    Variant as Variant,
)
from .l1 import (
    closest as closest,
)
from .l1 import (
    fit_l1 as fit_l1,
)
from .l1 import (
    l1_variants as l1_variants,
)
from .lists import NBest as NBest
from .lists import Sparse as Sparse
from .lists import read_nbest as read_nbest
from .mbr import MinimumRisk as MinimumRisk
from .mbr import mbr as mbr
from .mert import mert as mert
from .online import Learned as Learned
from .online import expected_score as expected_score
from .online import kbmira as kbmira
from .online import pro as pro
from .online import xbleu as xbleu
from .options import OPTIMIZERS as OPTIMIZERS
from .options import Optimizer as Optimizer
from .oracle import Oracle as Oracle
from .oracle import oracle as oracle
from .samples import read_samples as read_samples
from .templates import template_features as template_features
from .variants import TrainedVariants as TrainedVariants
from .variants import train_variants as train_variants
from .weights import Weights as Weights
from .weights import read_weights as read_weights
from .weights import weights_by_name as weights_by_name

__all__: list[str]
