"""``python -m reshuffle.compat.mteval``: against runs of mteval-v13a.pl and mteval-v14.pl, and bad input."""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from conftest import Outcome
from inputs import put
from programs import Program, copies, program
from reshuffle import read_lines
from reshuffle.compat import mteval
from reshuffle.compat.mteval.arguments import Options, parse
from told import assert_refused

# perl mteval-v13a.pl or mteval-v14.pl with these arguments (mosesdecoder, scripts/generic; perl 5.36), on made-up
# texts: what was printed, without dates and the command, and the files of --metricsMATR.
FILES = Path(__file__).parents[1] / "data/mteval"
RUNS: list[dict[str, Any]] = json.loads((FILES / "runs.json").read_text("utf-8"))


files, ran = copies(FILES), program(mteval.main)

FILES_GIVEN = ("-r", "ref.sgm", "-s", "src.sgm", "-t", "tst.sgm")


def normalized(lines: Sequence[str]) -> list[str]:
    """Lines without dates and the command. The n-grams of each segment are sorted: the scripts' order is random."""
    found: list[str] = []
    block: list[str] = []
    for line in lines:
        if " info for each of " in line:
            block.append(line)
            continue
        found += [*sorted(block), re.sub(r"(began|ended) on .* at .*|(command line:).*", r"\1\2", line)]
        block = []
    return found


@pytest.mark.parametrize("run", RUNS, ids=lambda run: " ".join([run["version"], *run["arguments"]]))
def test_reports_and_files_equal_those_of_the_scripts(files: None, ran: Program, run: dict[str, Any]) -> None:
    out = ran(*run["arguments"], "--mteval-version", run["version"]).out
    assert normalized(out.split("\n")) == normalized(run["output"])
    assert sorted(path.name for path in Path.cwd().glob("*.scr")) == sorted(run["files"])
    for name, content in run["files"].items():
        ours = Path(name).read_text("utf-8")
        if name.startswith("BLEU"):
            assert ours == content
            continue
        for line, expected in zip(ours.splitlines(), content.splitlines(), strict=True):
            (*ids, score), (*expected_ids, expected_score) = line.split("\t"), expected.split("\t")
            assert ids == expected_ids
            assert float(score) == pytest.approx(float(expected_score), abs=1e-7)


def test_an_empty_word_before_a_text_is_listed_but_not_counted(files: None, ran: Program) -> None:
    """International tokenization keeps the line end before a text of an XML file."""
    names = [f"indented-{name}.xml" for name in ("ref", "src", "tst")]
    out = ran("-r", names[0], "-s", names[1], "-t", names[2], "--international-tokenization", "-d", "3", "-n").out
    # Of the 45 words of the references, 6 are empty, and 4 of these are before 'the'.
    assert f"{math.log2(45 / 6):.2f} info for each of 1 0-grams = ''" in out
    assert f"{math.log2(45 / 4):.2f} info for each of 1 2-grams = ' the'" in out


def sgm(kind: str, outputs: Mapping[str, Sequence[str]]) -> str:
    """The set of each system, with one document."""
    sets = []
    for system, lines in outputs.items():
        segments = "".join(f'<seg id="{i}">{escape(line)}</seg>\n' for i, line in enumerate(lines, 1))
        document = f'<doc docid="d1" sysid="{system}">\n{segments}</doc>'
        sets.append(f'<{kind}set setid="set" srclang="xx" trglang="en">{document}</{kind}set>\n')
    return "".join(sets)


