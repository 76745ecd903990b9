"""``reshuffle metrics``: lists everything that is chosen by name, and the options of metrics."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from .. import _core
from ..inference.exchange import EXCHANGES
from ..inference.hypotheses import FAMILIES
from ..inference.intervals import INTERVALS
from ..inference.multiplicity import ADJUSTMENTS
from ..inference.tests import ADJUSTMENT_CHOICES, TESTS
from ..metrics.registry import OptionSpec, metric_specs, tokenizer_specs
from ..report import Terminal
from ..signature import for_metric
from ..study.nulls import NULLS
from ..study.power import MODELS
from .metric_options import describe_option, flag
from .studies import COMMANDS


def catalogue() -> dict[str, Any]:
    """All registries as one object of lists and strings."""
    return {
        "metrics": [
            {
                "name": spec.name,
                "about": spec.about,
                "source": spec.source,
                "columns": core.columns,
                "signature": for_metric(core.name, core.signature, "1"),
                "options": [
                    {"name": o.name, "takes": _takes(o), "default": o.default, "about": o.about} for o in spec.options
                ],
            }
            for spec in metric_specs()
            # The core does not look for installed files, so the list is the same on every machine.
            for core in [_core.Metric(spec.name, {})]
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
        "intervals": [
            {"name": interval.name, "about": interval.about, "source": interval.source}
            for interval in INTERVALS.values()
        ],
        "adjustments": [
            {"name": name, "about": about, "source": ADJUSTMENTS[name].source if name in ADJUSTMENTS else "–"}
            for name, about in ADJUSTMENT_CHOICES.items()
        ],
        "families": [{"name": name, "about": about} for name, about in FAMILIES.items()],
        "exchanges": [
            {
                "name": unit.name,
                "about": unit.about,
                "null": unit.null,
                "caveat": unit.caveat,
                "source": unit.source,
            }
            for unit in EXCHANGES.values()
        ],
        "studies": [{"name": name, "about": command.get_short_help_str(200)} for name, command in COMMANDS.items()],
        "nulls": [{"name": null.name, "about": null.about, "source": null.source} for null in NULLS.values()],
        "models": [{"name": model.name, "about": model.title, "source": model.source} for model in MODELS.values()],
    }


def _takes(option: OptionSpec) -> str:
    if option.kind == "choice":
        return ", ".join(option.choices)
    if option.kind == "choices":
        return f"one or more of {', '.join(option.choices)}, separated by commas"
    if option.kind == "path":
        return "a path"
    if option.kind == "language":
        return "an ISO 639 code"
    if option.kind == "flag":
        return "yes or no"
    what = {"real": "a number from ", "reals": "numbers separated by commas, from "}.get(option.kind, "")
    return f"{what}{option.minimum:.10g} to {option.maximum:.10g}"


def _default(value: object) -> str:
    return (
        {None: "–", False: "no", True: "yes"}.get(value, str(value)) if isinstance(value, bool | None) else str(value)
    )


Section: TypeAlias = tuple[str, list[str], list[list[str]]]
"""Title, header and rows of a table."""


def _metrics(names: Sequence[str]) -> list[Section]:
    """A table of options for each of these metrics."""
    return [
        (
            f"{m['name']}: {m['about']} ({m['source']})",
            ["Option", "Takes", "Default", "About"],
            [[flag(o["name"]), o["takes"], _default(o["default"]), describe_option(o["about"])] for o in m["options"]],
        )
        for m in catalogue()["metrics"]
        if m["name"] in names
    ]


def _others() -> list[Section]:
    """Tables of tokenizers, tests, intervals, adjustments, families, exchange units, and what belongs to studies."""
    found = catalogue()
    tokenizers = [[t["name"], t["about"]] for t in found["tokenizers"]]
    classes = f"character classes from Unicode {found['unicode']}"
    exchanges = [[e["name"], e["about"], e["null"], e["caveat"], e["source"]] for e in found["exchanges"]]
    tests, intervals, adjustments, nulls, models = (
        [[t["name"], t["about"], t["source"]] for t in found[kind]]
        for kind in ("tests", "intervals", "adjustments", "nulls", "models")
    )
    return [
        (f"Tokenizers (--tokenize); {classes}", ["Name", "About"], tokenizers),
        ("Tests (--test)", ["Name", "About", "Source"], tests),
        ("Intervals (--interval)", ["Name", "About", "Source"], intervals),
        ("Adjustments (--adjust)", ["Name", "About", "Source"], adjustments),
        ("Families (--family)", ["Name", "About"], [[f["name"], f["about"]] for f in found["families"]]),
        (
            "Exchange units of runs (reshuffle runs --exchange)",
            ["Name", "What is exchanged", "Null hypothesis", "Caveat", "Source"],
            exchanges,
        ),
        ("Studies (reshuffle study)", ["Name", "About"], [[s["name"], s["about"]] for s in found["studies"]]),
        ("Null hypotheses of studies (--null)", ["Name", "About", "Source"], nulls),
        ("Models of the true difference in studies of power (--models)", ["Name", "About", "Source"], models),
    ]


def as_text(terminal: Terminal, names: Sequence[str]) -> str:
    """Tables for the terminal: the options of these metrics, or an overview if no metric is named."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    out = io.StringIO()
    console = terminal.console(out)
    sections = _metrics(names)
    if not names:
        listed = [[m["name"], m["about"], m["source"]] for m in catalogue()["metrics"]]
        sections = [("Metrics (-m)", ["Name", "About", "Source"], listed), *_others()]
    for title, header, rows in sections:
        table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
        for index, name in enumerate(header):
            table.add_column(Text(name), no_wrap=index == 0)
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)
    if not names:
        console.print(Text("'reshuffle metrics NAME' lists a metric's options."))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def as_markdown(terminal: Terminal, names: Sequence[str]) -> str:
    """The page docs/metrics.md, or its sections about these metrics."""
    metrics = [m for m in catalogue()["metrics"] if m["name"] in names or not names]
    parts = [
        "# Metrics, tokenizers, tests and intervals",
        "Generated by `reshuffle metrics --format markdown`.",
    ]
    for title, header, rows in [*_metrics([m["name"] for m in metrics]), *([] if names else _others())]:
        lines = [header, ["---"] * len(header), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
        parts += [f"## {title}", "\n".join("| " + " | ".join(line) + " |" for line in lines)]
    if not names:
        parts.append("## Columns and signatures")
    for m in metrics:
        parts.append(f"A row of `{m['name']}` holds: {', '.join(m['columns'])}. Signature: `{m['signature']}`.")
    return "\n\n".join(parts) + "\n"


def as_json(terminal: Terminal, names: Sequence[str]) -> str:
    """An object with a list for each registry, and the version of Unicode."""
    found = catalogue()
    found["metrics"] = [m for m in found["metrics"] if m["name"] in names or not names]
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"


CATALOGUE_FORMATS: Mapping[str, Callable[[Terminal, Sequence[str]], str]] = {
    "text": as_text,
    "json": as_json,
    "markdown": as_markdown,
}
