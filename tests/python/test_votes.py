"""``votes``: ratings by Davidson's model, their draws, what is refused, and the files that are read.

Expected numbers of other tools are from evalica 0.4.2 and choix 0.4.1 (see each test), and from a prototype that
maximized the likelihood by BFGS in SciPy.
"""

import contextlib
import itertools
import json
import math
import random
import tempfile
import warnings
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reshuffle
from budgets import budget
from known import ends, known
from reshuffle import InputError, InputWarning, VoteTable, votes
from reshuffle._core import draw_weights
from reshuffle.data.votes import read_votes
from reshuffle.resampling.votes import Cells
from reshuffle.settings import Resampling
from told import assert_raises, assert_told, beyond_the_first, command

# Strengths on WMT 2012: each ranking as all pairs, equal ranks as ties.
GOLDEN = {
    "cs-en": (
        (12_775, 1_754, 1_291, 45, 0.334421),
        {"cu-bojar": 0.109458, "jhu-heiro": -0.652613, "onlineA": 0.10635, "onlineB": 0.526168,
         "uedin-wmt12": 0.351646, "uk-dan-moses": -0.441009},
    ),
    "de-en": (
        (14_138, 2_204, 1_425, 47, 0.394444),
        {"KIT_Phrase-Based_SMT_System": 0.195579, "LIMSI-Ncode-Constrained-Primary": 0.180605,
         "QCRI--primary": 0.093398, "RWTH_primary": 0.229426, "UG-WMT12": -1.532943, "dfki-berlin": -0.384155,
         "jhu-hiero": -0.65477, "onlineA": 0.631415, "onlineB": 0.622893, "onlineC": 0.030892, "onlineD": 0.439454,
         "onlineE": -0.267946, "onlineF": 0.042032, "quaero_primary": 0.443402, "uedin-wmt12": 0.397018,
         "uk-dan-moses": -0.466301},
    ),
}  # fmt: skip


def table(
    wins: dict[tuple[str, str], int], ties: dict[tuple[str, str], int] | None = None, **units: Iterable[object]
) -> VoteTable:
    """So many wins of the first of each pair over the second, and ties."""
    rows = [(a, b, "model_a") for (a, b), n in wins.items() for _ in range(n)]
    rows += [(a, b, "tie") for (a, b), n in (ties or {}).items() for _ in range(n)]
    return VoteTable.from_columns(*zip(*rows, strict=True), **units)


def simulated(k: int = 5, n: int = 400, judges: int = 40, seed: int = 1) -> VoteTable:
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        a, b = rng.sample(range(k), 2)
        x = 0.4 * (b - a)
        weights = [math.exp(x / 2), 0.5, math.exp(-x / 2)]
        rows.append((f"s{a}", f"s{b}", rng.choices(["model_a", "tie", "model_b"], weights)[0], f"j{i % judges}"))
    *columns, judge = zip(*rows, strict=True)
    return VoteTable.from_columns(*columns, judge=judge)


def ratings(comparison: reshuffle.Comparison) -> dict[str, float]:
    return {score.system: score.score for score in comparison.scores}


@pytest.mark.parametrize("pair", GOLDEN)
def test_strengths_on_wmt12_are_those_of_a_fit_by_bfgs(data: Path, pair: str) -> None:
    (n, ties, rankings, judges, nu), expected = GOLDEN[pair]
    read = read_votes(data / "wmt12-judgments/wmt12.RNK_results.csv", language_pair=pair)
    assert (len(read), read.n_ties, int(read.units["ranking"].max()) + 1) == (n, ties, rankings)
    found = votes(read, n_resamples=99)
    assert ratings(found) == pytest.approx(expected, abs=1e-6)
    assert known(found.votes).nu == pytest.approx(nu, abs=1e-6)
    assert (found.unit, found.n_units) == ("judge", judges)


