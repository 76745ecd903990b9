"""Advice for arguments that are right in other tools, or nearly right here: by what they mean, not by their letters."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import get_args

from ..errors import InputError, quoted, shortened
from ..names import is_metric

_NO_DOWNLOADS = "test sets are not downloaded; run 'sacrebleu -t SET -l PAIR --echo ref > ref.txt' first"
_ALREADY_TESTED = "'reshuffle compare' always tests"
_LANGUAGE = "use --trg-lang with the language of the outputs alone: --trg-lang de for en-de"
_NO_SUBSETS = "test sets are files here: leave the other segments out of REF and of every SYS"
_UTF8 = "files are UTF-8, so convert them first"
_QUIET = "only warnings and errors are printed beside the result, and PYTHONWARNINGS=ignore silences warnings"

_AFTER_REF = "outputs of systems are arguments after REF"

# Options of sacreBLEU and MultEval that have another name here. None of the keys is an option of a command that scores.
OPTIONS: Mapping[str, str] = {
    "--paired-ar": f"{_ALREADY_TESTED}; for approximate randomization add --test ar",
    "--paired-bs": f"{_ALREADY_TESTED}, by the bootstrap unless --test names another test; for sacreBLEU's bootstrap "
    "add --test bootstrap-shift",
    "--paired-ar-n": "use -n",
    "--paired-bs-n": "use -n",
    "--paired-jobs": "use --threads",
    "--confidence-n": "use -n",
    "--input": _AFTER_REF,
    "-i": _AFTER_REF,
    "--hyps-baseline": "use 'reshuffle runs' with --baseline FILE FILE ..., a FILE for each run of the optimizer; with "
    "one run of each system, REF and SYS are arguments, the baseline first: reshuffle compare REF BASELINE SYS",
    "--boot-samples": "use -n",
    "--ar-shuffles": "use -n",
    "--num-refs": "write each reference to a file of its own and use --refs FILE FILE",
    "--test-set": _NO_DOWNLOADS,
    "-t": _NO_DOWNLOADS,
    "--list": _NO_DOWNLOADS,
    "--echo": _NO_DOWNLOADS,
    "--download": _NO_DOWNLOADS,
    "--origlang": _NO_SUBSETS,
    "--subset": _NO_SUBSETS,
    "--detail": "use 'reshuffle score --docs FILE --segments' for the scores of documents",
    "--encoding": _UTF8,
    "-e": _UTF8,
    "--quiet": _QUIET,
    "-q": _QUIET,
    "--citation": "use --methods, which cites all papers",
    "--language-pair": _LANGUAGE,
    "-l": _LANGUAGE,
    "-tok": "use --tokenize",
    "-lc": "use --lowercase",
    "-s": "use --smooth-method, or -m for metrics",
    "-sv": "use --smooth-value",
    "--force": "tokenized text gives only a warning, so leave --force out",
    "-sl": "use 'reshuffle score --segments'",
    "--sentence-level": "use 'reshuffle score --segments'",
    "-b": "use 'reshuffle score --format csv'",
    "--score-only": "use 'reshuffle score --format csv'",
    "-f": "use --format",
    "-w": "use --digits N, or --format json for all digits",
    "--width": "use --digits N, or --format json for all digits",
    "--chrf-char-order": "use --char-order, or -m chrf:char-order=N",
    "--chrf-word-order": "use -m chrf++, --word-order, or -m chrf:word-order=N",
    "--chrf-beta": "use --beta, or -m chrf:beta=X",
    "--chrf-whitespace": "use --whitespace, or -m chrf:whitespace",
    "--chrf-lowercase": "use -m chrf:lowercase, or --lowercase for all metrics",
    "--chrf-eps-smoothing": "use --eps-smoothing, or -m chrf:eps-smoothing",
    "--ter-case-sensitive": "use --case-sensitive, or -m ter:case-sensitive",
    "--ter-asian-support": "use --asian-support, or -m ter:asian-support",
    "--ter-no-punct": "use --no-punct, or -m ter:no-punct",
    "--ter-normalized": "use --normalized, or -m ter:normalized",
}
# Names that SciPy, comet-compare, R and other programs have for options, or that one expects.
SAME: Mapping[str, Sequence[str]] = {
    "--format csv": ("--csv", "--to-csv"),
    "--format html": ("--html", "--to-html"),
    "--format json": ("--json", "--to_json", "--to-json", "--as-json"),
    "--format latex -o FILE": ("--latex", "--tex"),
    "--format markdown": ("--markdown", "--md"),
    "--format": ("--output-type", "--fmt"),
    "-o": ("--out", "--output-file", "--outfile", "--save-to"),
    "-n": (
        "--n-permutations", "--permutations", "--num-permutations", "--n-bootstrap", "--num-bootstrap", "--n-boot",
        "--bootstrap-samples", "--num-samples", "--num_splits", "--num-splits", "--num-resamples", "--resamples",
        "--iterations", "--trials", "--shuffles", "--draws", "--replicates",
    ),
    "--seed": ("--random-state", "--random_state", "--random-seed", "--rng"),
    "--confidence": ("--confidence-level", "--confidence_level", "--conf-level", "--ci", "--level"),
    "--alpha": ("--significance-level", "--significance", "--sig-level"),
    "--alternative": ("--t_test_alternative", "--side", "--sides", "--tail", "--tails"),
    "--alternative better": ("--one-sided", "--one-tailed"),
    "--adjust bh": ("--fdr",),
    "--adjust": ("--correction", "--adjustment", "--p-adjust", "--multiple-testing", "--multiple-comparisons"),
    "--test": ("--method", "--statistical-test", "--significance-test"),
    "--test ar": ("--ar", "--permutation", "--permutation-test", "--approximate-randomization", "--randomization"),
    "--test ar:scheme=NAME": ("--scheme",),
    "--test ar:stopping=NAME": ("--stopping",),
    "--interval simultaneous": ("--simultaneous",),
    "--test bootstrap-both": ("--bootstrap",),
    "--threads": ("-j", "--jobs", "--n-jobs", "--workers", "--num-workers", "--num_workers", "--num-threads"),
    "--refs FILE FILE": ("--references", "--reference", "-r"),
    "--docs": ("--documents", "--doc-ids", "--docids", "--speakers", "--clusters", "--cluster"),
    "--lowercase": ("--lower", "--ignore-case", "--uncased"),
    "--tokenize": ("--tokenizer", "--tok"),
    "--test equivalence:METRIC=VALUE": ("--margin", "--margins", "--equivalence-margin", "--delta"),
    "--all-pairs": ("--pairwise", "--all"),
    "--null noise:rate=X": ("--noise",),
    "--null documents:icc=X": ("--icc",),
    "--null documents:size=N": ("--document-size",),
}  # fmt: skip
OPTIONS = {**OPTIONS, **{name: f"use {option}" for option, names in SAME.items() for name in names}}
OPTIONS = {
    **OPTIONS,
    **dict.fromkeys(("--hypotheses", "--hyps", "--hypothesis", "--translations", "--outputs-of-systems"), _AFTER_REF),
}
# Short forms of the same.
OPTIONS = {
    **OPTIONS,
    "-par": OPTIONS["--paired-ar"],
    "-pbs": OPTIONS["--paired-bs"],
    "-parn": OPTIONS["--paired-ar-n"],
    "-pbsn": OPTIONS["--paired-bs-n"],
    "-cin": OPTIONS["--confidence-n"],
    "-nr": OPTIONS["--num-refs"],
    "-ci": "use --confidence 0.95",
    "-cc": OPTIONS["--chrf-char-order"],
    "-cw": OPTIONS["--chrf-word-order"],
}

_SPBLEU = "spBLEU is BLEU with a SentencePiece tokenizer: use -m bleu:tokenize=flores200,tokenizer-model=FILE"
_SCORES = "its scores per segment can be read from files: --scores {name} FILE FILE"
EXTERNAL = ("bertscore", "bleurt", "comet", "cometkiwi", "metricx", "mqm", "xcomet")

# Names that other tools use, by what they name here.
NAMES: Mapping[str, Mapping[str, str]] = {
    "metric": {
        "spbleu": _SPBLEU,
        "sacrebleu": "use -m bleu",
        "chrfpp": "use -m chrf++",
        "sentence-bleu": "use -m sentbleu",
        "exact_match": "use -m exact, which normalizes as SQuAD does; --scores exact_match reads logs",
        **{name: _SCORES.format(name=name) for name in EXTERNAL},
    },
    "test": {
        "mcnemar": "use sign-test, which is McNemar's exact test if scores are 0 and 1",
        "mapsswe": "use the default test, with --docs for speakers",
        "paired-bs": "use the default test, or bootstrap-shift for sacreBLEU's",
        "paired-ar": "use ar",
        "approximate-randomization": "use ar",
    },
    "--tokenize": {
        "mecab": "use ja-mecab for Japanese, ko-mecab for Korean",
        "spbleu": "use flores200, flores101 or spBLEU-1K",
        "flores": "use flores200 or flores101",
        "moses": "texts should be detokenized; for tokenized texts use none, as multi-bleu.perl does",
    },
}


# What other programs, or earlier builds, call commands.
COMMANDS: Mapping[str, str] = {
    **dict.fromkeys(("metrics", "list", "describe", "info"), "explain"),
    **dict.fromkeys(("test", "significance", "paired", "ttest", "bootstrap"), "compare"),
    **dict.fromkeys(("bleu", "evaluate", "eval"), "score"),
    **dict.fromkeys(("multeval", "optimizer-runs"), "runs"),
    **dict.fromkeys(("figure", "draw"), "plot"),
    **dict.fromkeys(("render", "report", "convert", "view", "print"), "show"),
    **dict.fromkeys(("reproduce", "recompute", "check", "rerun", "replicate"), "verify"),
    **dict.fromkeys(("power", "sample-size"), "plan"),
}


def check_habits(args: Sequence[str], own: Collection[str] = ()) -> None:
    """Raise :class:`InputError` for an option of another tool, with the one to use here.

    ``own`` are options of the command, which are not meant. An option that the command does not have is not advised.
    """
    for option, value in zip(args, [*args, ""][1:], strict=True):
        if option == "--":
            return
        name = option.split("=", 1)[0]
        if option == "--confidence" and option in own and (not value or value.startswith("-")):  # a switch in sacreBLEU
            raise InputError("--confidence needs a level: --confidence 0.95")
        if name in own or not name.startswith("-"):
            continue
        if name.startswith("--hyps-sys"):  # of MultEval, with a number
            raise InputError(f"there is no option {name}: use 'reshuffle runs' with --system NAME FILE FILE ...")
        advice = _advice(name, value, own)
        if advice is not None and _has_what_is_advised(name, advice, own):
            raise InputError(f"there is no option {name}: {advice}")


def _advice(name: str, value: str, own: Collection[str]) -> str | None:
    if name == "-s" and is_metric(value.partition(":")[0]):
        return f"use -m {shortened(value)}"
    with_hyphens = name[:2] + name[2:].replace("_", "-")
    if name not in OPTIONS and with_hyphens != name and with_hyphens in own:
        return f"use {with_hyphens}"
    return OPTIONS.get(name) or _of_name(name)


def _of_name(written: str) -> str | None:
    """The option that takes a name which was written as an option: ``--bonferroni``, ``--wilcoxon``, ``--chrf``."""
    from .. import types  # not at start-up

    taken = {"-m": types.MetricName, "--test": types.Test, "--interval": types.Interval, "--adjust": types.Adjustment}
    name = written.removeprefix("--")
    # Words that may mean something else.
    known = {} if name in ("auto", "none", "by", written) else taken
    return next((f"use {option} {name}" for option, names in known.items() if name in get_args(names)), None)


def _has_what_is_advised(name: str, advice: str, own: Collection[str]) -> bool:
    """Whether the command has the option that the text names first, or the argument. Other commands have their own.

    >>> [_has_what_is_advised("--method", "use --test, or --exchange", [own]) for own in ("--test", "--exchange")]
    [True, False]
    """
    if not own or advice.startswith("use 'reshuffle"):
        return True
    if advice == _AFTER_REF:
        return "reference" in own
    named = [each for each in re.findall(r"(?<![\w-])--?[a-z][\w-]*", re.sub(r"'[^']*'", "", advice)) if each != name]
    return not named or named[0] in own


def command_advice(name: str) -> str | None:
    """The command that is called otherwise elsewhere."""
    return COMMANDS.get(name.lower())


def name_advice(kind: str, name: str) -> InputError | None:
    """The error for a name that other tools know and reshuffle does not."""
    advice = NAMES.get(kind, {}).get(name.lower())
    return None if advice is None else InputError(f"unknown {kind} {quoted(shortened(name))}: {advice}")
