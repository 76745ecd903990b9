"""The names that users type, as ``Literal`` types: metrics, tokenizers, tests, intervals, formats and so on.

The command line takes its choices from here, so that ``--help`` need not import the registries and numpy. Below each
type stands the registry that defines what the names do; a test checks that both hold the same names in the same order.
The values of metrics' options are in the metrics' own registry only.

Public functions are annotated with ``Test | str`` and the like. Editors complete the known names, and a name from a
configuration file, which is a plain ``str``, passes a type checker without a cast. A misspelled name is an
:class:`~reshuffle.InputError` that suggests the nearest one.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

MetricName: TypeAlias = Literal[
    "bleu", "sentbleu", "nist", "chrf", "chrf++", "ter", "wer", "per", "asr-wer", "cer", "mer", "wil", "meteor", "gtm",
    "length", "depf", "rouge1", "rouge2", "rougeL", "rougeLsum", "sari",
    "exact", "f1", "accuracy", "micro-f1", "macro-f1", "mcc", "kappa", "span-f1",
]  # fmt: skip
""":func:`reshuffle.metrics.in_python.every_spec`."""

CountedInPython: TypeAlias = Literal["exact", "f1", "accuracy", "micro-f1", "macro-f1", "mcc", "kappa", "span-f1"]
""":data:`reshuffle.metrics.in_python.IN_PYTHON`."""

Tokenizer: TypeAlias = Literal[
    "13a", "intl", "mteval-intl", "multi-bleu", "zh", "zh-fixed", "char", "none",
    "ja-mecab", "ko-mecab", "flores101", "flores200", "spBLEU-1K", "spm",
]  # fmt: skip
""":func:`reshuffle.metrics.registry.tokenizer_specs`."""

Test: TypeAlias = Literal[
    "ar", "ar-studentized", "permutation", "bootstrap", "bootstrap-both", "bootstrap-kink",
    "bootstrap-percentile",
    "bootstrap-shift", "paired-bootstrap", "t-test", "anova", "wilcoxon", "sign-test",
    "equivalence", "equivalence-studentized", "equivalence-ar",
    "non-inferiority", "non-inferiority-studentized", "non-inferiority-ar",
]  # fmt: skip
""":data:`reshuffle.inference.tests.TESTS`."""

TestChoice: TypeAlias = Literal["auto", Test]
""":data:`reshuffle.inference.tests.TEST_CHOICES`: ``auto`` and the registry of tests."""

BootstrapTest: TypeAlias = Literal[
    "bootstrap", "bootstrap-both", "bootstrap-percentile", "bootstrap-shift", "paired-bootstrap"
]
"""The tests of :func:`reshuffle.bootstrap_test`."""

ShuffleTest: TypeAlias = Literal["ar", "ar-studentized"]
"""The tests of :func:`reshuffle.approximate_randomization`."""

Alternative: TypeAlias = Literal["two-sided", "better", "worse", "greater", "less"]
""":data:`reshuffle.inference.tests.ALTERNATIVES`."""

Scheme: TypeAlias = Literal["auto", "iid", "subgroup", "exact"]
""":data:`reshuffle.resampling.schemes.SCHEMES`."""

Ties: TypeAlias = Literal[">=", ">"]
"""Whether a replicate exactly as extreme as the observed difference counts (``>=``), or not (``>``)."""

Stopping: TypeAlias = Literal["besag-clifford", "gandy"]
""":data:`reshuffle.resampling.stopping.STOPPING`."""

Adjustment: TypeAlias = Literal[
    "auto", "none", "bonferroni", "holm", "sidak", "hochberg", "hommel", "bh", "by", "maxt", "minp", "tukey",
    "scheffe",
]  # fmt: skip
""":data:`reshuffle.inference.tests.ADJUSTMENT_CHOICES`: ``auto``, ``none`` and the registry of adjustments."""

Family: TypeAlias = Literal["metric", "set", "sets", "all"]
""":data:`reshuffle.inference.hypotheses.FAMILIES`."""

Interval: TypeAlias = Literal[
    "percentile", "koehn", "basic", "normal", "bca", "studentized", "delta", "jackknife", "ar-studentized",
    "bootstrap-kink", "t",
]  # fmt: skip
""":data:`reshuffle.inference.intervals.INTERVALS`."""

IntervalChoice: TypeAlias = Literal[Interval, "simultaneous"]
"""The registry of intervals, and :class:`reshuffle.Simultaneous`."""

MissingSystems: TypeAlias = Literal["error", "drop"]
""":data:`reshuffle.sets.TREATMENTS_OF_MISSING_SYSTEMS`."""

Missing: TypeAlias = Literal["error", "pairwise"]
""":data:`reshuffle.metrics.precomputed.TREATMENTS_OF_MISSING`."""

StandardError: TypeAlias = Literal["delta", "jackknife", "bootstrap"]
""":data:`reshuffle.inference.intervals.STANDARD_ERRORS`."""

SeedKind: TypeAlias = Literal["test-set", "simulation", "run", "restart"]
"""Kinds of :func:`reshuffle.derive_seed`, which the core defines."""

Format: TypeAlias = Literal["text", "markdown", "latex", "typst", "html", "json", "csv"]
""":data:`reshuffle.report.FORMATS`."""

Table: TypeAlias = Literal["systems", "pairs"]
""":data:`reshuffle.report.TABLES`."""

Groups: TypeAlias = Literal["letters", "ranks", "both"]
"""How to show which systems differ."""

SegmentFormat: TypeAlias = Literal["tsv", "jsonl"]
"""The formats of the scores of segments."""

DecisionMethod: TypeAlias = Literal[
    "gate", "betting", "sign", "asymptotic", "obrien-fleming", "pocock", "naive", "once"
]
"""A gate, the methods of :data:`reshuffle.watch.METHODS`, and two z-tests."""

SimulatedDifferences: TypeAlias = Literal["normal", "4%", "10%", "40%", "skewed", "mirrored"]
""":data:`reshuffle.study.gate.DIFFERENCES`."""

SequentialMethod: TypeAlias = Literal["auto", "betting", "sign", "asymptotic", "obrien-fleming", "pocock"]
""":data:`reshuffle.watch.METHODS`, with ``auto``."""

SequentialAdjustment: TypeAlias = Literal["bonferroni", "e-bh"]
"""``BONFERRONI`` and ``E_BH`` in :mod:`reshuffle.results.studies.watch`."""

FlipFormat: TypeAlias = Literal["text", "markdown", "latex", "typst", "json", "csv"]
"""As :data:`Format`, without pages."""

GateFormat: TypeAlias = Literal["text", "markdown", "latex", "typst", "html", "json", "csv", "junit", "github"]
"""As :data:`Format`, JUnit's XML, and annotations of GitHub Actions."""

