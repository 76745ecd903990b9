"""The JSON Schemas of results in docs/schema, for tests of documents."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

SCHEMAS = Path(__file__).resolve().parents[2] / "docs/schema"


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    return found


@cache
def validator(name: str = "study-1") -> Any:
    """What validates documents by a schema. Without jsonschema, the test is skipped."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema checks the documents")
    return jsonschema.Draft202012Validator(schema(name))
