"""Results as JSON without the names and digests of their files, in which the same results may differ."""

from dataclasses import replace

from reshuffle import read_json


def unnamed(text: str) -> str:
    """The JSON of a result that the command line wrote, as Python writes it."""
    found = read_json(text)
    assert found.inputs
    return replace(found, inputs=()).render("json")