# evalica 0.4.2: bradley_terry(xs, ys, winners, solver="naive", tolerance=1e-14, limit=10**6) with tie_weight=0.5 and 0;
# choix 0.4.1: ilsr_pairwise of the wins alone. Logarithms of scores, centred. The votes are those of simulated().
def test_ties_as_half_and_without_ties_are_those_of_evalica_and_choix() -> None:
    evalica = pytest.importorskip("evalica")
    choix = pytest.importorskip("choix")
    read = simulated()
    names = np.array(read.systems)
    winners = [[evalica.Winner.X, evalica.Winner.Draw, evalica.Winner.Y][o] for o in read.outcome]
    for ties, weight in (("half", 0.5), ("drop", 0.0)):
        shown = names[read.first].tolist(), names[read.second].tolist(), winners
        scores = evalica.bradley_terry(*shown, tie_weight=weight, tolerance=1e-14, limit=1_000_000).scores
        logs = np.log(scores)
        expected = dict(zip(scores.index, logs - logs.mean(), strict=True))
        assert ratings(votes(read, ties=ties, n_resamples=99)) == pytest.approx(expected, abs=1e-6)
    decided = read.without_ties()
    outcomes = zip(decided.first, decided.second, decided.outcome, strict=True)
    won = [(a, b) if o == 0 else (b, a) for a, b, o in outcomes]
    expected = dict(zip(read.systems, choix.ilsr_pairwise(len(names), won, max_iter=1000), strict=True))
    assert ratings(votes(read, ties="drop", n_resamples=99)) == pytest.approx(expected, abs=1e-7)


def test_half_a_win_for_all_makes_ratings_finite() -> None:
    wins = table({("0", "1"): 3, ("1", "0"): 2, ("0", "2"): 5, ("1", "2"): 4})
    with pytest.warns(InputWarning, match="each vote is drawn alone"):
        found = votes(wins, prior=0.5, units="vote", n_resamples=99)
    assert ratings(found) == pytest.approx({"0": 0.92525083, "1": 0.6070363, "2": -1.53228713}, abs=1e-8)
    assert "|prior:0.5|" in found.signature


def test_two_systems_with_ties_have_closed_forms() -> None:
    """π₁/π₂ = w₁/w₂, ν = t/√(w₁w₂)."""
    read = table({("a", "b"): 9, ("b", "a"): 4}, {("a", "b"): 3}, judge=[i % 4 for i in range(16)])
    found, elo = (votes(read, scale=scale, n_resamples=99) for scale in ("log", "elo"))
    assert known(found.votes).nu == pytest.approx(0.5)
    assert (ratings(found)["a"], ratings(elo)["a"]) == pytest.approx((math.log(9 / 4) / 2, 200 * math.log10(9 / 4)))


def test_the_advantage_of_the_first_has_a_closed_form_for_two_systems() -> None:
    """Without ties, the log odds of both orders are ±2θ + γ."""
    votes_of = [("a", "b", "a")] * 30 + [("a", "b", "b")] * 10 + [("b", "a", "b")] * 24 + [("b", "a", "a")] * 16
    read = VoteTable.from_columns(*zip(*votes_of, strict=True), judge=[i % 40 for i in range(80)])
    found = votes(read, position=True, n_resamples=999)
    first = known(known(found.votes).first)
    odds = math.log(30 / 10), math.log(24 / 16)
    assert (first.advantage, ratings(found)["a"]) == pytest.approx((sum(odds) / 2, (odds[0] - odds[1]) / 4))
    assert known(first.pvalue) < 0.05
    assert ends(first)[0] > 0


def test_p_of_the_advantage_is_the_larger_of_both_bootstraps() -> None:
    rows = []
    # A few judges with many votes prefer the second place, so that draws without them are far away.
    for judge in range(40):
        own = "model_b" if judge < 3 else "model_a" if judge % 2 else "a" if judge % 4 else "b"
        rows += [(*pair, own, judge) for pair in [("a", "b"), ("b", "a")] * (20 if judge < 3 else 1)]
    *columns, judges = zip(*rows, strict=True)
    read = VoteTable.from_columns(*columns, judge=judges)
    cells = Cells(read, position=True)
    draws = cells.drawn("judge", cells.fit(), Resampling(999, 12345, 1))[0].advantage
    first = known(known(votes(read, position=True, n_resamples=999).votes).first)
    centred = (1 + sum(abs(each - first.advantage) >= abs(first.advantage) for each in draws)) / 1000
    percentile = 2 * (1 + min(sum(each <= 0 for each in draws), sum(each >= 0 for each in draws))) / 1000
    assert first.pvalue == max(centred, percentile)
    assert percentile > centred