AnyFormat: TypeAlias = Format | FlipFormat | GateFormat | SegmentFormat
"""The formats of results of any kind."""

VoteUnit: TypeAlias = Literal["judge", "ranking", "prompt", "vote"]
VoteTies: TypeAlias = Literal["model", "half", "drop"]
RatingScale: TypeAlias = Literal["log", "elo"]
GateRule: TypeAlias = Literal["non-inferior", "superior", "no-regression"]
""":data:`reshuffle.inference.gate.RULES`."""

CatalogueFormat: TypeAlias = Literal["text", "json", "markdown"]
""":data:`reshuffle.cli.explain.CATALOGUE_FORMATS`."""

InputFormat: TypeAlias = Literal[
    "text", "mteval", "tsv", "csv", "jsonl", "conllu", "conll", "comet", "comet-printed", "mt-metrics-eval", "table",
    "trn", "kaldi", "utt2spk", "meeteval",
]  # fmt: skip
""":data:`reshuffle.data.formats.INPUT_FORMATS`."""

JudgmentFormat: TypeAlias = Literal["rank", "rnk", "rnk-2008"]
""":data:`reshuffle.data.formats.JUDGMENT_FORMATS`."""

ScoreColumn: TypeAlias = Literal["system", "segment", "score", "language_pair", "test_set", "metric"]
""":data:`reshuffle.data.formats.table.ROLES`."""

Unmatched: TypeAlias = Literal["error", "drop"]
"""What to do with segments that some systems lack: :func:`reshuffle.join_scores`."""

ScoreFormat: TypeAlias = Literal[
    "inspect", "lm-eval", "pearmut", "human-eval", "evalplus", "swe-bench", "helm",
    "comet", "comet-printed", "numbers", "table", "mt-metrics-eval", "jsonl", "trec-eval",
]  # fmt: skip
""":data:`reshuffle.data.formats.SCORE_FORMATS`: of several that a file may have by its first line, the first."""

Repeats: TypeAlias = Literal["net", "all"]
"""How several votes on the same two outputs count: :func:`reshuffle.meta.read_judgments`."""

RepeatedScores: TypeAlias = Literal["mean", "error"]
"""What to do with several scores of an output: :func:`reshuffle.read_scores`."""

UnknownSystems: TypeAlias = Literal["error", "drop"]
"""What to do with systems that have no output: :func:`reshuffle.meta.read_judgments`."""

HumanScore: TypeAlias = Literal["wins", "expected-wins", "wins-or-ties"]
""":data:`reshuffle.meta.HUMAN_SCORES`."""

ScoredSegments: TypeAlias = Literal["judged", "all"]
"""On which segments metrics score systems: those that people judged, or all."""

PlotKind: TypeAlias = Literal["ranking", "forest", "matrix", "null", "densities"]
""":data:`reshuffle.report.PLOTS`."""

Study: TypeAlias = Literal[
    "type1", "multiplicity", "power", "sensitivity", "validate", "samples", "agreement", "exchange", "gate"
]  # fmt: skip
""":data:`reshuffle.cli.studies.COMMANDS`."""

