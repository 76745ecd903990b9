"""Run ``comet-compare`` or ``comet-score`` of an installed unbabel-comet with stored segment scores instead of a model.

    PYTHON -m benches.races.programs.comet_without_model compare|score SCORES.json OPTIONS

``SCORES.json`` has the score of each translation by its text. The commands are those of the package, from their imports
to their output; only the download of the model and the prediction are replaced. So their time is what comet-compare
adds to that of the model.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any


class Prediction(dict[str, Any]):
    """What a model returns; keys are attributes, too."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


class Stored:
    """A model that looks scores up."""

    def __init__(self, scores: dict[str, float]) -> None:
        self.scores = scores

    def predict(self, samples: Sequence[dict[str, str]], **_: Any) -> Prediction:
        """The scores of translations."""
        found = [self.scores[sample["mt"]] for sample in samples]
        return Prediction(scores=found, system_score=sum(found) / len(found))

    def requires_references(self) -> bool:
        """Whether the command has to ask for references."""
        return True

    def eval(self) -> None:
        """Do nothing."""

    def half(self) -> None:
        """Do nothing."""

    def set_embedding_cache(self) -> None:
        """Do nothing."""


def main() -> None:
    """Run the command."""
    name, stored, *arguments = sys.argv[1:]
    model = Stored(json.loads(Path(stored).read_text("utf-8")))
    module = import_module(f"comet.cli.{name}")
    vars(module).update(download_model=lambda *_, **__: "stored", load_from_checkpoint=lambda _: model)
    sys.argv[:] = [f"comet-{name}", *arguments]
    vars(module)[f"{name}_command"]()


if __name__ == "__main__":
    main()
