"""Logs written by inspect_ai, with its own means."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODELS = {"mockllm/a": (["a b", "Default", "xyz"], 1), "mockllm/b": (["Default", "no"], 2)}


def evaluate(folder: Path) -> Iterator[tuple[str, str, dict[str, float]]]:
    """File, model and inspect_ai's mean by score, for two models in both formats of logs."""
    import inspect_ai
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score, match, mean, scorer
    from inspect_ai.solver import solver

    @scorer(metrics=[mean()])  # type: ignore[untyped-decorator]
    def length() -> Any:
        async def score(state: Any, target: Any) -> Any:
            return Score(value=len(state.output.completion) / 8)

        return score

    @solver  # type: ignore[untyped-decorator]
    def fixed(outputs: list[str]) -> Any:
        async def solve(state: Any, generate: Any) -> Any:
            text = outputs[(int(state.sample_id[1:]) + state.epoch) % len(outputs)]
            state.output = ModelOutput.from_content("mockllm", text)
            return state

        return solve

    for model, (outputs, epochs) in MODELS.items():
        for log_format in ("json", "eval"):
            data = MemoryDataset([Sample(id=f"s{i}", input=f"in {i}", target="Default") for i in (3, 1, 2)])
            task = inspect_ai.Task(dataset=data, solver=fixed(outputs), scorer=[match(), length()], name="mt")
            (log,) = inspect_ai.eval(
                task, model=model, log_dir=str(folder), log_format=log_format, display="none", epochs=epochs
            )
            means = {each.name: next(iter(each.metrics.values())).value for each in log.results.scores}
            yield log.location, model, means
