"""Imports: help and version import nothing heavy, and the package imports modules when they are used."""

import pickle
import pkgutil
import random
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest

import reshuffle
from processes import python
from reshuffle import types
from reshuffle.cli.meta import COMMANDS as META_COMMANDS
from reshuffle.cli.studies import COMMANDS
from reshuffle.errors import InputError
from reshuffle.inference.multiplicity import ADJUSTMENTS
from reshuffle.inference.tests import ADJUSTMENT_CHOICES, TESTS
from reshuffle.meta.coefficients import TESTS as META_TESTS
from reshuffle.metrics.in_python import every_spec
from reshuffle.metrics.registry import tokenizer_specs
from reshuffle.report import FORMATS
from reshuffle.report.studies import report_of
from reshuffle.report.words import words
from reshuffle.results.studies import MODULES, types_of
from reshuffle.results.studies.watch import BONFERRONI, E_BH
from reshuffle.tune.options import OPTIMIZERS


def imported_by(*args: str) -> set[str]:
    """The modules that a command line imports, as ``-X importtime`` reports them."""
    command = [sys.executable, "-X", "importtime", "-m", "reshuffle", *args]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_version_and_help_import_neither_numpy_nor_the_engine(option: str) -> None:
    modules = imported_by(option)
    assert "reshuffle.cli.root" in modules
    assert not {"numpy", "scipy", "rich", "reshuffle._core", "importlib.metadata", "reshuffle.compat"} & modules


HELP = [
    *([name] for name in "compare score flips runs meta tune rerank study plot explain doctor demo".split()),
    *(["study", name] for name in COMMANDS),
    *(["meta", name] for name in META_COMMANDS),
    *(["tune", name] for name in OPTIMIZERS),
]


def test_the_help_of_every_command_imports_no_heavy_library() -> None:
    """One after the other in one process: what any of them imports stays in ``sys.modules``. Drop-ins come first."""
    source = f"""
import sys
from reshuffle.cli.main import main
from reshuffle.compat import comet, moses, mteval, multeval
calls = [(drop_in.main, []) for drop_in in (comet, moses, mteval, multeval)]
for call, command in [*calls, *((main, command) for command in {HELP!r})]:
    try:
        call([*command, "--help"])
    except SystemExit as stopped:
        assert not stopped.code
    print("imported", sorted({{"numpy", "scipy", "rich", "matplotlib", "reshuffle._core"}} & sys.modules.keys()))
"""
    imported = [line for line in python(source).splitlines() if line.startswith("imported ")]
    assert imported[:4] == ["imported []"] * 4
    # Commands may load the core, for its registries.
    assert len(imported) == len(HELP) + 4
    assert set(imported) <= {"imported []", "imported ['reshuffle._core']"}


def imports_too_much(modules: Iterable[str]) -> set[str]:
    """What takes longer to import than 10,000 shuffles, or than a report takes to write; and what other commands need.

    What is imported by its name, as the modules of results are, is not in these lists.
    """
    others = ("data.formats._samples", "resampling.votes", "results.studies.tables")
    reports = ("differences", "notebook", "paper", "studies")
    ours = {f"reshuffle.{name}" for name in (*others, *(f"report.{each}" for each in reports))}
    return {name for name in modules if name.partition(".")[0] in ("scipy", "rich") or name in ours}


def test_comparisons_import_no_more_than_they_need(tmp_path: Path) -> None:
    modules = imported_by("demo")
    assert "numpy" in modules
    assert not imports_too_much(modules)
    # All pairs, some of whose p-values are near alpha. The formats of scores look at the files.
    rng = random.Random(3)
    files = [str(tmp_path / name) for name in "abcdefgh"]
    for k, file in enumerate(files):
        Path(file).write_text("\n".join(str(rng.gauss((97 + k) / 8, 1)) for _ in range(50)), encoding="utf-8")
    for test in ("ar", "bootstrap-both"):
        options = ["--all-pairs", "--adjust", "maxt", "--test", test, "-n", "200"]
        modules = imported_by("compare", "--scores", "rating", *files, *options)
        assert imports_too_much(modules) <= {"reshuffle.data.formats._samples"}


def test_the_command_line_starts_no_threads_of_blas() -> None:
    source = """
import os, sys
os.environ.pop("OPENBLAS_NUM_THREADS", None)
from reshuffle.cli.root import cli
cli(["explain"], standalone_mode=False)
print("numpy" in sys.modules, os.environ["OPENBLAS_NUM_THREADS"])
"""
    assert python(source).endswith("1\n")