@pytest.mark.parametrize("halved", [False, True])
def test_a_prior_adds_as_many_wins_if_the_order_matters(halved: bool) -> None:
    read = VoteTable.from_columns(
        ["a"] * 6 + ["b"] * 6, ["b"] * 6 + ["a"] * 6, (["a"] * 4 + ["b"] * 2) * 2, judge=range(12)
    )
    alone, both_orders = (Cells(read, halved, position, prior=1.0) for position in (False, True))
    assert alone.totals.sum() == both_orders.totals.sum() == (28 if halved else 14)
    # Here there is no advantage, so that the strengths are those without it.
    assert both_orders.fit().strengths == pytest.approx(alone.fit().strengths)
    assert both_orders.fit().strengths[0] == pytest.approx(math.log(9 / 5) / 2)


@pytest.mark.parametrize("ties", ["model", "half", "drop"])
def test_draws_are_fits_of_the_votes_of_drawn_units(ties: str) -> None:
    """The slow twin fits a new table of the drawn judges' votes, each as often as its judge was drawn."""
    read = simulated()
    used = read.without_ties() if ties == "drop" else read
    found = votes(read, ties=ties, n_resamples=20, seed=7)
    drawn = []
    for r in range(20):
        weights = draw_weights(7, r, 40)
        kept = np.repeat(np.arange(len(used)), weights[used.units["judge"]])
        again = VoteTable(used.systems, used.first[kept], used.second[kept], used.outcome[kept])
        drawn.append(Cells(again, ties == "half").fit().strengths)
    low, high = np.sort(drawn, axis=0)[[0, -1]]
    for score, least, most in zip(found.scores, low, high, strict=True):
        assert ends(score) == pytest.approx((least, most), abs=1e-9)


def test_the_same_bytes_with_any_number_of_threads_and_an_executor() -> None:
    options: dict[str, Any] = {"n_resamples": 700, "position": True}
    results = [votes(simulated(), workers=threads, **options).render("json") for threads in (1, 2, 5)]
    with ThreadPoolExecutor(2) as pool:
        results.append(votes(simulated(), workers=pool, **options).render("json"))
    assert len(set(results)) == 1


SAME = [("a", "b"), ("b", "a")]
REFUSED = {
    "no vote compares a, b with c, d": [*SAME, ("c", "d"), ("d", "c")],
    "c never beat a, b": [*SAME, ("a", "c"), ("b", "c")],
    "c was never beaten by a, b": [*SAME, ("c", "a"), ("c", "b")],
    "c, d never beat a, b, e": [("a", "b"), ("b", "e"), ("e", "a"), ("c", "d"), ("d", "c"), ("a", "c"), ("b", "d")],
    "an order that no vote contradicts": [("a", "b")],
    "all votes are ties": [],
}


@pytest.mark.parametrize("message", REFUSED)
def test_votes_without_finite_ratings_are_refused(message: str) -> None:
    wins = dict.fromkeys(REFUSED[message], 2)
    ties = {("a", "b"): 2} if len(wins) < 2 else {}
    with pytest.raises(InputError, match=message):
        votes(table(wins, ties, judge=[i % 2 for i in range(2 * (len(wins) + len(ties)))]))


@given(st.data())
@settings(max_examples=budget(60))
def test_votes_are_refused_exactly_if_the_likelihood_grows_without_limit(data: st.DataObject) -> None:
    """A prior of almost nothing keeps ratings finite; they grow as it shrinks only if there is no limit."""
    pairs = list(itertools.combinations("abcd", 2))
    vote = st.tuples(st.sampled_from(pairs), st.sampled_from(["a", "tie", "b"]))
    rows = [(*pair, winner) for pair, winner in data.draw(st.lists(vote, min_size=3, max_size=14))]
    read = VoteTable.from_columns(*zip(*rows, strict=True))
    refused = ""
    try:
        Cells(read).fit()
    except InputError as error:
        refused = str(error)
    if "no vote compares" in refused:
        return
    one, other = (Cells(read, prior=prior).fit() for prior in (1e-2, 1e-4))
    ties = abs(float(one.log_nu)), abs(float(other.log_nu))
    grows = np.ptp(other.strengths) - np.ptp(one.strengths) > 1 or (np.isfinite(ties[1]) and ties[1] - ties[0] > 1)
    assert grows == bool(refused)


