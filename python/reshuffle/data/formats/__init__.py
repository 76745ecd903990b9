"""Input formats, one module each. To add one, write a module with a ``FORMAT`` and list it in ``INPUT_FORMATS``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..files import uncompressed
from . import comet, conll, conllu, jsonl, meeteval, mteval, named, table, text, transcripts
from .base import Column, FileFormat, Source

__all__ = ["INPUT_FORMATS", "Column", "FileFormat", "Source", "format_of"]

INPUT_FORMATS: Mapping[str, FileFormat] = {
    "text": text.FORMAT,
    "mteval": mteval.FORMAT,
    "tsv": table.TSV,
    "csv": table.CSV,
    "jsonl": jsonl.FORMAT,
    "conllu": conllu.FORMAT,
    "conll": conll.FORMAT,
    "comet": comet.FORMAT,
    "comet-printed": comet.PRINTED,
    "mt-metrics-eval": named.FORMAT,
    "table": table.FORMAT,
    "trn": transcripts.TRN,
    "kaldi": transcripts.KALDI,
    "utt2spk": transcripts.UTT2SPK,
    "meeteval": meeteval.FORMAT,
}


def format_of(file: str) -> str:
    """The format for the file's extension, or its name if it has none; ``text`` if that is unknown.

    The extension of a compression is ignored.

    >>> format_of("newstest.SGM.gz"), format_of("out/online-A.0"), format_of("-")
    ('mteval', 'text', 'text')
    """
    path = Path(uncompressed(file))
    ending = path.suffix.lower() or path.name
    return next((name for name, file_format in INPUT_FORMATS.items() if ending in file_format.endings), "text")
