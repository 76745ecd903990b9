"""People's votes: every format against plain loops, WMT's published counts and scores, and messages for bad files."""

import contextlib
import gzip
import itertools
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inputs import put
from reshuffle import InputError, InputWarning, read_lines
from reshuffle.data.judgments import Judgments, read_judgments
from reshuffle.data.score_tables import read_scores
from reshuffle.data.system_names import read_sysmap
from reshuffle.meta.human import human_scores
from told import assert_raises

pytestmark = pytest.mark.usefixtures("here")

# A ranking: the segment, and (system, rank) of up to five outputs; -1 is not ranked.
RANKED = st.tuples(st.permutations("abcdefg"), st.lists(st.sampled_from([-1, 1, 2, 3]), min_size=5, max_size=5)).map(
    lambda drawn: list(zip(drawn[0][:5], drawn[1], strict=True))
)
# Rankings, at least one of which has votes.
RANKINGS = st.lists(st.tuples(st.integers(1, 3), RANKED), max_size=12).map(
    lambda rankings: [*rankings, (2, [("a", 1), ("b", -1), ("c", 2), ("d", 2), ("e", 3)])]
)


def rnk(rankings: Sequence[tuple[int, Sequence[tuple[str, int]]]], pair: tuple[str, str] = ("Czech", "English")) -> str:
    """A file as WMT published them in 2012."""
    places = range(1, 6)
    ids = [field for i in places for field in (f"system{i}Number", f"system{i}Id")]
    lines = [["srclang,trglang,srcIndex,documentId,segmentId,judgeId", *ids, *(f"system{i}rank" for i in places)]]
    for segment, ranked in rankings:
        systems = [field for name, _ in ranked for field in ("-1", name)]
        lines.append([*pair, str(segment), "-1", str(segment), "judge", *systems, *(str(rank) for _, rank in ranked)])
    return "".join(",".join(fields) + "\n" for fields in lines)


def rnk_2008(rankings: Sequence[tuple[int, Sequence[tuple[str, int]]]]) -> str:
    """A file as WMT published it in 2008: outputs that were not ranked are missing, and rows may be short."""
    header = "TASK,TYPE,ITEM_ID,ANNOTATOR_ID,TIME" + "".join(f",SYSTEM_{i},SCORE_{i}_A,SCORE_{i}_B" for i in range(5))
    lines = [header, "WMT08 Czech-English News,CONSTITUENT,7,0,1,a,1,,b,2,"]
    for segment, ranked in rankings:
        fields = "".join(f",{name},{rank}," for name, rank in ranked if rank > 0)
        lines.append(f"WMT08 Czech-English News,RANK,{segment - 1},0,1{fields}")
    return "".join(line + "\n" for line in lines)


def plain(rankings: Sequence[tuple[int, Sequence[tuple[str, int]]]]) -> tuple[Counter[tuple[int, str, str]], int]:
    """All votes (segment from 0, better, worse), and the number of ties: a loop over pairs."""
    votes: Counter[tuple[int, str, str]] = Counter()
    ties = 0
    for segment, ranked in rankings:
        for (one, x), (other, y) in itertools.combinations(ranked, 2):
            if min(x, y) > 0:
                ties += x == y
                if x != y:
                    votes[(segment - 1, one, other) if x < y else (segment - 1, other, one)] += 1
    return votes, ties


def net_of(votes: Counter[tuple[int, str, str]]) -> set[tuple[int, str, str]]:
    """The majority's vote of each segment and pair: a loop over votes."""
    return {(s, better, worse) for (s, better, worse), n in votes.items() if n > votes[s, worse, better]}


def as_votes(judgments: Judgments) -> Counter[tuple[int, str, str]]:
    """The votes with names of systems."""
    found: Counter[tuple[int, str, str]] = Counter()
    columns = (judgments.segment, judgments.better, judgments.worse, judgments.votes)
    for segment, better, worse, n in zip(*(column.tolist() for column in columns), strict=True):
        found[segment, judgments.systems[better], judgments.systems[worse]] += n
    return found


