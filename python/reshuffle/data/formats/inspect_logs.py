"""Logs of inspect_ai: ``.json``, and ``.eval``, which is a ZIP file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...errors import InputError, quoted, warn
from ..files import ARRAYS_AS_TEXT
from ..id_columns import warn_of_lost
from ._json_parts import parts, value_of
from ._samples import Sample, Samples, number_of
from ._zip import Archive
from .base import WORDS, ZIP, Source, shown_json

# The versions of the schema that have been checked; 1 has a single score of each sample.
VERSIONS = (1, 2)
# The members that have the name of the model, of a log that is complete and of one that is not.
HEADERS = ("header.json", "_journal/start.json")
# So much of a text is in the summaries of all samples.
BEGINNING = 500
# inspect_ai's name for that score.
SINGLE = "88F74D2C"


def samples(source: Source) -> Samples:
    """A score for each scorer, or each key of a scorer, SCORER/KEY. Epochs are several scores of the same segment."""
    return _from_zip(source) if source.data.startswith(ZIP) else _from_json(source)


def model_of(source: Source) -> str | None:
    """The name of the model in a log, of which as little as possible is read; None if it is no such log."""
    try:
        if source.data.startswith(ZIP):
            archive = Archive(source)
            name = next((name for name in HEADERS if name in archive.members), "")
            header = value_of(source, archive.text(name), name) if name else {}
        else:
            header = {
                "eval": next((each for key, each, _ in parts(source, source.text(), ["samples"]) if key == "eval"), {})
            }
    except InputError:  # which reading the scores will say
        return None
    about = header.get("eval") if isinstance(header, dict) else None
    model = about.get("model") if isinstance(about, dict) else None
    return model if isinstance(model, str) and model else None


def _from_json(source: Source) -> Samples:
    header: dict[str, Any] = {}
    found = []
    for key, value, line in parts(source, source.text(), ["samples"]):
        if key == "samples":
            if value is not None:
                found.append(_sample(source, value, line))
            continue
        header[key] = value
        if key == "version":
            _check_version(source, value)
    return _checked(source, header, found)


def _from_zip(source: Source) -> Samples:
    archive = Archive(source)
    name = next((name for name in HEADERS if name in archive.members), None)
    if name is None:
        if archive.members and all(member.endswith(".npy") for member in archive.members):
            source.fail(f"expected a log of inspect_ai, got arrays of NumPy: {ARRAYS_AS_TEXT}")
        source.fail("expected a log of inspect_ai, with a member header.json")
    header = value_of(source, archive.text(name), name)
    if not isinstance(header, dict):
        source.fail(f"{name}: expected an object, got {shown_json(header)}")
    _check_version(source, header.get("version"))
    if name.startswith("_journal"):
        header["status"] = "started"
    if "summaries.json" in archive.members:
        found = value_of(source, archive.text("summaries.json"), "summaries.json")
        if not isinstance(found, list):
            source.fail(f"summaries.json: expected a list of samples, got {shown_json(found)}")
        samples = [_sample(source, value, 1, f"summaries.json, sample {i}") for i, value in enumerate(found, 1)]
    else:  # the evaluation has not ended
        members = [name for name in archive.members if re.fullmatch(r"samples/.*\.json", name)]
        samples = [_sample(source, value_of(source, archive.text(name), name), 1, name) for name in members]
    return _checked(source, header, samples)


def _check_version(source: Source, version: Any) -> None:
    if version not in VERSIONS or isinstance(version, bool):
        got = "none" if version is None else shown_json(version)
        known = " or ".join(map(str, VERSIONS))
        source.fail(f"unknown version of inspect_ai's log schema: expected {known} as 'version', got {got}")


def _checked(source: Source, header: Mapping[str, Any], samples: list[Sample]) -> Samples:
    if "version" not in header:
        _check_version(source, None)
    about = header.get("eval")
    model = about.get("model") if isinstance(about, dict) else None
    if not isinstance(model, str) or not model:
        source.fail("expected the name of a model as 'model' in 'eval', as inspect_ai writes it")
    if not samples:
        source.fail("the log has no samples: was it written with --no-log-samples?")
    if not any(sample.scores for sample in samples):
        source.fail(f"none of {len(samples):,} samples has a score: was the log scored (inspect score)?")
    status = header.get("status", "success")
    if status != "success":
        warn(f"{source.name}: the evaluation was not completed (status {quoted(status)})")
    scored = {sample.segment for sample in samples if sample.scores}
    lacking = sum(not sample.scores and sample.segment in scored for sample in samples)
    if lacking:
        warn(
            f"{source.name}: {lacking:,} of {len(samples):,} samples have no score, perhaps after an error: the mean "
            "of their other epochs is taken"
        )
    warn_of_lost(source.name, [[*Counter(sample.segment for sample in samples).values()]], "epochs")
    named = [sample._replace(system=model) for sample in samples]
    return Samples(source, named, number_of=_number, expected="a number, or a grade such as 'C',")


def _sample(source: Source, value: Any, line: int, place: str = "") -> Sample:
    """A sample of a model whose name follows."""
    shown = place or f"line {line}"
    if not isinstance(value, dict) or not isinstance(value.get("id"), str | int):
        source.fail(f"{shown}: expected a sample with an 'id', got {shown_json(value)}")
    scores = value.get("scores")
    if scores is None:
        scores = {SINGLE: value["score"]} if value.get("score") is not None else {}
    if not isinstance(scores, dict):
        source.fail(f"{shown}: expected an object as 'scores', got {shown_json(scores)}")
    values: dict[str, Any] = {}
    for scorer, score in scores.items():
        found = score.get("value") if isinstance(score, dict) else score
        name = "score" if scorer == SINGLE else scorer
        if isinstance(found, dict):
            values.update({f"{name}/{key}": each for key, each in found.items()})
        elif isinstance(found, list):
            values.update({f"{name}/{i}": each for i, each in enumerate(found)})
        else:
            values[name] = found
    metadata, asked = value.get("metadata"), value.get("input")
    fields = metadata if isinstance(metadata, dict) else {}
    # Without ids of its own, inspect_ai numbers samples after the data were shuffled.
    asked = " ".join(asked.split())[:BEGINNING] if isinstance(asked, str) else ""
    return Sample("", str(value["id"]), values, line, place, fields, value.get("epoch"), asked)


def _number(value: Any) -> float | None:
    """A score as inspect_ai counts it, NaN if there is none."""
    if isinstance(value, str):
        word = WORDS.get(value, WORDS.get(value.lower()))
        try:  # float() accepts 1_000, which inspect_ai does not
            value = float("" if "_" in value else value) if word is None else word
        except ValueError:
            return None
    return number_of(value)
