"""Files with the weights of features, in each form, and wrong ones."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from known import known
from reshuffle import InputError
from reshuffle.tune import read_nbest, read_weights, weights_by_name

NAMES = ["lm", "tm_0", "tm_1"]


@pytest.mark.parametrize(
    "text",
    [
        "0.5 -1 2e-1\n",
        "# start\n\n0.5 -1 .2\n",
        "lm 0.5\ntm_1 0.2\ntm_0 -1\ns_a 7\n",
        "lm= 0.5\ntm= -1 0.2\ns_a= 7\n",
        "lm: 0.5 tm: -1 0.2 s_a: 7\n",
        "tm_0=-1 lm=0.5\ntm_1=0.2 other=3 s_a=7\n",
        "[feature]\nLM name=lm\n[weight]\n# chosen\ns_a= 7\nlm= 0.5\ntm= -1 0.2\n[other]\nlm= 3\n",
        '{"lm": 0.5,\n "tm_0": -1, "tm_1": 0.2, "s_a": 7}\n',
    ],
)
def test_weights_are_put_into_the_order_of_the_features(tmp_path: Path, text: str) -> None:
    path = tmp_path / "weights"
    path.write_text(text)
    weights = read_weights(path, NAMES, ["s_b", "s_a"])
    assert weights.dense.tolist() == [0.5, -1, 0.2]
    assert weights.sparse.tolist() == ([0, 7] if "s_a" in text else [0, 0])
    assert weights.low is weights.high is None


def test_limits_of_random_weights(data: Path) -> None:
    folder = data / "kbest-wmt11-de-en"
    weights = read_weights(folder / "init.opt", read_nbest(folder / "dev.nbest.gz").names)
    assert weights.dense.tolist() == [0.01, 0.4, -1, -10, -0.2, -0.2, -0.2, -0.1, -0.1, -0.1, -0.1, -0.8]
    assert (set(known(weights.low).tolist()), set(known(weights.high).tolist())) == ({-1}, {1})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# nothing\n", "expected the weights of features, got no line with weights"),
        ("1 2\n", "line 1: expected 3 numbers, for the features lm, tm_0, tm_1, got 2"),
        ("1 2 3\n1 2 3\n", "expected a line of weights, or three with weights, lower and upper limits, got 2 lines"),
        ("1 2 3\n1 9 1\n2 2 2\n", "the lower limit 9 of 'tm_0' is above the upper limit 2"),
        ("1 nan 3\n", "line 1: expected a finite number, got 'nan'"),
        ("lm 1\ntm= 1\n", "no weight for the feature 'tm_0'; it has weights for lm, tm"),
        ("lm= 1\ntm= 1 x\n", "line 2: expected a finite number, got 'x'"),
        ("lm= tm= 1 2\n", "line 1: no weight for 'lm'"),
        ("lm= 1\nlm 2\n", "line 2: a second weight for the feature 'lm'"),
        ("the weights are\n", "line 1: expected weights as `name value` or `name= value …`, got 'the weights are'"),
        ("{1}", "is not valid JSON"),
        ('{"lm": 1, "tm_0": true, "tm_1": 1}', "expected a finite number as the weight of 'tm_0', got True"),
        ('{"lm": 1, "tm_0": 1, "lm": 2}', "a second weight for the feature 'lm'"),
        ('{"lm": ' * 100_000, "nested too deeply for weights of features"),
        ('{"lm": 1, "tm_0": 1, "tm_1": 1' + "0" * 400 + "}", "expected a finite number as the weight of 'tm_1', got"),
        ('{"lm": 1, "tm_0": 1, "tm_1": NaN}', "expected a finite number as the weight of 'tm_1', got nan"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "weights"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_weights(path, NAMES)
    assert str(error.value).startswith(str(path))
    assert problem in str(error.value)


def test_weights_in_memory() -> None:
    assert weights_by_name({"a": 1, "b": 2.5}, ["b"], ["a"]).dense.tolist() == [2.5]
    with pytest.raises(InputError, match="weights: expected a finite number as the weight of 'a', got inf"):
        weights_by_name({"a": math.inf}, [])