@given(RANKINGS, st.sampled_from([rnk, rnk_2008]))
def test_rankings_are_read_as_a_loop_over_pairs_reads_them(rankings, write) -> None:  # type: ignore[no-untyped-def]
    expected, ties = plain(rankings)
    path = put("rankings.csv", write(rankings))
    every, net = read_judgments(path, repeats="all"), read_judgments(path)
    assert as_votes(every) == expected
    assert (every.n_raw, every.n_raw_ties, every.n_votes) == (sum(expected.values()), ties, sum(expected.values()))
    assert as_votes(net) == Counter(net_of(expected))
    assert net.raw is not None
    assert as_votes(net.raw) == expected
    assert (net.n_raw, net.n_raw_ties) == (every.n_raw, every.n_raw_ties)
    # Pairs that were compared have a vote or are tied, once.
    pairs = {(s, *sorted(p)) for s, *p in expected} | {
        (s, *sorted((net.systems[a], net.systems[b]))) for s, a, b in every.tied.tolist()
    }
    tied = {(s, *sorted((net.systems[a], net.systems[b]))) for s, a, b in net.tied.tolist()}
    assert len(tied) == len(net.tied)
    assert tied == pairs - {(s, *sorted(p)) for s, *p in net_of(expected)}


@given(RANKINGS, st.permutations("abcdefg"), st.sets(st.sampled_from("bdefg")).map({"a", "c"}.union))
def test_systems_are_those_with_outputs_that_were_judged_in_their_order(rankings, order, outputs) -> None:  # type: ignore[no-untyped-def]
    kept = [(s, [(name, rank if name in outputs else -1) for name, rank in ranked]) for s, ranked in rankings]
    expected, ties = plain(kept)
    names = [name for name in order if name in outputs]
    path = put("some.csv", rnk(rankings))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        found = read_judgments(path, systems=[f"{name}.txt" for name in names], unknown="drop", repeats="all")
    judged = {name for _, *pair in expected for name in pair} | {found.systems[i][0] for i in found.tied[:, 1:].ravel()}
    assert found.systems == tuple(f"{name}.txt" for name in names if name in judged)
    renamed = Counter({(s, f"{a}.txt", f"{b}.txt"): n for (s, a, b), n in expected.items()})
    assert as_votes(found) == renamed
    assert found.n_raw_ties == ties


@given(RANKINGS)
def test_human_scores_are_those_of_a_plain_loop(rankings) -> None:  # type: ignore[no-untyped-def]
    judgments = read_judgments(put("scores.csv", rnk(rankings)))
    votes, _ = plain(rankings)
    wins: Counter[tuple[str, str]] = Counter()
    ties: Counter[str] = Counter()
    for (_, better, worse), n in votes.items():
        wins[better, worse] += n
    for _, ranked in rankings:
        for (one, x), (other, y) in itertools.combinations(ranked, 2):
            if x == y > 0:
                ties.update([one, other])
    for i, one in enumerate(judgments.systems):
        others = [o for o in judgments.systems if wins[one, o] + wins[o, one]]
        won, lost = sum(wins[one, o] for o in others), sum(wins[o, one] for o in others)
        shares = [wins[one, o] / (wins[one, o] + wins[o, one]) for o in others]
        expected = {
            "wins": won / (won + lost) if others else np.nan,
            "expected-wins": np.mean(shares) if others else np.nan,
            "wins-or-ties": (won + ties[one]) / (won + lost + ties[one]),
        }
        for method, value in expected.items():
            assert human_scores(judgments, method)[i] == pytest.approx(value, nan_ok=True)


# Real judgments.

PAIRS_2012 = ["cs-en", "de-en", "es-en", "fr-en", "en-cs", "en-de", "en-es", "en-fr"]


def outputs(folder: Path) -> list[Path]:
    return sorted((folder / "sys").iterdir())


@pytest.mark.parametrize(
    ("pair", "raw", "net", "systems"),
    [("cs-en", 85_469, 46_434, 11), ("de-en", 128_668, 75_879, 17), ("fr-en", 80_741, 43_267, 13)],
)
def test_the_votes_of_2013_are_all_read(data: Path, pair: str, raw: int, net: int, systems: int) -> None:
    folder = data / f"wmt13-{pair}"
    judgments = read_judgments(
        folder / f"judgments/{pair}.rank",
        sysmap=folder / "judgments/sysmap.tsv",
        systems=outputs(folder),
        n_segments=3000,
    )
    assert (judgments.n_raw, judgments.n_votes, len(judgments.systems)) == (raw, net, systems)
    assert judgments.n_raw_ties == 0


