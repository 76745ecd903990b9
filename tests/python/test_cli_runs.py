"""``reshuffle runs``: options, manifests and files against ``compare_runs``, and every kind of bad input."""

import json
import random
import re
import shlex
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import reshuffle
from reshuffle import SegmentScores, compare_runs
from reshuffle.data.manifest import Manifest
from reshuffle.options.run_files import RunFiles
from test_cli_metrics import parse
from told import assert_raises, assert_refused, command

N = ("-n", "99", "--workers", "1")
SEGMENTS = 30
SYSTEMS = {"baseline": ("old/0.txt", "old/1.txt", "old/2.txt"), "new": ("new/0.txt", "new/1.txt", "new/2.txt")}
OLD, NEW = ("--baseline", *SYSTEMS["baseline"]), ("--system", "new", *SYSTEMS["new"])
TEXTS = ("--refs", "ref.txt", *OLD, *NEW)
DEV = {name: tuple(f"dev/{file.replace('/', '.')}" for file in files) for name, files in SYSTEMS.items()}
DEV_TEXTS = ("--dev-refs", "dev/ref.txt", "--dev-baseline", *DEV["baseline"], "--dev-system", "new", *DEV["new"])
SCORES = {name: tuple(file.replace(".txt", ".comet") for file in files) for name, files in SYSTEMS.items()}
ALL_SCORES = (*SCORES["baseline"], *SCORES["new"])
SCORED = ("--baseline", *SCORES["baseline"], "--system", "new", *SCORES["new"])
SEGMENT = ("--exchange", "segment")


def sentence(rng: random.Random, errors: float = 0.0, words: Sequence[str] = ()) -> list[str]:
    """Twelve words, or these with errors."""
    words = words or [rng.choice("abcdefgh") for _ in range(12)]
    return [rng.choice("xyz") if rng.random() < errors else word for word in words]


