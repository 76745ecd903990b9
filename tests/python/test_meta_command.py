"""``reshuffle meta``: options, manifests and files against ``reshuffle.meta``, and every kind of bad input."""

import json
import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from known import known
from reshuffle import InputError, meta, read_json, read_lines
from told import assert_raises, assert_refused, command

N = ("-n", "99", "--workers", "1")
NAMES = ("alpha", "beta", "gamma", "delta")
SEGMENTS = 30
TEXTS = ("--refs", "ref.txt", "--systems", "sys")
VOTES = ("--judgments", "cs-en.rank", "--sysmap", "sysmap.tsv", *TEXTS)
SCORES = ("--human", "da.tsv", "--metric-scores", "COMET=comet.tsv", "other=other.tsv")


def write(path: str, lines: Sequence[object]) -> None:
    Path(path).parent.mkdir(exist_ok=True, parents=True)
    Path(path).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def table(values: np.ndarray[Any, Any], name: str = "score") -> list[str]:
    """The lines of a table of scores; NaN is a missing row."""
    rows = [
        f"{NAMES[system]}\t{segment + 1}\t{values[system, segment]:.6f}"
        for system in range(len(NAMES))
        for segment in range(SEGMENTS)
        if not np.isnan(values[system, segment])
    ]
    return [f"system\tsegment\t{name}", *rows]


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with texts of four systems, votes, human scores and scores of two metrics."""
    folder = tmp_path_factory.mktemp("material")
    rng = random.Random(5)
    reference = [[rng.choice("abcdefgh") for _ in range(9)] for _ in range(SEGMENTS)]
    write(f"{folder}/ref.txt", [" ".join(words) for words in reference])
    quality = {}
    for number, name in enumerate(NAMES):
        texts, own = [], []
        for words in reference:
            wrong = [rng.random() < 0.15 + 0.15 * number for _ in words]
            texts.append(" ".join("x" if bad else word for word, bad in zip(words, wrong, strict=True)))
            own.append(-sum(wrong))
        write(f"{folder}/sys/{name}.txt", texts)
        quality[name] = own
    Path(f"{folder}/sys/.hidden").write_text("no output", encoding="utf-8")
    write(f"{folder}/sysmap.tsv", ["id\tsystem", *(f"sys{n}\t{name}" for n, name in enumerate(NAMES))])
    votes = []
    for segment in range(SEGMENTS):
        for a, b in ((0, 1), (0, 2), (1, 2), (2, 3), (0, 3), (0, 1)):
            gain = quality[NAMES[a]][segment] - quality[NAMES[b]][segment] + rng.gauss(0, 1.5)
            better, worse = (a, b) if gain > 0 else (b, a)
            votes.append(f"{segment + 1}\tcs-en\tsys{better}\tcs-en\tsys{worse}")
    write(f"{folder}/cs-en.rank", votes)
    people = np.array([quality[name] for name in NAMES], dtype=float)
    noise = np.random.default_rng(3).normal(size=(3, *people.shape))
    write(f"{folder}/da.tsv", table(70 + 5 * people + 4 * noise[0]))
    write(f"{folder}/comet.tsv", table(people + noise[1]))
    write(f"{folder}/other.tsv", table(-people + 3 * noise[2]))
    return folder


@pytest.fixture
def files(material: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the material in the current directory."""
    shutil.copytree(material, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def results(outcome: Any) -> dict[str, Any]:
    assert (outcome.code, outcome.err) == (0, "")
    found: dict[str, Any] = json.loads(outcome.out)
    return found


def outputs() -> dict[str, list[str]]:
    return {name: list(read_lines(f"sys/{name}.txt")) for name in sorted(NAMES)}


def of_votes(*metrics: str, **how: Any) -> meta.JudgedSet:
    """The votes on the outputs, as Python reads them."""
    judgments = meta.read_judgments("cs-en.rank", systems=NAMES, sysmap="sysmap.tsv", **how)
    return meta.JudgedSet.from_texts(read_lines("ref.txt"), outputs(), metrics, judgments=judgments)


def of_scores() -> meta.JudgedSet:
    """Human scores, and those of a metric and of one for which lower is better."""
    human = meta.read_scores("da.tsv")
    files = (("COMET", "comet.tsv", True), ("other", "other.tsv", False))
    scores = [meta.ScoreTable(name, human.systems, meta.read_scores(f).segments, None, up) for name, f, up in files]
    return meta.JudgedSet.from_scores(scores, human=human)


# Command lines, and what they compute. Ids of systems in the votes differ from the names of outputs.
CALLS: Mapping[str, tuple[str, Callable[[], meta.MetaEvaluation]]] = {
    "the example of the help": (
        "segments --judgments cs-en.rank --sysmap sysmap.tsv --refs ref.txt --systems sys/ -m sentbleu:smoothing=7 "
        "--ties half",
        lambda: meta.segments(of_votes("sentbleu")),
    ),
    "ties and repeats": (
        "segments VOTES -m wer --ties discordant --repeats all --interval none",
        lambda: meta.segments(of_votes("wer", repeats="all"), ties="discordant", interval=None),
    ),
    "options of segments": (
        "segments SCORES --coefficient pearson tau23 --grouping sys item --test perm-inputs --adjust holm --interval "
        "boot-both --confidence 0.9 --alpha 0.2 --seed 7 --baseline-metric COMET --lower-is-better other -n 99",
        lambda: meta.segments(
            of_scores(), coefficients=["pearson", "tau23"], groupings=["sys", "item"], test="perm-inputs",
            adjust="holm", interval="boot-both", confidence_level=0.9, alpha=0.2, seed=7, baseline="COMET",
            n_resamples=99,
        ),
    ),
    "options of systems": (
        "systems VOTES -m bleu wer --coefficient pearson --test williams --human-score expected-wins "
        "--scored-segments all -n 99",
        lambda: meta.systems(
            of_votes("bleu", "wer"), coefficients="pearson", test="williams", human_scores="expected-wins",
            scored_segments="all", n_resamples=99,
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_commands_give_what_functions_give(files: Path, run: Any, case: str) -> None:
    words, call = CALLS[case]
    for name, options in (("VOTES", VOTES), ("SCORES", SCORES)):
        words = words.replace(name, " ".join(options))
    found = results(run("meta", *words.split(), "--format", "json"))
    assert found == json.loads(call().render("json")) | {"inputs": found["inputs"]}


def manifest(path: str, **changes: Any) -> None:
    """A manifest of two test sets: all segments, and the votes of the first half."""
    one: dict[str, Any] = {
        "judgments": "cs-en.rank", "sysmap": "sysmap.tsv", "references": "ref.txt", "systems": "sys"
    }  # fmt: skip
    sets = {"all": one | changes, "half": one | {"judgments": "half.rank", "repeats": "all"}}
    Path("half.rank").write_text("\n".join(list(read_lines("cs-en.rank"))[::2]), encoding="utf-8")
    if path.endswith(".toml"):
        lines = []
        for name, keys in sets.items():
            lines += [f"[sets.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in keys.items())]
        write(path, lines)
    else:
        write(path, [json.dumps({"sets": sets})])


@pytest.mark.parametrize("path", ["sets.toml", "sets.json"])
def test_a_manifest_gives_the_values_of_each_test_set_and_their_mean(
    files: Path, run: Any, path: str, monkeypatch: Any
) -> None:
    manifest(path)
    options = ("-m", "sentbleu", "wer", *N, "--format", "json")
    found = results(run("meta", "segments", "--manifest", path, "--pooled", *options))
    values = {(each["test_set"], each["metric"]): each["value"] for each in found["results"]}
    alone = results(run("meta", "segments", *VOTES, *options))
    assert [values["all", each["metric"]] for each in alone["results"]] == [each["value"] for each in alone["results"]]
    for metric in ("sentBLEU", "WER"):
        mean = (values["all", metric] + values["half", metric]) / 2
        assert values["average", metric] == pytest.approx(mean, abs=1e-12)
        assert min(values["all", metric], values["half", metric]) <= values["pooled", metric]
    assert {each["test_set"] for each in found["comparisons"]} == {"all", "half", "average", "pooled"}
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")  # paths are relative to the folder of the manifest
    without = results(run("meta", "segments", "--manifest", f"../{path}", "--no-average", *options))
    assert {each["test_set"] for each in without["results"]} == {"all", "half"}


def test_a_manifest_may_have_scores_columns_metrics_and_options_of_metrics(files: Path, run: Any) -> None:
    write("named.tsv", [line.replace("system\tsegment\tscore", "Sys\tNo\tX") for line in read_lines("comet.tsv")])
    keys = {
        "human": "da.tsv", "references": "ref.txt", "systems": ["sys/alpha.txt", "sys/beta.txt", "sys/gamma.txt",
        "sys/delta.txt"], "metric_scores": {"mine": "named.tsv", "other": "named.tsv#X"},
        "columns": {"system": "Sys", "segment": "No", "score": "X"}, "metrics": ["wer"], "lowercase": True,
        "lower_is_better": ["other"], "segment_base": 1,
    }  # fmt: skip
    # The columns are those of all files of scores.
    write("human.tsv", [line.replace("system\tsegment\tscore", "Sys\tNo\tX") for line in read_lines("da.tsv")])
    write("one.json", [json.dumps({"sets": {"x": keys | {"human": "human.tsv"}}})])
    found = results(
        run("meta", "segments", "--manifest", "one.json", "--coefficient", "pearson", *N, "--format", "json")
    )
    values = {each["metric"]: each["value"] for each in found["results"]}
    assert list(values) == ["WER", "mine", "other"]
    assert values["mine"] == pytest.approx(-values["other"])
    assert "case:lc" in found["signature"]


def joined(path: str, header: str, *files: str) -> None:
    """A table with the scores of two."""
    rows = list(zip(*map(read_lines, files), strict=True))[1:]
    write(path, ["\t".join(["system", "segment", header]), *(f"{a}\t{b.rsplit(chr(9), 1)[1]}" for a, b in rows)])


def test_all_metrics_of_a_file_are_read(files: Path, run: Any) -> None:
    joined("both.tsv", "COMET\tX", "comet.tsv", "other.tsv")
    options = ("--lower-is-better", "X", "--coefficient", "spearman", "--interval", "none", "--format", "json")
    command = ("meta", "segments", "--human", "da.tsv", "--metric-scores")
    found = results(run(*command, "both.tsv", *options))
    assert [each["metric"] for each in found["results"]] == ["COMET", "X"]
    assert [each["name"] for each in found["metrics"] if not each["higher_is_better"]] == ["X"]
    assert results(run(*command, "both.tsv#X", *options))["results"] == found["results"][1:]


PEARSON = ("--coefficient", "pearson", "--test", "none", "--interval", "none", "--format", "json")


@pytest.mark.parametrize("people", ["both.tsv", "both.tsv#human", "both.tsv#COMET"])
def test_people_are_no_metric_of_their_own_file(files: Path, run: Any, people: str) -> None:
    joined("both.tsv", "human\tCOMET", "da.tsv", "comet.tsv")
    found = results(run("meta", "segments", "--human", people, "--metric-scores", "both.tsv", *PEARSON))
    (other,) = {"human", "COMET"} - {people.partition("#")[2] or "human"}
    assert [each["metric"] for each in found["results"]] == [other]
    named = run("meta", "segments", "--human", people, "--metric-scores", "both.tsv#human", "X=comet.tsv", *PEARSON)
    assert [each["metric"] for each in results(named)["results"]] == ["X", "human"]  # as asked for


def test_the_metric_of_a_file_is_the_column_of_its_name(files: Path, run: Any) -> None:
    joined("both.tsv", "human\tCOMET", "da.tsv", "comet.tsv")
    command = ("meta", "segments", "--human", "both.tsv", *PEARSON, "--metric-scores")
    named = results(run(*command, "comet=both.tsv"))["results"]
    assert named == results(run(*command, "comet=both.tsv#COMET"))["results"]
    assert named[0]["value"] < 0.99


def test_metrics_of_a_file_need_not_have_scores_of_the_last_segments(files: Path, run: Any) -> None:
    write("short.tsv", [line for line in read_lines("comet.tsv") if line.split("\t")[1] != str(SEGMENTS)])
    found = results(run("meta", "segments", "--human", "da.tsv", "--metric-scores", "COMET=short.tsv", *PEARSON))
    assert found["results"][0]["n"] == len(NAMES) * (SEGMENTS - 1)


def test_missing_systems_are_left_out_with_a_warning(files: Path, run: Any) -> None:
    Path("sys/delta.txt").unlink()
    outcome = run("meta", "segments", *VOTES, "--missing-systems", "drop", *N, "--format", "json")
    assert outcome.code == 0
    assert "1 system has no output: sys3; 60 of 180 votes are left out" in outcome.err
    assert json.loads(outcome.out)["plan"]["systems"] == {"": ["alpha", "beta", "gamma"]}


def test_saved_results_are_read_and_plotted(files: Path, run: Any) -> None:
    options = ("-m", "bleu", "wer", "per", "--coefficient", "pearson", "--test", "williams")
    assert run("meta", "systems", *VOTES, *options, *N, "-o", "meta.json").code == 0
    result = read_json("meta.json")
    assert isinstance(result, meta.MetaEvaluation)
    assert [each.metric for each in result.results] == ["BLEU", "WER", "PER"]
    assert result.render("json") == Path("meta.json").read_text("utf-8")
    for own in ((), ("--metric", "WER")):
        assert run("plot", "meta.json", "scatter", *own, "-o", "scatter.svg").code == 0
    assert "unknown test_set 'de-en'" in run("plot", "meta.json", "forest", "--set", "de-en", "-o", "x.svg").refusal()


def test_a_baseline_is_named_as_on_the_command_line(files: Path, run: Any) -> None:
    metrics = ("-m", "sentbleu:smoothing=0", "sentbleu:smoothing=7", "wer")
    for name, label in (("wer", "WER"), ("WER", "WER"), ("sentBLEU smooth:0", "sentBLEU smooth:0")):
        found = results(run("meta", "segments", *VOTES, *metrics, "--baseline-metric", name, *N, "--format", "json"))
        assert {each["metric_b"] for each in found["comparisons"]} == {label}


@pytest.mark.parametrize("kind", ["--judgments", "--lists"])
def test_the_demo_shows_what_its_command_gives(kind: str, tmp_path: Path, monkeypatch: Any, run: Any) -> None:
    monkeypatch.chdir(tmp_path)
    shown = run("demo", kind)
    assert shown.out.endswith(f"To repeat this with files: reshuffle demo {kind} --write demo\n")
    program, *words = run("demo", kind, "--write", "files").out.splitlines()[1].split()
    assert program == "reshuffle"
    replayed = run(*words)
    assert (replayed.code, replayed.err) == (0, "")
    assert shown.out.startswith(replayed.out)


def test_bad_options_are_one_sentence_and_exit_code_2(files: Path, run: Any) -> None:
    """Those that need no files are refused before any is read."""
    Path("empty").mkdir()
    joined("both.tsv", "human\tCOMET", "da.tsv", "comet.tsv")
    assert_refused("errors_of_meta", run)


def changed(path: str, at: int, **fields: Any) -> None:
    """Replace fields of a line of a file, by their number."""
    lines = [line.split("\t") for line in Path(path).read_text("utf-8").splitlines()]
    for number, value in fields.items():
        lines[at][int(number[1:])] = str(value)
    write(path, ["\t".join(line) for line in lines])


def test_wrong_files_are_one_sentence_with_file_and_line(files: Path) -> None:
    def wrong(level: str, words: Sequence[str], path: str, at: int, **fields: Any) -> int:
        before = Path(path).read_bytes()
        changed(path, at, **fields)
        try:
            return command(["meta", level, *words])
        finally:
            Path(path).write_bytes(before)

    assert_raises("python_errors_of_meta_files", globals() | {"wrong": wrong})
    # What follows the known names, which the text leaves out.
    with pytest.raises(InputError, match=r"with --sysmap, or leave it out with --missing-systems drop$"):
        wrong("segments", VOTES, "sysmap.tsv", 2, _1="bata")
    with pytest.raises(InputError, match="map its name with --sysmap, or leave"):
        wrong("systems", VOTES, "cs-en.rank", 4, _2="sys9")


# What is not defined: NaN, and a sentence that says why.
UNDEFINED = {
    "segments --human da.tsv --metric-scores flat=flat.tsv --coefficient pearson kendall-b":
        "Not defined for flat: Pearson's r over all outputs and Kendall's τb within segments (no group has different",
    "segments --human flat.tsv --metric-scores COMET=comet.tsv --coefficient pearson":
        "Not defined for COMET: Pearson's r over all outputs (no group has different scores of both metric and",
    "segments --judgments cs-en.rank --sysmap sysmap.tsv --metric-scores flat=flat.tsv":
        "Not defined for flat: Kendall's τ (the metric gives both outputs of every vote the same score).",
    "segments --human da.tsv --metric-scores S=four.tsv --coefficient pearson darr":
        "Not defined for S: Pearson's r over all outputs and daRR τ (the metric has scores of systems, but none of",
    "segments --human da.tsv --metric-scores M=comet.tsv --coefficient darr --minimum-difference 999":
        "(no two outputs of a segment that the metric scored have human scores that differ by 999 or more).",
    "systems --human two.tsv --metric-scores COMET=two.tsv#score --coefficient pearson":
        "Not defined for COMET: Pearson's r (2 systems with both scores: at least 3 are needed).",
    "systems --human da.tsv --metric-scores flat=flat.tsv --coefficient pearson":
        "Not defined for flat: Pearson's r (the metric gives all systems the same score).",
}  # fmt: skip


@pytest.mark.parametrize("words", UNDEFINED)
def test_values_that_are_not_defined_have_a_reason(files: Path, run: Any, words: str) -> None:
    write("flat.tsv", table(np.full((len(NAMES), SEGMENTS), 2.5)))
    lines = list(read_lines("da.tsv"))
    write("two.tsv", [line for line in lines if line.split("\t")[0] in ("system", "alpha", "beta")])
    write("four.tsv", ["system\tscore", *(f"{name}\t{at}" for at, name in enumerate(NAMES))])
    outcome = run("meta", *words.split(), *N)
    assert outcome.code == 0
    assert UNDEFINED[words] in " ".join(outcome.out.split())
    for each in results(run("meta", *words.split(), *N, "--format", "json"))["results"]:
        assert (each["value"], each["confidence_interval"]) == ("NaN", None)
        assert each["reason"]


def test_missing_cells_are_left_out_and_said(files: Path, run: Any) -> None:
    values = known(meta.read_scores("comet.tsv").segments)
    values[1, 4:9] = np.nan
    write("gaps.tsv", table(values))
    words = ("--human", "da.tsv", "--metric-scores", "gaps=gaps.tsv", "other=other.tsv", "--coefficient", "pearson")
    found = results(run("meta", "segments", *words, *N, "--format", "json"))
    assert [each["n"] for each in found["results"]] == [len(NAMES) * SEGMENTS - 5, len(NAMES) * SEGMENTS]
    human = known(meta.read_scores("da.tsv").segments)
    there = ~np.isnan(values)
    assert found["results"][0]["value"] == pytest.approx(np.corrcoef(values[there], human[there])[0, 1])
    outcome = run("meta", "segments", *words, *N)
    sentence = "are on the 115 outputs for which all metrics have scores."
    assert sentence in " ".join(outcome.out.split())


def test_wrong_manifests_name_the_test_set_and_the_key(files: Path) -> None:
    def of_manifest(content: object) -> int:
        write("bad.json", [json.dumps(content)])
        return command(["meta", "segments", "--manifest", "bad.json"])

    def of_set(**changes: Any) -> int:
        manifest("sets.json", **changes)
        return command(["meta", "segments", "--manifest", "sets.json", *N])

    assert_raises("python_errors_of_manifests_of_meta", {"of_manifest": of_manifest, "of_set": of_set})


def test_names_that_differ_in_judgments_and_outputs(data: Path, run: Any, tmp_path: Path) -> None:
    """WMT21: the judgments call it Nemo, the file is NVIDIA-NeMo.txt; metrics and references were judged, too."""
    files = data / "wmt21-en-de"
    human = str(files / "judgments/mqm_newstest2021_ende.avg_seg_scores.tsv")
    sysmap = tmp_path / "sysmap.tsv"
    sysmap.write_text("Nemo\tNVIDIA-NeMo\n", encoding="utf-8")
    words = ["meta", "segments", "--human", human, "--refs", str(files / "ref-A.txt"), "--systems", str(files / "sys")]
    words += ["-m", "sentbleu", "--coefficient", "pearson", "--test", "none", "--interval", "none", "--format", "json"]
    assert "unknown system 'Nemo': did you mean 'NVIDIA-NeMo'?" in run(*words).refusal()
    outcome = run(*words, "--sysmap", str(sysmap), "--missing-systems", "drop")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    assert "NVIDIA-NeMo" in found["plan"]["systems"][""]
    assert found["results"][0]["n"] == 4216
    assert "9 systems have no output: metricsystem1," in outcome.err