def test_the_counts_of_2012_are_the_papers_within_half_a_percent(data: Path) -> None:
    # Chen & Cherry 2014 (W14-3346), Table 1, has 49 systems and 34,909 pairs into English, 54 and 47,875 out of it.
    path = data / "wmt12-judgments/wmt12.RNK_results.csv"
    found = {True: np.zeros(3, dtype=int), False: np.zeros(3, dtype=int)}
    for pair in PAIRS_2012:
        judgments = read_judgments(path, language_pair=pair, systems=outputs(data / f"wmt12-{pair}"), n_segments=3003)
        found[pair.endswith("-en")] += [len(judgments.systems), judgments.n_votes, judgments.n_raw]
    assert found[True].tolist() == [49, 34_851, 44_345]
    assert found[False].tolist() == [54, 47_687, 56_754]
    assert found[True][1] == pytest.approx(34_909, rel=0.005)
    assert found[False][1] == pytest.approx(47_875, rel=0.005)


def test_the_rankings_of_2008_by_task(data: Path) -> None:
    path = data / "wmt08-judgments/wmt08-human-judgments.csv"
    every = read_judgments(path, language_pair="WMT08 All-English News", n_segments=2051)
    assert (every.n_raw, every.n_raw_ties, every.n_votes, len(every.systems)) == (1751, 257, 1622, 35)
    with pytest.warns(InputWarning, match=r"10 systems have no output: .*; \d+ of 1,751 votes and \d+ of 257 ties are"):
        few = read_judgments(path, language_pair="all-english news", systems=every.systems[:25], unknown="drop")
    assert few.systems == every.systems[:25]
    # Chen & Cherry have 7,804 pairs. Nearest are the net votes into English but for Czech commentary and Hungarian.
    tasks = [f"{task}-English News" for task in ("French", "German", "Czech", "All")]
    tasks += [f"{task}-English Europarl" for task in ("French", "German")]
    read = [read_judgments(path, language_pair=task) for task in tasks]
    assert (sum(each.n_raw for each in read), sum(each.n_votes for each in read)) == (9301, 7770)


def test_the_ranked_outputs_of_2013_are_the_votes_of_the_rank_file(data: Path) -> None:
    folder = data / "wmt13-fr-en"

    def read(name: str, sysmap: Path | None = None) -> Judgments:
        path = folder / "judgments" / name
        return read_judgments(path, sysmap=sysmap, systems=outputs(folder), n_segments=3000, repeats="all")

    from_rank = read("fr-en.rank", folder / "judgments/sysmap.tsv")
    from_rnk = read("trueskill-sample-fr-en-train.csv")
    assert from_rnk.systems == from_rank.systems
    assert as_votes(from_rnk) == as_votes(from_rank)
    assert from_rnk.n_raw_ties == 19_219
    test = read("trueskill-sample-fr-en-test.csv")
    assert (test.n_raw, test.n_raw_ties, test.n_raw + test.n_raw_ties) == (1555, 445, 2000)


def test_wins_are_the_official_scores_of_2012(data: Path) -> None:
    # The scores that WMT12 published, as the examples for Williams' test (Graham & Baldwin 2014, D14-1020) have them.
    path = data / "williams-test-examples/example-data-multi/mt-systems-scored-by-humans"
    rows = [line.split("\t") for line in read_lines(path)[1:]]
    for pair, n in (("es-en", 12), ("en-fr", 15)):
        published = {name: float(score) for _, each, _, name, score in rows if each == pair}
        judgments = read_judgments(data / "wmt12-judgments/wmt12.RNK_results.csv", language_pair=pair)
        found = dict(zip(judgments.systems, 100 * human_scores(judgments, "wins"), strict=True))
        assert len(published) == n
        assert found == pytest.approx(published, abs=5e-5)