# Too many draws have no finite ratings, or with a prior nothing but the added wins bounds a rating or the advantage.
WITHHELD: dict[str, tuple[VoteTable, dict[str, Any]]] = {
    "few votes": (table({("a", "b"): 5, ("b", "a"): 1}, judge=range(6)), {}),
    "few votes and a prior": (table({("a", "b"): 5, ("b", "a"): 1}, judge=range(6)), {"prior": 0.5}),
    "a system that never won": (
        table({("a", "b"): 20, ("b", "a"): 20, ("a", "c"): 40, ("b", "c"): 40}, judge=[*range(40)] * 3),
        {"prior": 0.5},
    ),
    "the first always wins": (
        VoteTable.from_columns(["a", "b"] * 9, ["b", "a"] * 9, ["model_a"] * 18, judge=range(18)),
        {"prior": 0.5, "position": True},
    ),
    "few votes and an order": (
        VoteTable.from_columns(["a", "b"] * 6, ["b", "a"] * 6, ["a", "a", "b", "b", "a", "a"] * 2, judge=range(12)),
        {"position": True},
    ),
}


@pytest.mark.parametrize("name", WITHHELD)
def test_without_finite_ratings_in_draws_there_are_no_intervals_and_tests(name: str) -> None:
    read, options = WITHHELD[name]
    found = votes(read, n_resamples=999, **options)
    assert np.isfinite(list(ratings(found).values())).all()
    assert (found.comparisons, found.scores[0].confidence_interval) == ((), None)
    first = known(found.votes).first
    assert first is None or (first.confidence_interval, first.pvalue) == (None, None)


def with_units(read: VoteTable, **units: Any) -> VoteTable:
    return VoteTable(read.systems, read.first, read.second, read.outcome, units)


