from ..options.nulls import Documents as Documents
from ..options.nulls import EqualScore as EqualScore
from ..options.nulls import Margin as Margin
from ..options.nulls import Noise as Noise
from ..options.nulls import Replicate as Replicate
from ..options.nulls import Variants as Variants
from .agreement import agreement as agreement
from .design import plan as plan
from .exchange import exchange as exchange
from .gate import gate as gate
from .multiplicity import multiplicity as multiplicity
from .power import parametric_power as parametric_power
from .power import power as power
from .samples import samples as samples
from .sensitivity import sensitivity as sensitivity
from .type1 import type1 as type1
from .validation import validate as validate

__all__: list[str]
