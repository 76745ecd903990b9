"""The command line: MultEval's options, and those of reshuffle."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reshuffle import InputError

from ..commands import Parser, add_number, file_name, whole

PROGRAM = "python -m reshuffle.compat.multeval"
DESCRIPTION = """
MultEval 0.5.1 (Clark et al. 2011) with the counts and replicates of reshuffle: the same options, scores, tables and
files.
"""
# What reshuffle's TER and METEOR have. MultEval has options to change these numbers, reshuffle has not.
FIXED = {
    "ter.beamWidth": 20.0,
    "ter.maxShiftDistance": 50.0,
    "ter.matchCost": 0.0,
    "ter.deleteCost": 1.0,
    "ter.substituteCost": 1.0,
    "ter.insertCost": 1.0,
    "ter.shiftCost": 1.0,
    "meteor.beamSize": 40.0,
}
# What the options of reshuffle's METEOR are called on this command line.
OPTIONS = {
    "language": "--meteor.language",
    "task": "--meteor.task",
    "parameters": "--meteor.params",
    "modules": "--meteor.modules",
    "module_weights": "--meteor.weights",
    "meteor_jar": "--meteor.jar",
    "wordnet": "--meteor.wordnet",
    "paraphrases": "--meteor.paraphraseFile",
}
SYSTEM = re.compile(r"(?:--hyps-sys|-H)(\d+)(=.*)?", re.DOTALL)


class _Once(argparse.Action):
    """An option that names files and would lose the first ones if it were given again."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if getattr(namespace, self.dest) is not None:
            raise InputError(f"{option} is given twice: name all files after one {option}")
        setattr(namespace, self.dest, values)


