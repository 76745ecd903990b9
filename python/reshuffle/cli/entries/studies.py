"""Studies, agreement with people, and tuning."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from ...errors import either
from ...meta.coefficients import COEFFICIENTS, TESTS
from ...options.declare import options_of
from ...options.nulls import NULLS_WITH_OPTIONS
from ...resampling.schemes import SCHEMES
from ...study.nulls import NULLS
from ...study.power import MODELS
from ...study.testing import SCHEMES as STUDY_SCHEMES
from ...tune.options import OPTIMIZERS
from ..studies import COMMANDS
from . import Entry
from .options import declared, with_options
from .tests import SHUFFLED


def schemes() -> Iterable[Entry]:
    for name in dict.fromkeys((*SCHEMES, *STUDY_SCHEMES)):
        of_study = STUDY_SCHEMES.get(name, "no")
        about = SCHEMES.get(name, f"in studies only: {STUDY_SCHEMES.get(name)}")
        yield Entry(name, about, facts={"Studies": of_study, "Tests": ", ".join(SHUFFLED)})


def studies() -> Iterable[Entry]:
    for name, command in COMMANDS.items():
        _, _, details = inspect.cleandoc(command.help or "").partition("\n\n")
        facts = {"How": " ".join(details.split()), "Options": f"reshuffle study {name} --help"}
        yield Entry(name, command.get_short_help_str(200), facts=facts)


def nulls() -> Iterable[Entry]:
    for null in NULLS.values():
        metrics = "simulated for each metric on its own" if null.per_metric else "the same simulations for all metrics"
        options = with_options(null.name, NULLS_WITH_OPTIONS)
        written = f"after a colon: {null.name}:{options[0][0].removesuffix('=VALUE')}=VALUE" if options else ""
        facts = {"In reports": null.title, "Metrics": metrics, "Options": written}
        yield Entry(null.name, null.about, null.source, facts, options)


def models() -> Iterable[Entry]:
    return (Entry(each.name, each.title, each.source, {"True": each.truth}) for each in MODELS.values())


def coefficients() -> Iterable[Entry]:
    for each in COEFFICIENTS.values():
        facts = {
            "Command": either(f"reshuffle meta {level}s" for level in each.levels),
            "People": each.human if "segment" in each.levels else "",
            "Ties": "" if each.ties is None else f"{each.ties} (of the metric)",
        }
        yield Entry(each.name, f"{each.title}: {each.about}", each.source, facts)


def meta_tests() -> Iterable[Entry]:
    for test in TESTS.values():
        facts = {"Null hypothesis": test.null, "Replicates": test.replicates or "none"}
        yield Entry(test.name, f"{test.title}: {test.about}", test.source, facts)


def optimizers() -> Iterable[Entry]:
    for each in OPTIMIZERS.values():
        facts = {"Random": each.seeded or "nothing", "Command": f"reshuffle tune {each.name}"}
        yield Entry(each.name, each.about, each.source, facts, declared(options_of(each.options)))
