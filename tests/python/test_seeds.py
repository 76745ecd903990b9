"""Seeds of test sets, simulations, runs and restarts, derived from one seed."""

from __future__ import annotations

import json
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reshuffle import DerivedSeed, FromCounts, InputError, approximate_randomization, compare, derive_seed
from reshuffle.report import render

KINDS = ("test-set", "simulation", "run", "restart")
SEEDS = st.integers(0, 2**64 - 1)


def test_derived_seeds_are_distinct() -> None:
    seeds = [derive_seed(seed, kind, index) for seed, kind, index in product(range(3), KINDS, range(50))]
    nested = [derive_seed(seed, "run", 1) for seed in seeds]
    assert len({*seeds, *nested, 0, 1, 2}) == 2 * 600 + 3


@given(SEEDS, st.sampled_from(KINDS), SEEDS)
def test_a_derived_seed_can_be_used_as_its_integer(seed: int, kind: str, index: int) -> None:
    derived = derive_seed(seed, kind, index)
    assert isinstance(derived, int)
    assert derived == derive_seed(seed, kind, index)
    assert json.dumps(derived) == str(int(derived))
    again = pickle.loads(pickle.dumps(derived))
    assert (again, again.derivation) == (derived, f"{seed}>{kind}[{index}]")


def test_a_derived_seed_gives_the_results_of_its_integer_and_a_signature_with_its_derivation() -> None:
    rng = np.random.default_rng(1)
    counts = {name: np.sort(rng.integers(1, 9, (30, 10)))[:, ::-1] for name in "ab"}
    bleu = FromCounts("m", counts, "bleu")
    seed = derive_seed(derive_seed(12345, "simulation", 7), "test-set", 3)
    derived, plain = (
        compare(metrics=bleu, n_resamples=99, seed=s, interval="percentile", test="ar:scheme=iid")
        for s in (seed, int(seed))
    )
    assert "|n:99|seed:12345>simulation[7]>test-set[3]|" in derived.signature
    assert derived.signature.replace("12345>simulation[7]>test-set[3]", str(int(seed))) == plain.signature
    assert [s.confidence_interval for s in derived.scores] == [s.confidence_interval for s in plain.scores]
    assert derived.seed == plain.seed
    as_json = json.loads(render(derived, "json"))
    assert as_json["seed"] == int(seed)
    one = approximate_randomization(counts["a"], counts["b"], "bleu", n_resamples=99, seed=seed, scheme="iid")
    assert "|seed:12345>simulation[7]>test-set[3]|" in one.signature
    assert (
        one.pvalue
        == approximate_randomization(
            counts["a"], counts["b"], "bleu", n_resamples=99, seed=int(seed), scheme="iid"
        ).pvalue
    )


def test_invalid_kinds_and_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="unknown kind of seed 'optimizer'"):
        derive_seed(1, "optimizer", 0)
    with pytest.raises(InputError, match="index must be a whole number from 0"):
        derive_seed(1, "run", -1)
    with pytest.raises(InputError, match="seed must be a whole number from 0"):
        derive_seed(2**64, "run", 0)
    assert isinstance(derive_seed(0, "run", 0), DerivedSeed)
