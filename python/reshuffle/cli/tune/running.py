"""From the options of ``reshuffle tune`` to a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from attrs import evolve, frozen

from ... import types
from ...errors import InputError, listed
from ...metrics.native import NativeMetric
from ...options.declare import call, files_in
from ...options.list_files import TuneFiles
from ...options.tuning import Tune
from ...results.studies import StudyResult
from ...tune import NBest, Weights, command_decoder, read_weights, simulated_decoder, tune
from ...tune.decoders import Decoder
from ...tune.lists import additive
from ...tune.options import Optimizer
from ...tune.problem import BY_SENTENCE_BLEU, shared_options
from ...tune.weights import read_named_weights
from ..declared import check_all_used, taken_options
from ..job import started
from ..metric_options import MetricChoice, metric_flags, metrics_of
from ..output import Output
from ..process import cleanup
from .files import InputFiles, prepared_folder, save
from .options import SOURCES

# The default size of simulated lists.
SIZE = 100


def run_tune(optimizer: Optimizer, options: dict[str, Any]) -> None:
    """Read the files, tune, and write the report, and weights and outputs if a folder is given."""
    output = Output.from_options(options, tables=get_args(types.TuneTable))
    own = taken_options(optimizer.options, options)  # before files are read
    metric, sentence = _metrics(optimizer, options)
    inputs = {"optimizer": own, "lists": None, "references": (), "metric": metric, "sentence_metric": sentence}
    chosen = taken_options(Tune, options, **inputs)
    files: _Files = taken_options(_Files, options)
    files.check_rounds(chosen.rounds)
    folder = options.pop("save")
    check_all_used(options)
    with started(output, files_in(files), chosen.workers) as job, cleanup():  # of a decoder
        target = None if folder is None else prepared_folder(folder)

        def compute() -> StudyResult:
            tuned = call(tune, evolve(chosen, **job.given, **files.read()))
            if target is not None:
                save(tuned, target)
            return tuned.result

        job.report(compute)


def _metrics(optimizer: Optimizer, options: dict[str, Any]) -> tuple[NativeMetric, NativeMetric | None]:
    """The corpus metric, and that of single entries if it was chosen. Flags apply to both."""
    chosen = options.pop("metric") or MetricChoice("bleu")
    sentence = options.pop("sentence_metric", None)
    if sentence is None and optimizer.optimizes == "sentence" and chosen.name in BY_SENTENCE_BLEU:
        sentence = MetricChoice("sentbleu", shared_options(chosen.options, "sentbleu"))
    metric, *others = metrics_of([chosen, *([] if sentence is None else [sentence])], metric_flags(options))
    return additive(metric), additive(others[0]) if others else None


@frozen(kw_only=True, slots=False, eq=False, repr=False)
class _Files(InputFiles, TuneFiles):
    """The checked files of a command."""

    def check_together(self) -> None:
        if not self.references:
            raise InputError("no references: add --refs REF, with a segment for each sentence of the lists")
        if not self.nbest and not self._has_decoder:
            raise InputError("no lists: add --nbest NBEST")
        if not self.nbest and self.init is None:
            raise InputError("without --nbest, the decoder needs weights for the first lists: add --init FILE")
        for name, pair in self._held_out.items():
            if pair is not None and len(pair) < 2:
                raise InputError(
                    f"--{name}-set: expected lists and their references, got {listed(pair)}: write --{name}-set NBEST "
                    "REF"
                )

    def check_rounds(self, rounds: int) -> None:
        """:class:`InputError` for rounds without a decoder, or a decoder without rounds."""
        if rounds > 1 and not self._has_decoder:
            raise InputError("--rounds needs a decoder: add --decoder COMMAND, or --simulate NBEST")
        if self._has_decoder and rounds == 1 and self.nbest:
            raise InputError("a decoder needs several rounds: add --rounds N")

    @property
    def _has_decoder(self) -> bool:
        return self.decoder is not None or self.simulate is not None

    @property
    def _held_out(self) -> dict[str, tuple[str, ...] | None]:
        return {"dev": self.dev, "test": self.test}

    def read(self) -> dict[str, Any]:
        """The arguments of :func:`reshuffle.tune.tune` that come from files."""
        references = self.read_references(self.references)
        n = len(references[0])
        lists = self.read_lists(self.nbest) if self.nbest else None
        large = None if self.simulate is None else self.read_lists([self.simulate])
        found: dict[str, Any] = {
            "lists": lists,
            "references": references,
            "initial": self._initial(large if lists is None else lists),
            "decoder": self._decoder(large, n),
        }
        sizes = {"sources": n}
        for name, pair in self._held_out.items():
            if pair is not None:
                own, refs = self.read_lists(pair[:1]), self.read_references(pair[1:])
                found[name], sizes[f"{name}_sources"] = (own, refs), len(refs[0])
        for name in SOURCES:
            if (path := getattr(self, name)) is not None:
                found[name] = self.lines_of(path, sizes[name])
        return found

    def _initial(self, lists: NBest | None) -> Weights | Mapping[str, float] | None:
        """The initial weights: without lists by name, because then features have no order."""
        if self.init is None:
            return None
        if lists is None:
            return read_named_weights(self.init, max_input=self.max_input)
        if not self.nbest:  # of the large lists, whose features have another order than those of the decoder
            return self.named_weights(self.init, lists)
        return read_weights(self.init, lists.names, lists.sparse_names, max_input=self.max_input)

    def _decoder(self, large: NBest | None, n: int) -> Decoder | None:
        if large is not None:
            large.check_references(n)
            return simulated_decoder(large, SIZE if self.size is None else self.size)
        if self.decoder is None:
            return None
        return command_decoder(self.decoder, first_id=self.first_id, max_input=self.max_input)