def test_importing_the_package_imports_only_what_is_used() -> None:
    source = """
import sys, reshuffle
heavy = {"numpy", "scipy", "rich", "click", "matplotlib", "sacrebleu", "reshuffle._core", "reshuffle.compat"}
print(heavy & sys.modules.keys() or "nothing")
from reshuffle import read_lines
print(read_lines.__module__ in sys.modules, "numpy" in sys.modules)
"""
    assert python(source) == "nothing\nTrue False\n"


def test_results_import_the_reports_only_when_displayed() -> None:
    source = """
import sys
from reshuffle import SegmentScores, compare
result = compare(metrics=SegmentScores("x", [[1, 2, 3], [2, 3, 5]]), test="ar")
repr(result), result.pair("system 2"), result.score("system 1")
before = {"reshuffle.report", "rich"} & sys.modules.keys()
str(result)
print(sorted(before), "reshuffle.report" in sys.modules)
"""
    assert python(source) == "[] True\n"


IMPORTS = [
    "import reshuffle; callable(reshuffle.compare) and callable(reshuffle.compare)",
    "import reshuffle.compare; callable(reshuffle.compare) and callable(reshuffle.score)",
    "from reshuffle.compare import score; import reshuffle as r; callable(r.compare) and r.score is score",
    "from reshuffle import *; callable(compare) and callable(metric)",
    "import reshuffle; reshuffle.report.render is not None and reshuffle.errors.InputError is not None",
    "import reshuffle; set(reshuffle.__all__) <= set(dir(reshuffle)) and 'report' in dir(reshuffle)",
    "import reshuffle; not hasattr(reshuffle, 'nothing') and not hasattr(reshuffle, 'numpy')",
    "import reshuffle.report.document; callable(reshuffle.report.document)",
    "from reshuffle.report import document, kinds; kinds.document is document",
]


def test_every_name_is_found_by_every_kind_of_import() -> None:
    """Every way of importing gives the same objects. Each is the first one: only the core cannot be imported twice."""
    source = f"""
import sys
for statement in {IMPORTS!r}:
    imports, _, expression = statement.rpartition("; ")
    names = {{}}
    exec(imports, names)
    print(eval(expression, names))
    for name in [name for name in sys.modules if name.startswith("reshuffle") and name != "reshuffle._core"]:
        del sys.modules[name]
"""
    assert python(source) == "True\n" * len(IMPORTS)


def test_every_public_name_is_that_of_its_module() -> None:
    for name in reshuffle.__all__:
        value = getattr(reshuffle, name)
        if hasattr(value, "__module__"):
            assert pickle.loads(pickle.dumps(value)) is value  # found by the names of its module and of itself
    with pytest.raises(AttributeError, match="module 'reshuffle' has no attribute 'comapre'"):
        reshuffle.comapre  # type: ignore[attr-defined]  # noqa: B018


def choices(metric: str, option: str) -> list[str]:
    """The values of an option, from the registry of metrics."""
    return next([*o.choices] for m in every_spec() if m.name == metric for o in m.options if o.name == option)


def kinds_of_seeds() -> list[str]:
    """The kinds listed in the core's error for an unknown kind."""
    with pytest.raises(InputError) as raised:
        reshuffle.derive_seed(1, "?", 0)
    return str(raised.value.fields["known"]).split(", ")


def registry(name: str) -> Any:
    """What a module of the package calls by this name."""
    return pkgutil.resolve_name(f"reshuffle.{name}")


