"""What the registries hold (metrics with their options, tokenizers, tests): ``reshuffle metrics``, docs/metrics.md."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

from . import _core
from .metrics import OptionSpec, metric, metric_specs, tokenizer_specs
from .report import Terminal
from .significance import TESTS

__all__ = ["CATALOGUE_FORMATS"]


def catalogue() -> dict[str, Any]:
    """Everything that can be chosen by name."""
    return {
        "metrics": [
            {
                "name": spec.name,
                "about": spec.about,
                "source": spec.source,
                "columns": metric(spec.name).columns,
                "signature": metric(spec.name).signature("1"),
                "options": [
                    {"name": o.name, "takes": _takes(o), "default": o.default, "about": o.about} for o in spec.options
                ],
            }
            for spec in metric_specs()
        ],
        "tokenizers": [{"name": spec.name, "about": spec.about} for spec in tokenizer_specs()],
        "unicode": _core.UNICODE_VERSION,
        "tests": [
            {
                "name": test.name,
                "about": f"{test.title}: {test.about}",
                "source": test.source,
                "alternatives": list(test.alternatives),
            }
            for test in TESTS.values()
        ],
    }


def _takes(option: OptionSpec) -> str:
    if option.kind == "choice":
        return ", ".join(option.choices)
    if option.kind == "path":
        return "a file"
    if option.kind == "integer":
        return f"{option.minimum:.0f} to {option.maximum:.0f}"
    return f"a number of at least {option.minimum:g}" if option.kind == "real" else "yes or no"


def _default(value: object) -> str:
    return (
        {None: "–", False: "no", True: "yes"}.get(value, str(value)) if isinstance(value, bool | None) else str(value)
    )


def _sections() -> list[tuple[str, list[str], list[list[str]]]]:
    """Title, header and rows of each table."""
    found = catalogue()
    sections = []
    for m in found["metrics"]:
        options = [
            ["--" + o["name"].replace("_", "-"), o["takes"], _default(o["default"]), o["about"]] for o in m["options"]
        ]
        title = f"{m['name']}: {m['about']} ({m['source']})"
        sections.append((title, ["Option", "Takes", "Default", "About"], options))
    tokenizers = [[t["name"], t["about"]] for t in found["tokenizers"]]
    sections.append(
        (
            f"Tokenizers (--tokenize), classes of characters from Unicode {found['unicode']}",
            ["Name", "About"],
            tokenizers,
        )
    )
    tests = [[t["name"], t["about"], t["source"]] for t in found["tests"]]
    sections.append(("Tests (--test)", ["Name", "About", "Source"], tests))
    return sections


def as_text(terminal: Terminal) -> str:
    """Tables that fit the terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = io.StringIO()
    console = terminal.console(out)
    for title, header, rows in _sections():
        table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for index, name in enumerate(header):
            table.add_column(Text(name), no_wrap=index == 0)
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def as_markdown(terminal: Terminal) -> str:
    """docs/metrics.md."""
    parts = [
        "# Metrics, tokenizers and tests",
        "This page is made by `reshuffle metrics --format markdown`; a test keeps it true.",
    ]
    for title, header, rows in _sections():
        lines = [header, ["---"] * len(header), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
        parts += [f"## {title}", "\n".join("| " + " | ".join(line) + " |" for line in lines)]
    for m in catalogue()["metrics"]:
        parts.append(f"A row of `{m['name']}` holds: {', '.join(m['columns'])}. Signature: `{m['signature']}`.")
    return "\n\n".join(parts) + "\n"


def as_json(terminal: Terminal) -> str:
    """One object with the lists ``metrics``, ``tokenizers`` and ``tests``, and the version of ``unicode``."""
    return json.dumps(catalogue(), indent=2, ensure_ascii=False) + "\n"


CATALOGUE_FORMATS: Mapping[str, Callable[[Terminal], str]] = {
    "text": as_text,
    "json": as_json,
    "markdown": as_markdown,
}
