"""From the options of ``reshuffle oracle`` and ``mbr`` to a report, and to the chosen entries in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, get_args

import numpy as np
from attrs import evolve, frozen
from numpy.typing import NDArray

from ... import types
from ..._core import Progress
from ...data.files import display_name
from ...errors import InputError
from ...options.declare import call, files_in
from ...options.list_files import ListFiles
from ...options.tuning import Mbr, Oracle
from ...results.studies import StudyResult
from ...tune import LinearModel, NBest, mbr, oracle, read_samples
from ..declared import check_all_used, taken_options
from ..job import started
from ..metric_options import MetricChoice, metric_flags, metrics_of
from ..output import Output
from ..tune.files import InputFiles, lines_destination, prepared_folder


def run_oracle(options: dict[str, Any]) -> None:
    """Read the files, search, and write the report, and the outputs of each choice if a folder is given."""
    files: _Files = taken_options(_Files, options)
    if not files.references:
        raise InputError("no references: add --refs REF, with a segment for each sentence of the lists")
    folder = options.pop("save")
    (metric,) = metrics_of([options.pop("metric") or MetricChoice("bleu")], metric_flags(options))
    chosen = taken_options(Oracle, options, lists=None, references=(), metric=metric)

    def compute(progress: Progress) -> StudyResult:
        target = None if folder is None else prepared_folder(folder)
        found = call(oracle, evolve(chosen, **files.read(), progress=progress))
        if target is not None:
            for choice in found.rows:
                with lines_destination(str(target / choice), []) as write:
                    write(found.outputs(choice))
        return found.result

    _report(options, files, get_args(types.OracleTable), compute)


def run_mbr(options: dict[str, Any]) -> None:
    """Read the files, decode, and write the report, and the chosen entries if a file is given."""
    files: _Files = taken_options(_Files, options)
    save, evaluate = options.pop("save"), options.pop("evaluate")
    if options["scale"] is not None and files.model is None and not files.totals:
        raise InputError("--scale needs model scores: add --model FILE or --totals, or leave --scale out")
    if evaluate and not files.references:
        raise InputError("--evaluate needs references: add --refs REF")
    utility, *metrics = metrics_of([options.pop("metric") or MetricChoice("chrf"), *evaluate], metric_flags(options))
    chosen = taken_options(Mbr, options, lists=None, metric=utility, metrics=metrics or None)

    def compute(progress: Progress) -> StudyResult:
        found = call(mbr, evolve(chosen, **files.read(), progress=progress))
        if save is not None:
            with lines_destination(save, files_in(files)) as write:
                write(found.outputs())
        return found.result

    _report(options, files, get_args(types.MbrTable), compute)


def _report(
    options: dict[str, Any], files: _Files, tables: Sequence[str], compute: Callable[[Progress], StudyResult]
) -> None:
    """Compute a result and write its report."""
    output = Output.from_options(options, tables=tables)
    check_all_used(options)
    with started(output, files_in(files)) as job:
        job.report(lambda: compute(job.progress))


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class _Files(InputFiles, ListFiles):
    """The checked files of a command."""

    def check_together(self) -> None:
        if not self.nbest and not self.samples:
            raise InputError("no lists: add --nbest NBEST, or --samples FILE")

    def read(self) -> dict[str, Any]:
        """The arguments of :func:`reshuffle.tune.oracle` and :func:`reshuffle.tune.mbr` that come from files."""
        if self.samples:
            paths = self.samples if len(self.samples) > 1 else self.samples[0]
            lists = read_samples(paths, self.per_sentence, max_input=self.max_input)
        else:
            lists = self.read_lists(self.nbest)
        references = self.read_references(self.references) if self.references else None
        return {"lists": lists, "references": references, "scores": self._scores(lists)}

    def _scores(self, lists: NBest) -> NDArray[np.float64] | None:
        """The model scores of the entries; None if they have none."""
        if self.totals:
            if lists.totals is None:
                raise InputError(
                    f"--totals: {lists.source} has no total score of each entry, which decoders write after the "
                    "features: leave --totals out, or add --model FILE instead"
                )
            return lists.totals
        if self.model is None:
            return None
        named = self.named_weights(self.model, lists)
        if not any(named.values()):
            raise InputError(
                f"{display_name(self.model)}: all weights are 0, so all entries would have the same model score: "
                "use other weights, or leave --model out"
            )
        return LinearModel(named).scores(lists)