@pytest.mark.parametrize(
    ("name", "options"),
    [("c", ["-c"]), ("lc", []), ("cinternationaltokenization", ["-c", "--international-tokenization"])],
)
def test_the_reports_on_real_systems_equal_those_of_the_script(
    data: Path, golden: Path, ran: Program, name: str, options: list[str]
) -> None:
    """perl mteval-v13a.pl [options] -d 2 -r ted.ref.sgm -s ted.src.sgm -t ted.tst.sgm, with two systems."""
    ted = {s: read_lines(str(data / f"compare-mt-ted-slk-en/ted.{s}.detok.eng")) for s in ("ref", "sys1", "sys2")}
    for kind, systems in (("src", ["ref"]), ("ref", ["ref"]), ("tst", ["sys1", "sys2"])):
        put(f"{kind}.sgm", sgm(kind, {system: ted[system] for system in systems}))
    out = ran(*options, *FILES_GIVEN, "-d", "2").out
    expected = (golden / "mteval" / f"out.v13a.ted.{name}.txt").read_text("utf-8")
    # The files are those of the golden run except for the references, which it calls by another name.
    assert normalized(out.split("\n")) == normalized(expected.split("\n"))


def test_options_may_be_shortened_and_are_read_as_by_getopt() -> None:
    files = ["-r", "r", "--s=s", "-t", "-odd"]

    def read(arguments: list[str]) -> Options:
        options = parse(arguments)
        assert options is not None
        return options

    options = read([*files, "-N", "--int", "-brev", "shortest", "-d", "--metricsMATR", "extra", "-q", "--", "-c"])
    assert (options.reference, options.source, options.translations) == ("r", "s", "-odd")
    assert (options.nist, options.bleu, options.international, options.shortest) == (True, False, True, True)
    assert (options.detail, options.matr, options.keep_case, options.unknown) == (0, True, False, ("-q",))
    assert (read([*files, "-d", "-1"]).detail, read([*files, "-d", "2"]).detail) == (-1, 2)
    assert read([*files, "-x", "ngram info"]) == read([*files, "-x"]) == read(files)  # without effect, as there
    both = read([*files, "-b", "-n"])
    assert (both.nist, both.bleu) == (True, False)


def test_help_and_unknown_options(files: None, ran: Program) -> None:
    assert "--brevity-penalty NAME" in ran("-h").out
    done = ran(*FILES_GIVEN, "--foo")
    assert "unknown option --foo is ignored" in done.err


def test_segments_that_the_scripts_cannot_divide_by(ran: Program) -> None:
    for kind, lines in (("src", ["", ""]), ("ref", ["", "a b"]), ("tst", ["a", "a b"])):
        put(f"{kind}.sgm", sgm(kind, {"s": lines}))
    out = ran(*FILES_GIVEN, "-d", "2").out
    assert 'NIST score using 5-grams = 0.0000 for system "s" on segment 1' in out
    put("tst.sgm", sgm("tst", {"s": ["", ""]}))
    out = ran(*FILES_GIVEN).out
    assert "length ratio: 0 (0/2), penalty (log): -Inf" in out
    assert 'NIST score = 0.0000  BLEU score = 0.0000 for system "s"' in out


def test_bad_input(files: None, ran: Program) -> None:
    def refused(*arguments: str) -> Outcome:
        done = ran(*FILES_GIVEN, *arguments, code=2)
        shutil.copytree(FILES, Path.cwd(), dirs_exist_ok=True)  # for the next one
        return done

    for missing in "rst":
        given = [each for name in "rst" if name != missing for each in (f"-{name}", "x")]
        assert f"-{missing} FILE is missing" in ran(*given, code=2).err
    assert_refused("errors_of_mteval", refused, "mteval")
    put("src.sgm", b"<srcset>\n\xff")
    assert "src.sgm, line 2: 0xff is not valid UTF-8" in refused().refusal("mteval")
    put("src.xml", "<a>" * 200)
    assert "more than 100 nested elements" in refused("-s", "src.xml").refusal("mteval")


def test_only_the_last_set_of_a_file_counts(files: None, ran: Program) -> None:
    """As in the scripts."""
    text = Path("tst.sgm").read_text("utf-8")
    put("tst.sgm", text.replace('setid="made up"', 'setid="other"', 1))
    assert "Evaluation" in ran(*FILES_GIVEN).out
    put("tst.sgm", text.replace("made up", "other"))
    refused = ran(*FILES_GIVEN, code=2).refusal("mteval")
    assert "tst.sgm: the set is 'other', but 'made up' in src.sgm" in refused