# Contents of the bad files in python_errors_of_judgments.txt.
VOTES = "1\ten-de\ta\ten-de\tb\n2\ten-de\tb\ten-de\tc\n"
HEADER = rnk([])
RANKING = rnk([(3, [("a", 1), ("b", 2), ("c", -1), ("d", -1), ("e", -1)])])
GERMAN = rnk([(3, [("a", 1), ("b", 2), ("c", -1), ("d", -1), ("e", -1)])], ("German", "English"))[len(HEADER) :]
ROW_2008 = rnk_2008([(1, [("a", 1), ("b", 2)])])


def test_what_is_wrong_with_judgments_is_said() -> None:
    assert_raises("python_errors_of_judgments", globals())


def test_nothing_is_left_if_no_system_has_an_output() -> None:
    with pytest.warns(InputWarning, match="3 systems have no output: a, b, c; 2 of 2 votes are left out"):  # noqa: SIM117
        with pytest.raises(InputError, match="none of the systems has an output"):
            read_judgments(put("e.rank", VOTES), systems=["d"], unknown="drop")


def test_outputs_are_a_folder_or_files(tmp_path: Path) -> None:
    path = put("folder.rank", VOTES)
    for name in ("c.txt", "a.txt", "b"):
        (tmp_path / name).write_text("x\n")
    files = [tmp_path / name for name in ("c.txt", "b", "a.txt")]
    for systems, names in ((tmp_path, "abc"), (str(tmp_path), "abc"), (files, "cba")):
        assert read_judgments(path, systems=systems).systems == tuple(names)


# Pieces of files, also of bad ones.
PIECES = [*"1 0 -1 x a b en-de en-fr RANK".split(), *'\t\t\n\n,"\r\ufeff ', ""]


@given(
    st.sampled_from(["VOTES", "RANKING", "ROW_2008", ""]),
    st.lists(st.tuples(st.integers(0, 400), st.sampled_from(PIECES), st.integers(0, 2)), max_size=8),
)
def test_no_file_is_read_with_another_error(start: str, changes: list[tuple[int, str, int]]) -> None:
    text = {"VOTES": VOTES * 2, "RANKING": RANKING * 2, "ROW_2008": ROW_2008 * 2}.get(start, "")
    for at, piece, drop in changes:
        text = text[:at] + piece + text[at + drop :]
    path = put("fuzz.rank", text)
    for options in ({}, {"systems": ["a", "b"], "unknown": "drop"}, {"n_segments": 1}):
        with contextlib.suppress(InputError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            judgments = read_judgments(path, **options)
            assert judgments.n_votes + len(judgments.tied) > 0
    with contextlib.suppress(InputError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        read_scores(path)


def test_maps_of_names() -> None:
    for content in ("id\tname\ta\nx\tX\t1\ny\tY\t2\n", "x\tX\ny\tY\n", "x X\ny Y", "\ufeffrank_id,f\r\nx,X\r\ny,Y\r\n"):
        assert read_sysmap(put("map.tsv", content)).names == {"x": "X", "y": "Y"}
    Path("map.tsv.gz").write_bytes(gzip.compress(b"a\tAlpha\nb\tBeta\nc\tGamma\n"))
    assert read_judgments(put("v.rank", VOTES), sysmap="map.tsv.gz").systems == ("Alpha", "Beta", "Gamma")
    message = "v.rank, line 2: c is mapped by map.tsv.gz, line 3, to an unknown system 'Gamma': did you mean 'Gama'"
    with pytest.raises(InputError, match=message):
        read_judgments("v.rank", sysmap="map.tsv.gz", systems=["Alpha", "Beta", "Gama"])


def test_judgments_of_some_systems() -> None:
    votes = Judgments.from_votes("abc", 2, [0, 0, 0, 1], [0, 0, 1, 2], [1, 1, 2, 0], tied=[[1, 0, 1], [1, 1, 2]])
    for judgments in (votes, votes.net()):
        some = judgments.for_systems(["b", "a"])
        assert some.systems == ("b", "a")
        assert as_votes(some) == Counter({(0, "a", "b"): int(judgments.votes[0])})
        assert some.tied.tolist() == [[1, 1, 0]]
        assert (some.n_raw, some.n_raw_ties) == (2, 1)
        assert human_scores(some).tolist() == [0, 1]
    with pytest.raises(InputError, match="unknown system 'd'"):
        votes.for_systems(["d"])