Null: TypeAlias = Literal[
    "swap", "equal-score", "margin", "documents", "documents-as-units", "noise", "replicate", "variants"
]  # fmt: skip
""":data:`reshuffle.study.nulls.NULLS`."""

Sampling: TypeAlias = Literal["replace", "subset", "fixed"]
""":data:`reshuffle.study.experiments.SAMPLING`."""

StudyScheme: TypeAlias = Literal["iid", "subgroup", "orbit"]
""":data:`reshuffle.study.settings.STUDY_SCHEMES`."""

Equalize: TypeAlias = Literal["mix", "drop-words"]
""":data:`reshuffle.study.null_data.EQUALIZE`."""

Variances: TypeAlias = Literal["equal", "unequal"]
""":data:`reshuffle.study.multiplicity.VARIANCES`."""

PowerModel: TypeAlias = Literal["eta", "real", "parametric"]
""":data:`reshuffle.study.power.MODELS`."""

SampleLayout: TypeAlias = Literal["broad", "block"]
""":data:`reshuffle.study.pools.LAYOUTS`."""

Truth: TypeAlias = Literal["complement", "whole"]
""":data:`reshuffle.study.validation.TRUTHS`."""

Exchange: TypeAlias = Literal["run", "welch", "segment", "pooled", "cell", "hierarchical", "hierarchical-t", "multeval"]
""":data:`reshuffle.inference.exchange.EXCHANGES`."""

RunAdjustment: TypeAlias = Literal[
    "auto", "none", "bonferroni", "holm", "sidak", "hochberg", "hommel", "bh", "by", "maxt"
]  # fmt: skip
"""The adjustments that :mod:`reshuffle.inference.run_tests` has for comparisons of runs."""

MetaAdjustment: TypeAlias = Literal[
    "auto", "none", "bonferroni", "holm", "sidak", "hochberg", "hommel", "bh", "by", "maxt", "minp"
]  # fmt: skip
"""The adjustments that :mod:`reshuffle.meta` has for comparisons of metrics."""

RunStatistic: TypeAlias = Literal["pooled", "mean"]
""":data:`reshuffle.resampling.runs.STATISTICS`."""

RunSet: TypeAlias = Literal["test", "dev"]
"""On which test set the median run is determined: :func:`reshuffle.compare_runs`."""

RunTable: TypeAlias = Literal["pairs", "systems", "observed"]
""":func:`reshuffle.report.studies.rows.tables_of`."""

MetaCoefficient: TypeAlias = Literal[
    "tau", "darr", "pearson", "spearman", "kendall-b", "kendall-c", "acc23", "tau23", "accuracy", "soft-accuracy"
]  # fmt: skip
""":data:`reshuffle.meta.COEFFICIENTS`."""

Grouping: TypeAlias = Literal["none", "sys", "item"]
"""How the cells of a matrix are grouped: all, those of a system or those of a segment. The value is their mean."""

MetricTies: TypeAlias = Literal["half", "discordant", "ignore", "denominator"]
"""How pairs of outputs to which a metric gives the same score count in Kendall's tau from votes."""

MetaTest: TypeAlias = Literal[
    "williams", "t-both", "perm-both", "perm-inputs", "perm-systems", "boot-both", "boot-inputs", "boot-systems"
]  # fmt: skip
""":data:`reshuffle.meta.TESTS`."""

MetaInterval: TypeAlias = Literal["boot-both", "boot-inputs", "boot-systems"]
"""The entries of :data:`reshuffle.meta.TESTS` with draws."""

MetaTable: TypeAlias = Literal["results", "comparisons", "groups", "human", "systems"]
"""The tables of ``STUDY`` in :mod:`reshuffle.results.studies.meta`."""

OptimizerName: TypeAlias = Literal["mert", "kbmira", "pro", "xbleu", "l1"]
""":data:`reshuffle.tune.OPTIMIZERS`."""

MertPreset: TypeAlias = Literal["both", "moses", "cdec"]
""":data:`reshuffle.options.tuning.PRESETS`."""

OracleTable: TypeAlias = Literal["scores", "searches", "entries"]
"""The tables of ``STUDY`` in :mod:`reshuffle.results.studies.oracle`."""

MbrTable: TypeAlias = Literal["choices", "scores"]
"""The tables of ``STUDY`` in :mod:`reshuffle.results.studies.mbr`."""

TuneTable: TypeAlias = Literal["runs", "start", "trace"]
"""The tables of ``STUDY`` in :mod:`reshuffle.results.studies.tune`."""

StudyPlotKind: TypeAlias = Literal[
    "rates", "qq", "families", "power", "sizes", "detectable", "sensitivity", "bands", "gaps", "curves",
    "differences", "scores", "gains", "agreement", "exchange", "runs", "histogram", "observed", "forest", "matrix",
    "scatter", "grid", "replications", "course",
]  # fmt: skip
"""The figures of all studies, in the order of :data:`reshuffle.results.studies.tables.MODULES`."""