def write(path: str, lines: Sequence[object]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def lines(path: str) -> list[str]:
    return Path(path).read_text("utf-8").splitlines()


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Texts, texts of a development set and scores of two systems with three runs each, in the current directory."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(11)
    for reference, systems in (("ref.txt", SYSTEMS), ("dev/ref.txt", DEV)):
        texts = [sentence(rng) for _ in range(SEGMENTS)]
        write(reference, [" ".join(text) for text in texts])
        for files, errors in zip(systems.values(), (0.3, 0.25), strict=True):
            for file in files:
                write(file, [" ".join(sentence(rng, errors, text)) for text in texts])
    for files in SCORES.values():
        for file in files:
            write(file, [rng.gauss(0, 1) for _ in range(SEGMENTS)])
    return tmp_path


def document(run: Any, *args: str) -> dict[str, Any]:
    """The result as JSON, from a command that warns of nothing."""
    outcome = run("runs", *args, *N, "--format", "json")
    assert (outcome.code, outcome.err) == (0, "")
    return dict(json.loads(outcome.out))


def tables(result: Mapping[str, Any]) -> list[Any]:
    """What does not depend on how the files are called."""
    systems = [{**system, "outputs": None} for system in result["systems"]]
    return [systems, result["comparisons"], result["observed"], result["plan"]]


def from_python(*args: Any, **options: Any) -> list[Any]:
    result = compare_runs(*args, n_resamples=99, workers=1, **options)
    return tables(json.loads(result.render("json")))


def outputs(systems: Mapping[str, Sequence[str]]) -> dict[str, list[list[str]]]:
    return {name: [lines(file) for file in files] for name, files in systems.items()}


def test_the_command_gives_what_compare_runs_gives(runs: Path, run: Any) -> None:
    found = document(run, *TEXTS, *DEV_TEXTS, "-m", "bleu", "ter", "--exchange", "segment", "run", "--seed", "3")
    assert tables(found) == from_python(
        lines("ref.txt"),
        outputs(SYSTEMS),
        ["bleu", "ter"],
        baseline="baseline",
        exchange=["segment", "run"],
        dev_references=lines("dev/ref.txt"),
        dev_systems=outputs(DEV),
        seed=3,
    )
    assert [system["outputs"] for system in found["systems"]] == [
        ["old/0.txt", "old/1.txt", "old/2.txt"],
        ["new/0.txt", "new/1.txt", "new/2.txt"],
    ]


def test_a_system_is_named_after_files_that_differ_in_a_number(runs: Path, run: Any) -> None:
    files = [f"sys.{n}" for n in range(3)]
    for file, original in zip(files, SYSTEMS["new"], strict=True):
        write(file, lines(original))
    write("sys", ["a file that has the name of the system"])
    dev = (*DEV_TEXTS[:6], "--dev-system", "sys", *DEV["new"])
    write("alone.txt", lines("new/0.txt"))
    for words, name in (([*files, *dev], "sys"), (["alone.txt"], "alone"), (["new/0.txt"], "new")):
        found = document(run, "--refs", "ref.txt", *OLD, "--system", *words, *SEGMENT)
        assert [system["name"] for system in found["systems"]] == ["baseline", name]
        assert len(found["systems"][1]["outputs"]) == (3 if name == "sys" else 1)
    for file, n in zip(("old/opt0", "old/opt1", "tuned/opt0", "tuned/opt1"), range(4), strict=True):
        write(file, [*lines("new/0.txt")[n:], *lines("new/0.txt")[:n]])  # the name of all files says nothing
    named = ("--baseline", "old/opt0", "old/opt1", "--system", "tuned/opt0", "tuned/opt1")
    found = document(run, "--refs", "ref.txt", *named)
    assert [system["name"] for system in found["systems"]] == ["baseline", "tuned"]


def test_options_of_the_test_reach_it(runs: Path, run: Any) -> None:
    third = ("new/2.txt", "old/0.txt", "new/1.txt")
    words = "--all-pairs --statistic mean --alternative worse --adjust holm --family all --alpha 0.1 --confidence 0.8"
    args = [*words.split(), *SEGMENT, "--median-metric", "ter", "--system", "third", *third, "-m", "bleu", "ter"]
    outcome = run("runs", *TEXTS, *args, *N, "--format", "json")
    options: dict[str, Any] = {
        "all_pairs": True, "statistic": "mean", "alternative": "worse", "adjust": "holm", "family": "all", "alpha": 0.1,
        "confidence_level": 0.8, "exchange": "segment", "median_metric": "ter",
    }  # fmt: skip
    with pytest.warns(reshuffle.InputWarning, match="same output"):
        expected = from_python(lines("ref.txt"), outputs({**SYSTEMS, "third": third}), ["bleu", "ter"], **options)
    assert tables(json.loads(outcome.out)) == expected
    assert "run 0 of third and run 2 of new" in outcome.err


def scores_of(systems: Mapping[str, Sequence[str]]) -> SegmentScores:
    by_run = {f"{name}#{run}": file for name, files in systems.items() for run, file in enumerate(files)}
    return SegmentScores("COMET", {key: list(map(float, lines(file))) for key, file in by_run.items()})


def test_scores_may_stand_alone_or_beside_texts(runs: Path, run: Any) -> None:
    alone = document(run, "--scores", "COMET", *SCORED, *SEGMENT)
    numbers = {name: len(files) for name, files in SCORES.items()}
    assert tables(alone) == from_python(None, numbers, scores_of(SCORES), baseline="baseline", exchange="segment")
    beside = document(run, *TEXTS, "--scores", "COMET", *ALL_SCORES, *SEGMENT)
    assert [metric["name"] for metric in beside["metrics"]] == ["BLEU", "COMET"]
    assert beside["systems"][1]["scores"]["COMET"] == alone["systems"][1]["scores"]["COMET"]
    # A second metric from files, without texts.
    more = ("--scores", "twice", *ALL_SCORES, "--lower-is-better", "twice")
    both = document(run, *SCORED, "--scores", "COMET", *more, *SEGMENT)
    assert [metric["higher_is_better"] for metric in both["metrics"]] == [True, False]
    content = {"scores": {"COMET": {name: list(files) for name, files in SCORES.items()}}}
    Path("runs.json").write_text(json.dumps(content), "utf-8")
    assert tables(document(run, "--manifest", "runs.json", *SEGMENT)) == tables(alone)


def parsed(file: str) -> str:
    """A file of parses of a file's segments."""
    Path(f"{file}.conllu").write_text("".join(map(parse, lines(file))), "utf-8")
    return f"{file}.conllu"


def test_parses_stand_beside_texts(runs: Path, run: Any) -> None:
    parses = [parsed(file) for file in ("ref.txt", *SYSTEMS["baseline"], *SYSTEMS["new"])]
    args = (*TEXTS, *DEV_TEXTS, "-m", "bleu", "depf", *SEGMENT, "--parses")
    found = document(run, *args, *parses)
    assert [metric["name"] for metric in found["metrics"]] == ["BLEU", "DepF"]
    scores = found["systems"][1]["scores"]
    of_parses = ("--refs", parses[0], "--baseline", *parses[1:4], "--system", "new", *parses[4:])
    alone = document(run, *of_parses, "-m", "depf", *SEGMENT)
    assert scores["DepF"] == alone["systems"][1]["scores"]["DepF"]
    # Parses of the development set are not given.
    assert (scores["BLEU"]["s_dev"] > 0, scores["DepF"]["s_dev"]) == (True, None)
    expected = "--parses: expected a file for each of 1 reference and 6 runs, got 4"
    assert expected in run("runs", *args, *parses[:4]).refusal()


@pytest.mark.parametrize("named_by", ["run", "file"])
def test_one_file_may_have_the_scores_of_all_runs(runs: Path, run: Any, named_by: str) -> None:
    rows = ["segment\tsystem\tCOMET"]
    for name, files in SCORES.items():
        for number, file in enumerate(files):
            # As 'reshuffle score --segments' names the outputs, or as runs are called.
            system = f"{name}#{number}" if named_by == "run" else SYSTEMS[name][number]
            rows += [f"{segment}\t{system}\t{score}" for segment, score in enumerate(lines(file), 1)]
    write("all.tsv", rows)
    found = document(run, *TEXTS, "--scores", "COMET", "all.tsv#COMET", *SEGMENT)
    expected = document(run, *TEXTS, "--scores", "COMET", *ALL_SCORES, *SEGMENT)
    assert tables(found) == tables(expected)
    manifest = {"references": "ref.txt", "systems": SYSTEMS, "scores": {"COMET": "all.tsv#COMET"}}
    Path("runs.json").write_text(json.dumps(manifest), "utf-8")
    assert tables(document(run, "--manifest", "runs.json", "--exchange", "segment")) == tables(expected)


def test_one_system_alone_has_no_tests(runs: Path, run: Any) -> None:
    found = document(run, "--refs", "ref.txt", *OLD, "--baseline-name", "Moses", *DEV_TEXTS[:6])
    assert found["plan"]["exchange"] == []
    assert [system["name"] for system in found["systems"]] == ["Moses"]
    assert not found.get("comparisons")
    assert found["systems"][0]["scores"]["BLEU"]["s_dev"] > 0


def test_dev_scores_have_the_spread_of_their_runs(runs: Path, run: Any) -> None:
    dev = ("--dev-scores", "baseline", "BLEU", "20", "-1.5", "23", "--dev-scores", "new", "ter", "1", "3", "2")
    found = document(run, *TEXTS, *dev, "-m", "bleu", "ter", "--exchange", "segment")
    old, new = (system["scores"] for system in found["systems"])
    assert old["BLEU"]["dev_runs"] == [20, -1.5, 23]
    assert old["BLEU"]["s_dev"] == pytest.approx(statistics.stdev([20, -1.5, 23]))
    assert new["TER"]["s_dev"] == 1
    assert old["TER"]["s_dev"] is new["BLEU"]["s_dev"] is None
    every = (*dev, "--dev-scores", "new", "BLEU", "1", "3", "2")
    chosen = document(run, *TEXTS, *every, "-m", "bleu", "ter", "--median-on", "dev", "--exchange", "segment")
    assert chosen["systems"][0]["scores"]["BLEU"]["median_run"] == 0
    assert chosen["systems"][1]["scores"]["TER"]["median_run"] == 2


TOML = """
references = ["../ref.txt", "../ref2.txt"]
baseline = "old"
metrics = ["bleu:lowercase", "ter"]
documents = "../docs.txt"
strata = "../strata.txt"
lower_is_better = "COMET"
case_sensitive = true

[systems]
new = ["../new/0.txt", "../new/1.txt", "../new/2.txt"]
old = ["../old/0.txt", "../old/1.txt", "../old/2.txt"]

[scores.COMET]
old = ["../old/0.comet", "../old/1.comet", "../old/2.comet"]
new = ["../new/0.comet", "../new/1.comet", "../new/2.comet"]

[dev]
references = ["../dev/ref.txt"]

[dev.systems]
old = ["../dev/old.0.txt", "../dev/old.1.txt", "../dev/old.2.txt"]
new = ["../dev/new.0.txt", "../dev/new.1.txt", "../dev/new.2.txt"]

[dev.scores.new]
COMET = [0.5, 0.25, 1]
"""


def test_the_baseline_may_be_one_of_the_systems(runs: Path, run: Any) -> None:
    expected = document(run, "--refs", "ref.txt", *OLD, "--baseline-name", "Moses", *NEW, *DEV_TEXTS)
    named = ("--system", "Moses", *OLD[1:], "--baseline", "Moses")
    assert tables(document(run, "--refs", "ref.txt", *NEW, *named, *DEV_TEXTS)) == tables(expected)


def test_a_manifest_says_what_the_options_say(runs: Path, run: Any) -> None:
    write("ref2.txt", [line.upper() for line in lines("ref.txt")])
    write("docs.txt", [f"d{segment // 3}" for segment in range(SEGMENTS)])
    write("strata.txt", ["news" if segment < 15 else "talks" for segment in range(SEGMENTS)])
    write("sub/runs.toml", [TOML])
    Path("sub/runs.json").write_text(json.dumps(Manifest.read("sub/runs.toml", "").table), "utf-8")
    found = document(run, "--manifest", "sub/runs.toml", *SEGMENT)
    again = document(run, "--manifest", "sub/runs.json", *SEGMENT)
    assert again | {"inputs": []} == found | {"inputs": []}
    args = ["--refs", "ref.txt", "ref2.txt", *OLD, "--baseline-name", "old", *NEW, "--docs", "docs.txt", "--strata"]
    args += ["strata.txt", "--case-sensitive", "-m", "bleu:lowercase", "ter", "--scores", "COMET", *ALL_SCORES]
    args += ["--lower-is-better", "COMET", *DEV_TEXTS, "--dev-scores", "new", "COMET", "0.5", "0.25", "1"]
    assert tables(document(run, *args, *SEGMENT)) == tables(found)
    plan = found["plan"]
    assert [plan[key] for key in ("baseline", "unit", "units", "strata")] == ["old", "document", 10, 2]
    assert "nrefs:2|case:lc" in found["signature"]


def test_a_folder_stands_for_the_runs_in_it(runs: Path, run: Any) -> None:
    for name, outputs in SYSTEMS.items():
        for number, file in enumerate(outputs):
            write(f"f/{name}/{number}.txt", lines(file))
    write("f/baseline/.hidden", ["no run"])
    files = {name: sorted(map(str, Path("f", name).glob("*.txt"))) for name in SYSTEMS}
    refs = ("--refs", "ref.txt")
    expected = document(run, *refs, "--baseline", *files["baseline"], "--system", "new", *files["new"], *SEGMENT)
    assert [system["name"] for system in expected["systems"]] == ["baseline", "new"]
    for words in (["f/new/"], ["new", "f/new/"]):
        assert document(run, *refs, "--baseline", "f/baseline", "--system", *words, *SEGMENT) == expected
    content = {"references": ["ref.txt"], "systems": {"baseline": ["f/baseline"], "new": ["f/new"]}}
    Path("folders.json").write_text(json.dumps(content), "utf-8")
    assert tables(document(run, "--manifest", "folders.json", *SEGMENT)) == tables(expected)
    said = run("runs", *refs, "--baseline", "f/baseline", "f/new").err
    assert "f/baseline, f/new are taken as runs of one system" in said


def test_outputs_are_called_by_what_distinguishes_their_files(runs: Path, run: Any) -> None:
    files = [f"{folder}-{number}/out.txt" for folder in "ab" for number in range(3)]
    for file, original in zip(files, SYSTEMS["new"] * 2, strict=True):
        write(file, lines(original))
    systems = ("--baseline", *files[:3], "--system", "b", *files[3:5], files[4])
    outcome = run("runs", "--refs", "ref.txt", *systems, *N, *SEGMENT, "--format", "json")
    assert "run 2 of b and run 1 of baseline" in outcome.err
    shown = [name for system in json.loads(outcome.out)["systems"] for name in system["outputs"]]
    assert shown == ["a-0/out.txt", "a-1/out.txt", "a-2/out.txt", "b-0/out.txt", "b-1/out.txt", "b-1/out.txt#2"]


COUNTS = {name: tuple(file.replace(".txt", ".tsv") for file in files) for name, files in SYSTEMS.items()}
RATE = "WER:100 * edits / words"


def test_a_formula_scores_the_counts_of_each_run(runs: Path, run: Any) -> None:
    rng = random.Random(5)
    counts = {}
    for name, files in COUNTS.items():
        for number, file in enumerate(files):
            rows = [(rng.randrange(4), rng.randrange(4, 9)) for _ in range(SEGMENTS)]
            write(file, ["edits\twords", *(f"{edits}\t{words}" for edits, words in rows)])
            counts[f"{name}#{number}"] = dict(zip(("edits", "words"), zip(*rows, strict=True), strict=True))
    rate = reshuffle.FromCounts("WER", counts, "100 * edits / words", higher_is_better=False)
    lower = ("--lower-is-better", "WER")
    expected = from_python(None, dict.fromkeys(COUNTS, 3), rate, baseline="baseline")
    given = ("--counts", RATE, "--baseline", *COUNTS["baseline"], "--system", "new", *COUNTS["new"])
    assert tables(document(run, *given, *lower)) == expected
    manifest = {"counts": {RATE: COUNTS}, "lower_is_better": ["WER"]}
    Path("runs.json").write_text(json.dumps(manifest), "utf-8")
    assert tables(document(run, "--manifest", "runs.json")) == expected
    both = from_python(lines("ref.txt"), outputs(SYSTEMS), ["bleu", rate], baseline="baseline")
    files = ("--counts", RATE, *COUNTS["baseline"], *COUNTS["new"])
    assert tables(document(run, *TEXTS, "-m", "bleu", *files, *lower)) == both


def test_bad_input_is_refused_in_a_sentence(runs: Path, run: Any) -> None:
    write("short.txt", lines("ref.txt")[1:])
    write("missing.comet", ["1", "", *"3" * (SEGMENTS - 2)])
    write("all.tsv", ["segment\tsystem\tC", "1\tx\t3"])
    write("g/new/0.txt", lines("ref.txt"))
    Path("none").mkdir()
    assert_refused("errors_of_runs", run)


def with_key(key: str, value: object) -> dict[str, Any]:
    content: dict[str, Any] = {"references": "ref.txt", "systems": dict(SYSTEMS)}
    *path, last = key.split(".")
    inner = content
    for name in path:
        inner = inner.setdefault(name, {})
    inner[last] = value
    return content


def test_bad_manifests_are_refused_in_a_sentence(runs: Path) -> None:
    def manifest(content: object, *options: str) -> int:
        Path("runs.json").write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
        return command(["runs", "--manifest", "runs.json", *options])

    assert_raises("python_errors_of_manifests_of_runs", globals() | {"manifest": manifest})


def test_the_manifest_of_the_guide_can_be_read(runs: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/guide/runs.md").read_text("utf-8")
    found = re.search(r"```toml\n(.*?)```", page, re.DOTALL)
    assert found is not None
    Path("runs.toml").write_text(found[1], "utf-8")
    files = RunFiles(**Manifest.read("runs.toml", "", {"tokenize": False}).values(RunFiles))
    assert files.baseline == "old"
    assert {len(own) for own in files.systems.values()} == {3}
    assert files.dev.scores == {"new": {"COMET": (0.81, 0.83, 0.82)}}
    assert files.metric_options == {"tokenize": "13a"}


def test_the_runs_of_the_demo_are_compared_as_it_says(tmp_path: Path, monkeypatch: Any, run: Any) -> None:
    monkeypatch.chdir(tmp_path)
    shown = run("demo", "--runs", "2").out
    written = run("demo", "--runs", "2", "--write", "demo").out
    assert written.startswith("Wrote 7 files of 400 lines.")
    again = run(*shlex.split(written.splitlines()[1])[1:])
    assert again.err == ""
    assert again.out.count("Clark et al. 2011 recommend at least 3") == 1
    assert shown.startswith(again.out)
    assert shown.endswith("To repeat this with files: reshuffle demo --runs 2 --write demo\n")
    assert "exist already: choose another folder" in run("demo", "--runs", "2", "--write", "demo").refusal()