def test_prompts_are_named_as_units_where_judges_are_few() -> None:
    codes = np.arange(400)
    few = with_units(simulated(), judge=codes % 3, prompt=codes // 2)
    with pytest.warns(InputWarning, match="only 3: if they are models"):
        votes(few, n_resamples=99)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        votes(few, units="prompt", n_resamples=99)
        votes(few, units="judge", n_resamples=99)


def test_what_reports_tell() -> None:
    unequal = with_units(
        simulated(n=2000), judge=np.minimum(np.arange(2000) // 5, 149)
    )  # the last has most of the votes
    ordered = VoteTable.from_columns(["a", "b"] * 40, ["b", "a"] * 40, ["a", "tie", "b", "a"] * 20, judge=range(80))
    results = {
        "few judges": votes(simulated(), n_resamples=199),
        "many judges": votes(simulated(n=1000, judges=100), n_resamples=199),
        "judges with unequal numbers of votes": votes(unequal, n_resamples=199),
        "order and a prior": votes(ordered, position=True, prior=0.5, n_resamples=199),
        **{name: votes(own, n_resamples=999, **options) for name, (own, options) in WITHHELD.items()},
    }
    methods = results["order and a prior"].methods_sentence().partition(" The difference between")[0]
    told = beyond_the_first({name: str(each) for name, each in results.items()})
    assert_told("votes", {**told, "methods": methods})
    assert "at a nominal 0.05" in results["few judges"].methods_sentence()


def test_a_result_is_saved_and_shown_again() -> None:
    found = votes(simulated(), n_resamples=200, position=True, scale="elo")
    again = reshuffle.read_json(found.render("json"))
    assert again == found
    assert found.votes is not None
    assert f"; {found.votes.n_votes} votes; " in repr(again)
    for fmt in ("text", "markdown", "latex", "typst", "html", "csv"):
        assert "s3" in again.render(fmt)
    assert f"<h1>Ratings of {len(found.systems)} systems by votes</h1>" in again.render("html")


# Files.


def battles(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


ROWS = [
    {"question_id": i, "model_a": f"s{i % 3}", "model_b": f"s{(i + 1) % 3}", "winner": w, "judge": f"u{i % 7}"}
    for i, w in enumerate(["model_a", "model_b", "tie", "tie (bothbad)"] * 30)
]


def test_arena_files_and_tables_have_the_same_votes(tmp_path: Path) -> None:
    read = read_votes(battles(tmp_path / "a.jsonl", ROWS))
    assert (read.systems, len(read), read.n_ties, read.has_order) == (("s0", "s1", "s2"), 120, 60, True)
    assert read.default_units == "judge"
    for separator, name in ((",", "a.csv"), ("\t", "a.tsv")):
        lines = [separator.join(ROWS[0]), *(separator.join(map(str, row.values())) for row in ROWS)]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        same = read_votes(tmp_path / name)
        assert all((getattr(same, each) == getattr(read, each)).all() for each in ("first", "second", "outcome"))
    renamed = [{"l": r["model_a"], "r": r["model_b"], "best": r["winner"], "who": r["judge"]} for r in ROWS]
    columns = {"first": "l", "second": "r", "winner": "best", "judge": "who"}
    other = read_votes(battles(tmp_path / "b.jsonl", renamed), columns=columns)
    assert (other.units["judge"] == read.units["judge"]).all()
    with pytest.warns(InputWarning, match=r"a\.jsonl and .*a\.csv have the same votes: was a file passed twice\?"):
        both = read_votes([tmp_path / "a.jsonl", tmp_path / "a.csv"])
    assert len(both) == 240
    assert int(both.units["judge"].max()) == 6


@pytest.mark.usefixtures("here")
def test_bad_votes_are_refused_in_a_sentence() -> None:
    def second(line: str) -> int:
        first = '{"model_a": "x", "model_b": "y", "winner": "tie"}'
        Path("a.jsonl").write_text(f"{first}\n{line}\n", encoding="utf-8")
        return command(["votes", "a.jsonl"])

    def written(name: str, content: str) -> VoteTable:
        Path(name).write_text(content, encoding="utf-8")
        return read_votes(name)

    def in_orders(first: list[str], second: list[str], winner: list[str], **options: Any) -> Any:
        read = VoteTable.from_columns(first, second, winner, judge=range(len(first)))
        return votes(read, position=True, **options)

    local = {"second": second, "written": written, "in_orders": in_orders}
    assert_raises("python_errors_of_votes", globals() | local)


def test_a_column_that_one_of_several_files_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b,winner,judge,prompt\nx,y,a,k,1\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("a,b,winner,prompt\nx,y,b,1\n", encoding="utf-8")
    with pytest.warns(InputWarning, match=r"b\.csv has no column of judges, so those of .*a\.csv are not used") as said:
        read = read_votes([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert (len(said), set(read.units)) == (1, {"prompt"})


@given(st.binary(min_size=1, max_size=300))
@settings(max_examples=budget(200))
def test_any_bytes_are_votes_or_an_error(content: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file, warnings.catch_warnings(), contextlib.suppress(InputError):
        warnings.simplefilter("ignore", InputWarning)
        Path(file.name).write_bytes(content)
        assert len(read_votes(file.name)) > 0


LINE = st.dictionaries(
    st.sampled_from(["model_a", "model_b", "winner", "judge", "other"]),
    st.one_of(
        st.sampled_from(["x", "y", "z", "model_a", "tie", ""]), st.integers(-1, 2), st.none(), st.lists(st.none())
    ),
)


@given(st.lists(LINE, min_size=1, max_size=8))
@settings(max_examples=budget(200))
def test_any_objects_are_rated_or_an_error(entries: list[dict[str, object]]) -> None:
    with tempfile.NamedTemporaryFile() as file, warnings.catch_warnings(), contextlib.suppress(InputError):
        warnings.simplefilter("ignore", InputWarning)
        battles(Path(file.name), entries)
        rated = votes(file.name, units="vote", n_resamples=20)
        assert np.isfinite(list(ratings(rated).values())).all()


def test_scores_side_by_side_in_pearmut_are_votes(tmp_path: Path) -> None:
    def entry(user: str, item: str, **scores: float) -> dict[str, object]:
        by_system = {name: {"score": score} for name, score in scores.items()}
        return {"user_id": user, "item_i": 0, "item": [{"item_id": item}], "annotation": [by_system]}

    rows = [entry("ann", "1", x=80, y=60, z=60), entry("bob", "1", x=10, y=30)]
    read = read_votes(battles(tmp_path / "pearmut.jsonl", rows))
    assert read.systems == ("x", "y", "z")
    assert [*zip(read.first, read.second, read.outcome, strict=True)] == [(0, 1, 0), (0, 2, 0), (1, 2, 1), (0, 1, 2)]
    assert read.units["judge"].tolist() == [0, 0, 0, 1]
    assert not read.has_order


def test_rank_files_have_prompts_and_no_ties(data: Path) -> None:
    read = read_votes(data / "wmt13-cs-en/judgments/cs-en.rank")
    assert (read.n_ties, read.default_units, set(read.units)) == (0, "prompt", {"prompt"})
