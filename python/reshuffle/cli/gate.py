"""``reshuffle gate``: a verdict, and an exit code for continuous integration."""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import click
from attrs import evolve

from .. import types
from ..data.count_files import is_count_file
from ..data.files import STDIN, display_name, is_toml
from ..errors import Argument, InputError, MisreadWarning, listed, listed_files, warn
from ..options.declare import check_each
from ..options.files import SetFiles
from ..options.gate import Gate as GateOptions
from ..options.gate import Gated, GatedFiles, GatedSets, GateFiles, GateKeys
from .declared import declared_options, given_values, made, taken_options
from .inputs.folders import files_in, files_of_tasks, is_folder
from .params import flattened, name_of_scores
from .process import INCONCLUSIVE, REJECTED
from .shared import METRICS, file_options, full_option, output_options, report_command

# A program that reads the exit code must not take an error for a verdict: docs/guide/files.md has all codes.
CODES: Mapping[str, int] = {"allow": 0, "reject": REJECTED, "inconclusive": INCONCLUSIVE}


@report_command(
    "gate",
    (click.argument("systems", metavar="[BASE NEW]", nargs=-1),),
    file_options(GatedFiles),
    declared_options(GatedSets),
    METRICS,
    declared_options(Gated),
    declared_options(GateOptions, ["history"]),
    declared_options(GateFiles),
    declared_options(GateOptions, ["n_resamples", "seed", "workers"]),
    (full_option("tables of all tasks and of the segments that lost most"),),
    output=output_options(get_args(types.GateFormat)),
)
def gate_command(systems: tuple[str, ...], **options: Any) -> int:
    is_github = options["fmt"] == "github"
    try:
        return _gate(systems, options)
    except InputError as error:
        if is_github:
            from ..report.gate import annotation

            click.echo(annotation("error", "reshuffle gate", str(error.with_flags())), nl=False)
        raise


def _gate(systems: tuple[str, ...], options: dict[str, Any]) -> int:
    from ..gate import gated
    from ..report.gate import headline
    from .inputs.sets import checked_sets, read_sets
    from .job import started
    from .output import Output

    output = Output.from_options(options, get_args(types.GateFormat))
    _check_outputs(systems, options)
    files: GateFiles = taken_options(GateFiles, options)
    if files.page is not None:
        output.check("--page", ["markdown"], ", or add --format markdown")
    values = given_values(GateOptions, options)
    of_words = {*values}
    values = _with_config(files.config, values, options)
    try:
        chosen = made(GateOptions, values)
    except InputError as error:
        # Single values of the configuration have been checked; others are about options together.
        about = {each.name for each in error.fields.values() if isinstance(each, Argument)}
        if files.config is None or not about or {"rule", *about} & of_words:
            raise
        raise _in_config(error, files.config) from None
    if chosen.human is not None:
        options["missing"] = "pairwise"  # segments without labels are meant
    inputs = checked_sets(None, systems, options, chosen.threads)
    if inputs.is_one:  # manifests may also be for compare
        inputs.sets[""].check_source()
    config = [] if files.config is None else [files.config]
    history = [] if chosen.history is None else [chosen.history]
    output = replace(output, layout=evolve(output.layout, page=files.page), kept=history)
    with started(output, [*inputs.paths, *config], chosen.workers) as job:
        with warnings.catch_warnings():
            warnings.simplefilter("error", MisreadWarning)
            sets = read_sets(inputs)
        own = next(iter(sets.values())).data.names
        next(iter(inputs.sets.values())).note_baseline(None, "name both files for another", own)
        try:
            result = job.report(lambda: gated(sets, chosen, job.resampling(chosen)))
        except InputError as error:
            key = error.fields.get("about")
            if files.config is None or key is None or key in of_words:
                raise
            place = f", {key}" if getattr(chosen, key) else ""
            raise _in_config(error, files.config, place) from None
        if all(file not in (None, STDIN) for file, _ in output.reports):
            click.echo(headline(result), err=True)  # a log of CI should have the verdict
    return CODES[result.verdict]


def _in_config(error: InputError, path: str, place: str = "") -> InputError:
    """The error with the name of the configuration, in which arguments are keys."""
    return error.with_keys(toml=is_toml(path)).with_prefix(f"{display_name(path)}{place}: ")


