"""Gates of logs of harnesses."""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gates import command
from reshuffle import InputError, SegmentScores, gate
from reshuffle.cli.main import run
from test_logs import zipped


def inspect_log(model: str, right: NDArray[np.bool_]) -> dict[str, Any]:
    """A log of invented questions with two epochs, (2, questions), as inspect_ai 0.3.285 writes it.

    ``inspect_ai.eval(Task(..., scorer=match(), epochs=2), model=..., fail_on_error=False)``, without what is not read:
    the model did not answer the last question.
    """
    last = right.shape[1] - 1
    samples = [
        {
            "id": q, "epoch": epoch, "input": f"What is {q} + {q}?", "target": f"{2 * q}",
            "metadata": {"passage": f"p{q // 4}"},
            "scores": {} if q == last else {"match": {"value": "C" if each else "I", "answer": "?", "history": []}},
            **({"error": {"message": "ValueError('no answer')"}} if q == last else {}),
        }
        for epoch, row in enumerate(right.tolist(), 1)
        for q, each in enumerate(row)
    ]  # fmt: skip
    about = {"task": "sums", "model": model, "config": {"epochs": 2, "fail_on_error": False}}
    return {"version": 2, "status": "success", "eval": about, "samples": samples}


def lm_eval_log(right: NDArray[np.bool_], first: int = 0) -> str:
    """Samples of invented questions, as lm_eval 0.4.13 writes them.

    ``lm_eval run --model dummy --tasks sums --include_path . --log_samples --output_path out``, where sums.yaml has
    the output type ``multiple_choice`` and questions in a local file of JSON lines.
    """
    return "".join(
        json.dumps(
            {
                "doc_id": n, "doc": {"question": f"What is {n} + {n}?", "passage": f"p{n // 4}"}, "target": "0",
                "arguments": {"gen_args_0": {"arg_0": f"What is {n} + {n}?", "arg_1": f" {2 * n}"}},
                "resps": [[["-0.5", "False"]], [["-0.9", "False"]]],
                "filtered_resps": [["-0.5", "False"], ["-0.9", "False"]], "filter": "none",
                "metrics": ["acc"], "doc_hash": sha256(b"%d" % n).hexdigest(), "prompt_hash": "1" * 64,
                "target_hash": "0" * 64,
                "acc": float(x),
            }
        )
        + "\n"
        for n, x in enumerate(right.tolist(), first)
    )  # fmt: skip


def passages(demo: Path, n: int) -> None:
    """The passage of each question, by its id, as a command takes it out of a log."""
    (demo / "passages.tsv").write_text("id\tpassage\n" + "".join(f"{q}\tp{q // 4}\n" for q in range(n)))


def test_logs_of_inspect_ai_with_epochs_and_clusters(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = np.random.default_rng(6).random((2, 2, 84)) < np.array([0.9, 0.4])[:, None, None]
    # The same model twice: the systems are called after the files.
    base, new = (inspect_log("openai/a", own) for own in right)
    new["samples"].reverse()
    (demo / "a.json").write_text(json.dumps(base, indent=2))
    (demo / "b.eval").write_bytes(zipped(new))
    passages(demo, 84)
    line = "--scores match a.json b.eval --margin match=0.05 --format json"
    with pytest.raises(InputError, match="match, system a, segment 84: the score is missing; with missing='pairwise'"):
        command(line)
    answered = right[:, :, :-1]
    for more, unit, n in (("", "segment", 83), (" --docs passages.tsv#passage", "document", 21)):
        assert command(f"{line} --missing pairwise{more}") == 1
        (task,) = json.loads(capsys.readouterr().out)["tasks"]
        assert (task["unit"], task["n_units"]) == (unit, n)
        assert task["baseline_score"] == pytest.approx(answered[0].mean())
        assert task["difference"] == pytest.approx(answered[1].mean() - answered[0].mean())


def test_a_log_that_was_not_completed_is_warned_of(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = np.random.default_rng(6).random((2, 40)) < 0.6
    base, new = (inspect_log("a", np.array([own, own])) for own in right)
    (demo / "a.json").write_text(json.dumps({**base, "status": "error"}))
    (demo / "b.eval").write_bytes(zipped(new))
    command("--scores match a.json b.eval --missing pairwise --margin match=0.5")
    assert "a.json: the evaluation was not completed (status 'error')" in capsys.readouterr().err


def test_logs_of_lm_eval_with_clusters(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = np.random.default_rng(7).random((2, 200)) < 0.6
    for model, own in zip(("a", "b"), right, strict=True):
        (demo / f"{model}.jsonl").write_text(lm_eval_log(own))
    passages(demo, 200)
    line = "--scores acc a.jsonl b.jsonl --margin acc=0.4 --format json"
    assert command(line) == 0
    assert json.loads(capsys.readouterr().out)["tasks"][0]["unit"] == "segment"
    assert command(f"{line} --docs passages.tsv#passage") == 0
    (task,) = json.loads(capsys.readouterr().out)["tasks"]
    # The same answers in 50 passages are 50 units.
    expected = gate(
        metrics=SegmentScores("acc", dict(zip("ab", right.astype(float), strict=True))),
        documents=[f"p{n // 4}" for n in range(200)],
        margin={"acc": 0.4},
        n_resamples=999,
    )
    (own_task,) = expected.tasks
    assert (task["unit"], task["n_units"]) == (own_task.unit, own_task.n_units) == ("document", 50)
    assert (task["difference"], task["bound"]) == (own_task.difference, own_task.bound)


def test_segments_of_logs_are_listed_by_their_ids(demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = np.random.default_rng(7).random((2, 40)) < 0.6
    for model, own in zip(("a", "b"), right, strict=True):
        lines = [json.loads(line) for line in lm_eval_log(own).splitlines()]
        # A limited run: every second question.
        (demo / f"{model}.jsonl").write_text(
            "".join(json.dumps(each | {"doc_id": 2 * n}) + "\n" for n, each in enumerate(lines))
        )
    lost, gained = ([f"{2 * n}" for n in np.flatnonzero(old & ~new)] for old, new in (right, right[::-1]))
    command("--scores acc a.jsonl b.jsonl --margin acc=0.4 --format json")
    (task,) = json.loads(capsys.readouterr().out)["tasks"]
    assert [each["segment"] for each in task["lost"]] == lost[:3]
    assert run(["flips", "--scores", "acc", "a.jsonl", "b.jsonl", "--threshold", "0.5", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [each["segment"] for each in found["segments"]] == [f"{2 * n}" for n in range(40)]
    assert (found["lost"], found["gained"]) == (lost, gained)
    run(["flips", "--scores", "acc", "a.jsonl", "b.jsonl", "--threshold", "0.5", "--format", "csv"])
    assert capsys.readouterr().out.splitlines()[2].startswith("2,")
    run(["score", "--scores", "acc", "a.jsonl", "b.jsonl", "--segments"])
    assert capsys.readouterr().out.splitlines()[3].startswith("2\ta\t")
    run(["score", "--scores", "acc", "a.jsonl", "b.jsonl", "--segments", "--format", "jsonl"])
    assert json.loads(capsys.readouterr().out.splitlines()[2])["segment"] == "2"


def test_ids_of_segments_are_as_many_as_these() -> None:
    with pytest.raises(InputError, match="acc: expected an id for each of 2 segments, got 1"):
        SegmentScores("acc", {"a": [0, 1]}, segment_ids=["q1"])
