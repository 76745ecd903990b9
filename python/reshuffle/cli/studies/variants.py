"""The options of ``reshuffle study type1 --null variants`` that train rerankers, and the training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from attrs import evolve

from ...errors import InputError, either, flag
from ...names import names_in
from ...options.declare import call
from ...options.tuning import TrainVariants
from ..declared import declared_options, flags_of, taken_options
from ..metric_options import MetricChoice
from ..params import option
from ..tune.options import COUNTED

if TYPE_CHECKING:
    from ..._core import Progress
    from ...tune import TrainedVariants

GROUP = TrainVariants.TITLE
# The options of the training that a command has, beside files and the metric.
DECLARED = ("n", "templates", "per_step", "limit", "gamma")

TRAINING = (
    option(
        "--train",
        group=GROUP,
        nargs=2,
        metavar="NBEST REF",
        help="Train variants of a reranker on these k-best lists, and take what they choose from --apply for SYS. They "
        "are meant to be equally good.",
    ),
    option("--apply", group=GROUP, metavar="NBEST",
           help="K-best lists of the test set, from which the variants choose."),
    option("--sentence-metric", group=GROUP, type=COUNTED, metavar="METRIC",
           help="Train towards the entry with the best score under this metric.  [default: sentbleu]"),
    *declared_options(TrainVariants, DECLARED),
)  # fmt: skip

# Options that name outputs of systems, which do not exist before the training.
OF_SYSTEMS = ("scores", "parses")


@dataclass(frozen=True)
class Training:
    """The arguments of :func:`reshuffle.tune.train_variants`."""

    train: str
    references: str
    apply_to: str
    chosen: TrainVariants
    sentence_metric: MetricChoice

    @classmethod
    def from_options(cls, options: dict[str, Any], nulls: Sequence[str]) -> Training | None:
        """Take the options out of ``options``; None without ``--train``. :class:`InputError` if they do not fit."""
        own = {name: options.pop(name) for name in ("train", "apply", "sentence_metric", *DECLARED)}
        used = [name for name, value in own.items() if value not in (None, ())]
        if not used and list(nulls) == ["variants"] and not options["systems"] and not options["scores"]:
            raise InputError(
                "--null variants needs systems that should be equally good: add two or more SYS after REF, or --train "
                "NBEST REF and --apply NBEST"
            )
        if not used:
            return None
        if own["train"] is None or own["apply"] is None:
            missing = " and ".join(f"--{name}" for name in ("train", "apply") if own[name] is None)
            needy = flags_of(TrainVariants).get(used[0], flag(used[0]))
            raise InputError(f"{needy} needs {missing}: k-best lists for training and for the test set")
        if list(nulls) != ["variants"]:
            raise InputError(f"--train makes variants, but the null is {either(nulls)}: use --null variants alone")
        if options["systems"]:
            raise InputError(f"--train makes the systems: expected no SYS after REF, got {options['systems'][0]}")
        for name in OF_SYSTEMS:
            if options[name]:
                raise InputError(f"--{name} needs outputs of systems, and --train makes them: leave it out")
        own["templates"] = tuple(name for word in own["templates"] for name in names_in(word))
        (train, references), apply_to = own["train"], own["apply"]
        metric = own["sentence_metric"] or MetricChoice("sentbleu")
        chosen = taken_options(TrainVariants, own, lists=None, references=(), apply_to=None)
        return cls(train, references, apply_to, chosen, metric)

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        from ...tune.l1 import names_of_variants

        return names_of_variants(self.chosen.n)

    @property
    def files(self) -> list[str]:
        """All files that will be read."""
        return [self.train, self.references, self.apply_to]

    def trained(self, threads: int | None, progress: Progress) -> TrainedVariants:
        """Train the variants."""
        from ...metrics.named import metric
        from ...tune import read_nbest, train_variants
        from ..tune.files import InputFiles

        lists = read_nbest(self.train)
        references = InputFiles().read_references([self.references])
        given: dict[str, Any] = {
            "lists": lists,
            "references": references,
            "apply_to": read_nbest(self.apply_to, dense=lists.names),
            "sentence_metric": metric(self.sentence_metric.name, **self.sentence_metric.options),
            "workers": threads,
            "progress": progress,
        }
        return call(train_variants, evolve(self.chosen, **given))
