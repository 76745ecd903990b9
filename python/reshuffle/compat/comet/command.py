"""The command: options, report, JSON, and the tests of reshuffle beside it."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING, Any

from reshuffle import InputError

from ..commands import Parser, add_number, check_file, file_name, run, say, whole, write

if TYPE_CHECKING:
    from reshuffle import ScoredTexts

PROGRAM = "python -m reshuffle.compat.comet"
DESCRIPTION = """
comet-compare (unbabel-comet 2.2.7) from segment scores that comet-score has written: the same options, numbers, table
and JSON file, without a model, and the tests of reshuffle beside it.
"""
# The beginning of comet-compare's JSON files.
OWN = r'\s*\{\s*"model"'


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code: 2 for wrong input, with one line on standard error."""
    return run("comet-compare", _run, arguments)


def _parser() -> Parser:
    parser = Parser(prog=PROGRAM, description=DESCRIPTION)
    path: dict[str, Any] = {"type": file_name, "metavar": "FILE"}
    parser.add_argument("-s", "--sources", help="the source; by default as in the files of scores", **path)
    parser.add_argument("-r", "--references", help="the reference; by default as in the files of scores", **path)
    parser.add_argument(
        "-t", "--translations", nargs="*", default=[], help="the systems; by default all in the files of scores", **path
    )
    add_number(parser, "--num_splits", default=300, about="bootstrap draws")
    parser.add_argument(
        "--sample_ratio", type=_ratio, default=0.4, metavar="X", help="size of a draw, of the segments (default: 0.4)"
    )
    parser.add_argument(
        "--t_test_alternative",
        default="two-sided",
        choices=("two-sided", "less", "greater"),
        help="of the paired t-test (default: two-sided)",
    )
    parser.add_argument("--to_json", type=str, default="", metavar="FILE", help="write the results as JSON")
    parser.add_argument(
        "--model", default="Unbabel/wmt22-comet-da", metavar="NAME", help="only named in JSON (default: %(default)s)"
    )
    parser.add_argument(
        "-d",
        "--sacrebleu_dataset",
        metavar="SET:PAIR",
        help="instead of -s and -r: source and reference are those in the files of scores",
    )
    ignored = parser.add_argument_group("without effect, because no model is run")
    for option in ("--batch_size", "--gpus", "--num_workers"):
        ignored.add_argument(option, type=int, metavar="N", help="accepted")
    ignored.add_argument("--model_storage_path", metavar="DIR", help="accepted")
    for option in ("--quiet", "--only_system", "--disable_cache", "--disable_length_batching", "--print_cache_info"):
        ignored.add_argument(option, action="store_true", help="accepted")
    own = parser.add_argument_group("not in comet-compare")
    own.add_argument(
        "--scores",
        nargs="+",
        type=file_name,
        metavar="FILE",
        help="segment scores: files of comet-score --to_json or what it prints; or files with a number on each line, "
        "one for each system in the order of -t; required",
    )
    own.add_argument("--seed", type=whole, default=1, metavar="N", help="of the draws; 1 is that of comet-compare")
    own.add_argument(
        "--tests",
        nargs="+",
        default=[],
        metavar="TEST",
        help="compare all pairs by reshuffle's tests as well, such as ar, bootstrap-both or t-test, with adjusted p",
    )
    add_number(own, "-n", "--n_resamples", default=10_000, about="replicates of --tests")
    return parser


def _ratio(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text[:40]!r}")
    return number


def _run(arguments: list[str]) -> str:
    options = _parser().parse_args(arguments)
    if options.sacrebleu_dataset is not None:
        if options.sources is not None or options.references is not None:
            raise InputError("-d replaces -s and -r: leave out one or the other")
        if ":" not in options.sacrebleu_dataset:
            raise InputError(f"-d: expected SET:PAIR, such as wmt20:de-en, got {options.sacrebleu_dataset!r}")
    if not options.scores:
        raise InputError(
            "no scores: write them with comet-score -s SRC -t SYS… -r REF --to_json FILE, and add --scores FILE"
        )
    if len(set(options.translations)) < len(options.translations):
        raise InputError("-t names a file twice: each system has to have its own")
    if len(options.translations) == 1:
        raise InputError("-t: expected at least two files of translations, got one")
    if options.seed >= 1 << 32:
        raise InputError(f"--seed: expected a number below 2^32, got {options.seed}")
    if options.to_json:
        check_file(options.to_json, OWN)
    # The core reads while numpy is imported, which --help does not need.
    importing = Thread(target=import_module, args=(".resampling", __package__))
    importing.start()
    files = _read(options.scores)
    importing.join()
    from .outputs import as_json, report
    from .resampling import as_matrix, statistical_results
    from .segments import read_scored

    scored = read_scored(files, options.translations, options.sources, options.references)
    if options.sacrebleu_dataset is not None and (scored.source is None or scored.reference is None):
        raise InputError(
            "-d: test sets are not downloaded, and the files of --scores lack the source or the reference: name "
            "both by -s and -r, as sacrebleu --echo prints them"
        )
    scores = scored.scores
    matrix = as_matrix(scores)
    results = statistical_results(
        scores,
        num_splits=options.num_splits,
        sample_ratio=options.sample_ratio,
        t_test_alternative=options.t_test_alternative,
        seed=options.seed,
    )
    text = report(results, list(scores))
    info: dict[str, Any] = {"model": options.model, "statistical_results": results}
    if scored.source is not None:
        info["source"] = scored.source
    info["translations"] = [
        {"name": name, **({"mt": scored.translations[name]} if name in scored.translations else {}), "scores": row}
        for name, row in zip(scores, matrix.tolist(), strict=True)
    ]
    if scored.reference is not None:
        info["reference"] = scored.reference
    if options.tests:
        compared, own_text = _tested(scores, options)
        info["reshuffle"], text = compared, text + own_text
    else:
        say(_note(len(results)))
    if options.to_json:
        write(options.to_json, as_json(info))
        text += f"Predictions saved in: {options.to_json}.\n"
    return text


def _read(paths: Sequence[str]) -> list[tuple[str, ScoredTexts | None]]:
    """Files of comet-score; None for files in other forms, which are read later, and more slowly."""
    from reshuffle import read_scored_texts

    found: list[tuple[str, ScoredTexts | None]] = []
    for path in paths:
        try:
            found.append((path, read_scored_texts(path)))
        except InputError:
            found.append((path, None))
    return found


def _note(n_pairs: int) -> str:
    """What the numbers of comet-compare leave open."""
    adjusted = f"p-values are not adjusted for {n_pairs} pairs, and " if n_pairs > 1 else ""
    return (
        f"comet-compare: note: {adjusted}shares of wins are not p-values; --tests ar bootstrap-both adds tests, "
        "intervals and groups"
    )


def _tested(scores: dict[str, Any], options: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """The comparison of all pairs by each test, as JSON and as text."""
    import reshuffle

    objects, texts = {}, []
    for test in options.tests:
        given = {} if options.t_test_alternative == "two-sided" else {"alternative": options.t_test_alternative}
        result = reshuffle.compare(
            metrics=[reshuffle.SegmentScores("COMET", scores)],
            test=test,
            all_pairs=True,
            n_resamples=options.n_resamples,
            **given,
        )
        objects[test] = json.loads(result.render("json"))
        texts.append(f"\n{test}\n\n{result}\n")
    return objects, "".join(texts)