# Each type of names beside the registry, of which it lists the names: itself, or where it is.
REGISTRIES: list[tuple[object, Iterable[str] | str]] = [
    (types.MetricName, [spec.name for spec in every_spec()]),
    (types.CountedInPython, "metrics.in_python.IN_PYTHON"),
    (types.Tokenizer, [spec.name for spec in tokenizer_specs()]),
    (types.Tokenizer, choices("bleu", "tokenize")),
    (types.Missing, "metrics.precomputed.TREATMENTS_OF_MISSING"),
    (types.MissingSystems, "sets.TREATMENTS_OF_MISSING_SYSTEMS"),
    (types.StandardError, "inference.intervals.STANDARD_ERRORS"),
    (types.SeedKind, kinds_of_seeds()),
    (types.Test, TESTS),
    (types.TestChoice, "inference.tests.TEST_CHOICES"),
    (types.Alternative, "inference.tests.ALTERNATIVES"),
    (types.Scheme, "resampling.schemes.SCHEMES"),
    (types.Stopping, "resampling.stopping.STOPPING"),
    (types.Adjustment, ["auto", "none", *ADJUSTMENTS]),
    (types.Adjustment, ADJUSTMENT_CHOICES),
    (types.Family, "inference.hypotheses.FAMILIES"),
    (types.Interval, "inference.intervals.INTERVALS"),
    (types.IntervalChoice, [*registry("inference.intervals.INTERVALS"), "simultaneous"]),
    (types.Format, [*registry("report.WRITERS"), "json", "csv"]),
    (types.Table, "report.TABLES"),
    (types.SegmentFormat, [name for name in registry("report.DATA") if name not in get_args(types.GateFormat)]),
    (types.SequentialMethod, ["auto", *registry("watch.METHODS")]),
    (types.SequentialAdjustment, (BONFERRONI, E_BH)),
    (types.SimulatedDifferences, "study.gate.DIFFERENCES"),
    (types.DecisionMethod, ["gate", *registry("watch.METHODS"), "naive", "once"]),
    (types.FlipFormat, [name for name in FORMATS if name != "html"]),
    (types.GateFormat, [*FORMATS, "junit", "github"]),
    (types.GateRule, "inference.gate.RULES"),
    (types.VoteUnit, [*registry("data.votes.UNITS"), "vote"]),
    (types.VoteTies, words("votes")["model"]),
    (types.RatingScale, "votes.FACTORS"),
    (types.CatalogueFormat, "cli.explain.CATALOGUE_FORMATS"),
    (types.PlotKind, "report.PLOTS"),
    (types.SampleLayout, "study.pools.LAYOUTS"),
    (types.Truth, "study.validation.TRUTHS"),
    (types.Exchange, "inference.exchange.EXCHANGES"),
    (types.RunStatistic, "resampling.runs.STATISTICS"),
    (types.RunAdjustment, ["auto", "none", *(a.name for a in ADJUSTMENTS.values() if a.of_pvalues), "maxt"]),
    (types.MetaAdjustment, [name for name in ADJUSTMENT_CHOICES if name not in ("tukey", "scheffe")]),
    (types.RunTable, ["pairs", "systems", "observed"]),
    (types.InputFormat, "data.formats.INPUT_FORMATS"),
    (types.Null, "study.nulls.NULLS"),
    (types.Equalize, "study.null_data.EQUALIZE"),
    (types.Variances, "study.multiplicity.VARIANCES"),
    (types.Sampling, "study.experiments.SAMPLING"),
    (types.Study, COMMANDS),
    (types.StudyScheme, "study.settings.STUDY_SCHEMES"),
    (types.PowerModel, "study.power.MODELS"),
    (types.MetaCoefficient, "meta.coefficients.COEFFICIENTS"),
    (types.HumanScore, "meta.human.HUMAN_SCORES"),
    (types.MetaTest, META_TESTS),
    (types.MetaInterval, [name for name, test in META_TESTS.items() if test.replicates == "draws"]),
    (types.MetaTable, types_of("meta").tables),
    (types.JudgmentFormat, "data.formats.JUDGMENT_FORMATS"),
    (types.ScoreFormat, "data.formats.SCORE_FORMATS"),
    (types.ScoreColumn, "data.formats.table.ROLES"),
    (types.OptimizerName, OPTIMIZERS),
    (types.MertPreset, "options.tuning.PRESETS"),
    (types.OracleTable, types_of("oracle").tables),
    (types.MbrTable, types_of("mbr").tables),
    (types.TuneTable, types_of("tune").tables),
    (types.StudyPlotKind, dict.fromkeys(name for study in MODULES for name in report_of(study).figures)),
]


def test_literal_types_list_the_names_of_the_registries() -> None:
    for names, found in REGISTRIES:
        assert list(get_args(names)) == list(registry(found) if isinstance(found, str) else found), names


LITERALS = {name: each for name, each in vars(types).items() if get_origin(each) is Literal}


def test_every_literal_type_is_compared_with_its_registry() -> None:
    # What functions of arrays have of a registry, and no other place; options check names by the others.
    own = {
        "BootstrapTest", "Groups", "Grouping", "MetricTies", "RunSet", "ScoredSegments", "ShuffleTest", "Ties",
        "Repeats", "RepeatedScores",
    }  # fmt: skip
    missing = {name for name, each in LITERALS.items() if not any(each is names for names, _ in REGISTRIES)}
    assert missing == own
    assert {*get_args(types.BootstrapTest), *get_args(types.ShuffleTest)} <= TESTS.keys()
