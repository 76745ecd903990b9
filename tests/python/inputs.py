"""Files for the tests of input formats."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from known import known
from reshuffle.data.reading import read_columns
from reshuffle.data.score_columns import opened
from reshuffle.data.scores import UNNAMED, scores_in

ROOT = Path(__file__).resolve().parents[2]


def put(name: str, content: str | bytes) -> str:
    """Write a file of the current directory, which must be that of a test."""
    assert Path(name).is_absolute() or Path.cwd() != ROOT, "the fixture here is missing"
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def put_lines(name: str, rows: Iterable[Any]) -> str:
    """Write a file of JSON lines."""
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    return put(name, "".join(json.dumps(row) + "\n" for row in rows))


def segments(path: str, input_format: str | None = None) -> list[Any]:
    return list(read_columns([path], input_format)[0].lines)


def sgm(segments: dict[tuple[str, str], str], kind: str = "tst", **attributes: str) -> str:
    """An SGML file in WMT's layout: names of systems are in the documents."""
    of_documents = "".join(f' {k}="{v}"' for k, v in attributes.items())
    parts = [f'<{kind}set setid="test" srclang="en" trglang="de">']
    for document in dict.fromkeys(d for d, _ in segments):
        parts.append(f'<doc docid="{document}" genre="news"{of_documents}>\n<hl>')
        parts += [f'<seg id="{number}">{text}</seg>' for (d, number), text in segments.items() if d == document]
        parts.append("</hl>\n</doc>")
    return "\n".join([*parts, f"</{kind}set>", ""])


def xml(systems: dict[str, dict[tuple[str, str], str]], kind: str = "tst") -> str:
    """An XML file that declares NIST's DTD, at an address that nothing serves."""
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<!DOCTYPE mteval SYSTEM "http://127.0.0.1:9/x.dtd">',
        "<mteval>",
    ]
    for system, of_system in systems.items():
        attribute = "sysid" if kind == "tst" else "refid"
        parts.append(f"<{kind}set setid='t' srclang='x' trglang='y' {attribute}={quoteattr(system)}>")
        for document in dict.fromkeys(d for d, _ in of_system):
            parts.append(f"<doc docid={quoteattr(document)}><p>")
            parts += [f"<seg id='{n}'>{escape(t)}</seg>" for (d, n), t in of_system.items() if d == document]
            parts.append("</p></doc>")
        parts.append(f"</{kind}set>")
    return "\n".join([*parts, "</mteval>"])


KEYS = [("a", "1"), ("a", "2"), ("b", "1"), ("b", "x")]


def scores_by_system(path: str) -> dict[str | None, list[float]]:
    """The scores of a file as ``--scores`` reads them."""
    found = scores_in(*opened(path))
    names = [None if name == UNNAMED else name for name in found.systems]
    return dict(zip(names, known(found.segments).tolist(), strict=True))
