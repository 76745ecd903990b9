"""The options of ``reshuffle study type1 --null variants`` that train rerankers, and the training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ...errors import InputError, either
from ..command import option
from ..params import names_in
from ..tune.options import CountedMetric

if TYPE_CHECKING:
    from ..._core import Progress
    from ...tune import TrainedVariants
    from ..metric_options import MetricChoice

GROUP = "Variants (--null variants)"

TRAINING = (
    option(
        GROUP,
        "--train",
        nargs=2,
        metavar="NBEST REF",
        help="Train variants of a reranker on these k-best lists, and take what they choose from --apply for SYS. They "
        "are meant to be equally good.",
    ),
    option(GROUP, "--apply", metavar="NBEST", help="K-best lists of the test set, from which the variants choose."),
    option(GROUP, "--variants", "n", type=int, default=6, show_default=True, metavar="N",
           help="Number of variants. The first has no redundant features; each further one adds one more feature per "
           "step."),
    option(GROUP, "--templates", multiple=True, greedy=True, noun="word", metavar="NAME...",
           help="Features made from the entries: counts of n-grams.  [default: ngram:2 ngram:3]"),
    option(GROUP, "--sentence-metric", type=CountedMetric(), default="sentbleu", show_default=True, metavar="METRIC",
           help="Train towards the entry with the best score under this metric."),
    option(GROUP, "--per-step", type=int, default=10, show_default=True, metavar="N",
           help="Features that the first variant adds in each step."),
    option(GROUP, "--limit", type=int, default=100, show_default=True, metavar="N",
           help="Number of features at which the selection of each variant ends."),
    option(GROUP, "--gamma", type=float, default=1.0, show_default=True, metavar="VALUE",
           help="Strength of the l1 penalty."),
)  # fmt: skip

OWN = ("train", "apply", "n", "templates", "sentence_metric", "per_step", "limit", "gamma")
# Options that name outputs of systems, which do not exist before the training.
OF_SYSTEMS = ("scores", "parses")


@dataclass
class Training:
    """The arguments of :func:`reshuffle.tune.train_variants`, and its result once :meth:`outputs` was called."""

    train: str
    references: str
    apply_to: str
    n: int
    sentence_metric: MetricChoice
    settings: Mapping[str, Any]
    result: TrainedVariants | None = field(default=None, init=False)

    @classmethod
    def from_options(cls, options: dict[str, Any], nulls: Sequence[str]) -> Training | None:
        """Take the options out of ``options``; None without ``--train``. :class:`InputError` if they do not fit."""
        own = {name: options.pop(name) for name in OWN}
        used = [name for name in own if _is_given(name)]
        if not used and list(nulls) == ["variants"] and not options["systems"] and not options["scores"]:
            raise InputError(
                "--null variants needs systems that should be equally good: add two or more SYS after REF, or --train "
                "NBEST REF and --apply NBEST"
            )
        if not used:
            return None
        if own["train"] is None or own["apply"] is None:
            missing = " and ".join(f"--{name}" for name in ("train", "apply") if own[name] is None)
            raise InputError(f"{_flag(used[0])} needs {missing}: k-best lists for training and for the test set")
        if list(nulls) != ["variants"]:
            raise InputError(f"--train makes variants, but the null is {either(nulls)}: use --null variants alone")
        if options["systems"]:
            raise InputError(f"--train makes the systems: expected no SYS after REF, got {options['systems'][0]}")
        for name in OF_SYSTEMS:
            if options[name]:
                raise InputError(f"--{name} needs outputs of systems, and --train makes them: leave it out")
        if own["n"] < 2:
            raise InputError(f"--variants must be at least 2, got {own['n']}")
        settings = {name: own[name] for name in ("per_step", "limit", "gamma")}
        if own["templates"]:
            settings["templates"] = [name for word in own["templates"] for name in names_in(word)]
        train, references = own["train"]
        return cls(train, references, own["apply"], own["n"], own["sentence_metric"], settings)

    @property
    def names(self) -> list[str]:
        """The names of the systems."""
        from ...tune.variants import names_of_variants

        return names_of_variants(self.n)

    @property
    def files(self) -> list[str]:
        """All files that will be read."""
        return [self.train, self.references, self.apply_to]

    def outputs(self, threads: int | None, progress: Progress) -> Mapping[str, Sequence[str]]:
        """Train the variants. Returns the output of each."""
        from ...data.files import MAX_INPUT
        from ...metrics.native import metric
        from ...tune import read_nbest, train_variants
        from ..tune.files import read_references

        lists = read_nbest(self.train)
        references = read_references([self.references], None, MAX_INPUT)
        self.result = train_variants(
            lists, references, read_nbest(self.apply_to, dense=lists.names), n=self.n,
            sentence_metric=metric(self.sentence_metric.name, **self.sentence_metric.options), threads=threads or 0,
            progress=progress, **self.settings,
        )  # fmt: skip
        return self.result.outputs


def _is_given(name: str) -> bool:
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def _flag(name: str) -> str:
    """The command-line name of an option.

    >>> _flag("n"), _flag("per_step")
    ('--variants', '--per-step')
    """
    return "--variants" if name == "n" else f"--{name.replace('_', '-')}"