def _check_outputs(systems: Sequence[str], options: Mapping[str, Any]) -> None:
    """:class:`InputError` for what cannot be the outputs of two systems, and how to name them."""
    given = dict(options["scores"])
    if systems and (options["sets"] or options["manifest"]):
        raise InputError(f"BASE and NEW cannot be combined with --set or --manifest: leave out {listed(systems)}")
    expected = "expected BASE and NEW, the outputs of two systems, got "
    if not systems and not any(options[name] for name in ("sets", "manifest", "scores", "counts", "human")):
        raise InputError(
            f"{expected}none: write 'reshuffle gate BASE NEW --ref REF --margin bleu=0.8', or for scores of segments "
            "'reshuffle gate --scores NAME BASE NEW --margin 0.02'"
        )
    if options["human"] is not None and systems and (len(systems) != 2 or any(name in given for name in systems)):
        raise InputError(f"{expected}{listed(systems)}: if these are other raters, a gate takes one (--human NAME)")
    if systems and len(systems) != 2:
        hint = ": if one is the reference, write BASE NEW --ref REF" if len(systems) == 3 else ""
        if len(systems) == 1 and Path(systems[0]).suffix in (".toml", ".json"):
            hint = ": if it is a manifest, write --manifest before it"
        if is_count_file(systems[0]):
            hint = f": the file of counts follows --ref, as in BASE NEW --ref {display_name(systems[0])}"
        raise InputError(f"{expected}{listed_files(systems)}{hint}")
    for files in given.values():
        if not systems and len(files) == 1 and is_folder(files[0]) and len(files_in(files[0])) != 2:
            raise InputError(f"{expected}the folder {display_name(files[0])}: name a folder of each system")
    if options["references"] and not given:
        _check_no_folders(systems, flattened(options["references"]) or ())
    if systems and not any(options[name] for name in ("references", "scores", "counts")):
        raise InputError(
            "no reference: add --ref REF; if these are scores of segments, write --scores "
            f"{name_of_scores(systems)} {shlex.join(systems)}"
        )


def _check_no_folders(systems: Sequence[str], references: Sequence[str]) -> None:
    """:class:`InputError` for texts in two folders with a file for each test set, which have other references."""
    for task, files in files_of_tasks(systems).items():
        given = json.dumps(references, ensure_ascii=False)
        raise InputError(
            f"{listed(map(display_name, systems))} are folders with files of the same names: if each file is of a test "
            "set, name them in a manifest (--manifest tasks.toml) with lines such as "
            f"sets.{_key(task)} = {{ references = {given}, systems = {_table(files)} }}"
        )


def _key(name: str) -> str:
    """A key of TOML."""
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name, ensure_ascii=False)


def _table(values: Mapping[str, str]) -> str:
    """A table of TOML in a line."""
    return f"{{ {', '.join(f'{_key(key)} = {json.dumps(each, ensure_ascii=False)}' for key, each in values.items())} }}"


def _with_config(path: str | None, values: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    """The values of a command line, and those of the configuration for options that it does not have."""
    if path is None:
        return values
    from ..data.manifest import Manifest
    from .metric_options import parse_metric

    manifest = Manifest.read(path, "the margins of a gate in TOML or JSON")
    if "sets" in manifest.table:
        raise InputError(f"{manifest.name}: expected margins, got test sets: for a manifest write --manifest")
    found = manifest.values(GateKeys)
    found.pop("metric_options", None)
    metrics = found.pop("metrics", ())
    # Scores and counts from files have names like metrics, but are chosen by options of their own.
    own = _names_of_numbers(options) if metrics else set()
    metrics = [text for text in metrics if text.casefold() not in own]
    try:
        check_each(GateOptions(**found))  # here, where errors can name the file: its keys are the names of fields
        if not options["metrics"]:
            options["metrics"] = tuple(parse_metric(text, manifest.folder) for text in metrics)
    except InputError as error:
        raise _in_config(error, path) from None
    # A rule on the command line replaces that of the file with the options that belong to it.
    of_rule = {"no-regression": ("margin", "primary"), "non-inferior": ("primary",)}
    for name in of_rule.get(values.get("rule", ""), ()):
        if name not in values and found.pop(name, None):
            warn(f"{display_name(path)}: {name} is left out, because --rule {values['rule']} has none")
    return found | values


def _names_of_numbers(options: Mapping[str, Any]) -> set[str]:
    """The names of scores and counts on the command line and in a manifest, in lower case."""
    from .inputs.sets import read_manifest

    given = [{key: [name for name, _ in options[key]] for key in ("scores", "counts")}]
    if options["manifest"] not in (None, STDIN):
        given += read_manifest(options["manifest"], "test sets in JSON or TOML").sets(SetFiles).values()
    scores = [name for each in given for name in each.get("scores", ())]
    counts = [name.partition(":")[0].strip() for each in given for name in each.get("counts", ())]
    return {name.casefold() for name in [*scores, *counts]}
