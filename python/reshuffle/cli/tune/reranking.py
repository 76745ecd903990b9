"""From the files of ``reshuffle rerank`` to the chosen entries."""

from __future__ import annotations

import sys

from ...data.files import STDIN, check_stdin
from ...errors import InputError
from ...options.list_files import TuneFiles
from ...tune import LinearModel, read_nbest
from ...tune.weights import read_named_weights
from ..output import stream_destination
from .files import lines_of


def run_rerank(lists: str, weights: str, files: TuneFiles, output: str | None) -> None:
    """Read lists and weights, and write the entry of each sentence that the weights choose."""
    first_id, max_input = files.first_id, files.max_input
    inputs = [lists, weights, *([] if files.sources is None else [files.sources])]
    check_stdin(inputs.count(STDIN))
    read = read_nbest(lists, first_id=first_id, max_input=max_input)
    if read.ids[0] < first_id:
        raise InputError(
            f"{read.source}: the id {read.ids[0]} is below that of the first sentence (--first-id {first_id})"
        )
    n = int(read.ids[-1]) - first_id + 1
    read.check_references(n, "the output lines")
    model = LinearModel(read_named_weights(weights, read.names, max_input=max_input))
    own = lines_of(files.sources, n, None, max_input)
    chosen = read.hypotheses(model.choose(read, own))
    text = "".join(f"{line}\n" for line in chosen).encode("utf-8", "backslashreplace")
    if output is None or output == STDIN:
        sys.stdout.flush()
        sys.stdout.buffer.write(text)
        sys.stdout.flush()
        return
    with stream_destination(output, inputs) as file:
        file.write(text)