_FILES: dict[str, Any] = {"nargs": "+", "metavar": "FILE", "action": _Once}
_FILE: dict[str, Any] = {"type": file_name, "metavar": "FILE"}
_FOLDER: dict[str, Any] = {"type": file_name, "metavar": "DIR"}
_NUMBER: dict[str, Any] = {"type": whole, "default": 0, "metavar": "N"}
_REFERENCES = "references: tokenized, one segment per line"


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options by their names, without ``--``. ``systems`` are the files of each system but the baseline.

    Raises
    ------
    InputError
        If options are unknown, missing or wrong. ``--help`` prints and exits.
    """
    arguments = [re.sub(r"^-H(?=\d)", "--hyps-sys", argument) for argument in arguments]
    numbers = sorted({int(found[1]) for argument in arguments if (found := SYSTEM.fullmatch(argument))})
    missing = sorted({*range(1, len(numbers) + 1)}.difference(numbers))
    if missing:
        raise InputError(f"--hyps-sys{numbers[-1]} is given, but --hyps-sys{missing[0]} is not: number systems from 1")
    parser = Parser(prog=PROGRAM, description=DESCRIPTION, allow_abbrev=False)
    modules = parser.add_subparsers(dest="module", required=True, metavar="eval|nbest", parser_class=Parser)
    _add_eval(modules.add_parser("eval", help="compare systems with several runs each", allow_abbrev=False), numbers)
    _add_nbest(modules.add_parser("nbest", help="score and rank n-best lists", allow_abbrev=False))
    options = parser.parse_args(arguments)
    for name, value in FIXED.items():
        if getattr(options, name) != value:
            raise InputError(f"--{name}: reshuffle has {value:g} only, got {getattr(options, name):g}: leave it out")
    options.systems = [getattr(options, f"system{number}") for number in numbers]
    options.metrics = words_of(options.metrics)
    for name, kind in (("meteor.params", float), ("meteor.modules", str), ("meteor.weights", float)):
        words = words_of(getattr(options, name) or ())
        try:
            setattr(options, name, tuple(map(kind, words)) if getattr(options, name) is not None else None)
        except ValueError:
            raise InputError(f"--{name}: expected numbers, got {' '.join(words)!r}") from None
    return options


def _add_eval(parser: argparse.ArgumentParser, numbers: Sequence[int]) -> None:
    parser.add_argument("-R", "--refs", required=True, help=_REFERENCES, **_FILES)
    parser.add_argument("-B", "--hyps-baseline", required=True, help="the outputs of the baseline's runs", **_FILES)
    for number in numbers or [1]:
        text = "the outputs of each other system's runs: --hyps-sys1 … --hyps-sys2 … and so on"
        hidden = text if number == 1 else argparse.SUPPRESS
        parser.add_argument(f"--hyps-sys{number}", dest=f"system{number}", help=hidden, **_FILES)
    _add_metrics(parser, "bleu meteor ter length")
    add_number(parser, "-b", "--boot-samples", default=10_000, about="bootstrap draws")
    add_number(parser, "-s", "--ar-shuffles", default=10_000, about="shuffles of the test")
    parser.add_argument("-L", "--latex", **_FILE, help="write the table as LaTeX")
    parser.add_argument("-F", "--fullLatexDoc", **_FLAG, help="write a whole LaTeX document")
    parser.add_argument("-r", "--rankDir", **_FOLDER, help="segments of median runs, by difference from the baseline")
    parser.add_argument("-S", "--sentLevelDir", **_FOLDER, help="the scores of every segment of every run")
    parser.add_argument("-D", "--debug", **_FLAG, help="accepted, without effect")
    own = parser.add_argument_group("not in MultEval")
    add_number(own, "--seed", default=12345, about="seed of draws and shuffles", kind=whole)
    own.add_argument(
        "--test",
        default="multeval",
        metavar="UNIT",
        help="what is exchanged to compute p: multeval, with the faults of MultEval's test (default); auto, run, "
        "welch, hierarchical, hierarchical-t, segment, pooled or cell, as in reshuffle runs --exchange",
    )
    own.add_argument("--json", **_FILE, help="write all results as JSON, which reshuffle.read_json reads")
    _add_common(parser)


def _add_nbest(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-N", "--nbest", required=True, metavar="FILE", help="id ||| hypothesis ||| features ||| score")
    parser.add_argument("-R", "--refs", required=True, help=_REFERENCES, **_FILES)
    _add_metrics(parser, "bleu meteor ter")
    parser.add_argument("-r", "--rankDir", **_FOLDER, help="the list sorted by each metric")
    _add_common(parser)


def _add_metrics(parser: argparse.ArgumentParser, default: str) -> None:
    parser.add_argument(
        "-o", "--metrics", nargs="+", default=default.split(), metavar="NAME", help=f"any of them (default: {default})"
    )


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-t", "--threads", **_NUMBER, help="0, the default: one per core")
    parser.add_argument("-v", "--verbosity", **_NUMBER, help="in eval, 1 prints the score of every run")
    parser.add_argument("--bleu.verbosity", **_NUMBER, help="accepted, without effect")
    ter = parser.add_argument_group("TER")
    ter.add_argument("--ter.punctuation", **_FLAG, help="ignore punctuation, as in MultEval, in spite of the name")
    meteor = parser.add_argument_group(
        "METEOR", "Nothing is downloaded: name METEOR's jar for synonyms and paraphrases."
    )
    meteor.add_argument("--meteor.language", metavar="CODE", help="language of the texts, such as en")
    meteor.add_argument("--meteor.task", metavar="NAME", help="what METEOR's parameters were tuned for (default: rank)")
    meteor.add_argument("--meteor.params", nargs="+", metavar="NUMBER", help="alpha beta gamma delta")
    meteor.add_argument("--meteor.modules", nargs="+", metavar="NAME", help="any of exact stem synonym paraphrase")
    meteor.add_argument("--meteor.weights", nargs="+", metavar="NUMBER", help="a weight for each module")
    meteor.add_argument("--meteor.synonymDirectory", metavar="DIR", help="METEOR's folder synonym, or that of WordNet")
    meteor.add_argument("--meteor.paraphraseFile", metavar="FILE", help="METEOR's table of paraphrases")
    meteor.add_argument("--meteor.keepPunctuation", **{**_FLAG, "default": True}, help="true or false (default: true)")
    meteor.add_argument("--meteor.jar", metavar="PATH", help="METEOR's jar, or its folder (not in MultEval)")
    meteor.add_argument("--meteor.wordnet", metavar="DIR", help="WordNet's dictionary files (not in MultEval)")
    for name, value in FIXED.items():
        group = ter if name.startswith("ter") else meteor
        group.add_argument(f"--{name}", type=float, default=value, metavar="N", help=f"{value:g} only")


def option_named(name: str) -> str:
    """The option of this command line that stands for an option of reshuffle's METEOR; other names as they are.

    >>> option_named("meteor_jar")
    '--meteor.jar'
    """
    return OPTIONS.get(name, name)


def files_of(paths: Sequence[str]) -> list[str]:
    """Names of files. As in MultEval, several can be one argument, separated by spaces."""
    return [name for path in paths for name in ([path] if Path(path).exists() else path.split() or [path])]


def words_of(values: Sequence[str]) -> tuple[str, ...]:
    """Values that are separate arguments, or in one argument, separated by spaces or commas.

    >>> words_of(["bleu ter", "length"])
    ('bleu', 'ter', 'length')
    """
    return tuple(word for value in values for word in re.split("[ ,]+", value) if word)


def _flag(text: str) -> bool:
    try:
        return {"true": True, "false": False}[text.lower()]
    except KeyError:
        raise argparse.ArgumentTypeError(f"expected true or false, got {text!r}") from None


_FLAG: dict[str, Any] = {"nargs": "?", "const": True, "default": False, "type": _flag, "metavar": "true|false"}
