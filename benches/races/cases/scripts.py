"""Cases with the commands of other tools: comet-compare, mteval-v13a.pl and Moses' scripts, and their drop-ins."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benches.data import Texts
from reshuffle import metric
from reshuffle.compat.comet import statistical_results

from ..agreement import DisagreementError, same_scores
from ..race import Contender, Race, Skipped, call, command, new_folder
from ..rivals import name, version_in
from .counting import sgm_files

__all__ = ["comet", "scripts"]

COMET = "reshuffle.compat.comet"
SPLITS, RATIO, TIE = 300, 0.4, 0.001


def comet(texts: Texts) -> list[Race]:
    """Shows comet-compare of all systems, 300 draws and t-tests of all pairs, beside its drop-in, from the same segment
    scores (chrF of each segment takes the place of COMET). The whole commands, with imports, reading, report and JSON,
    but without a model: the Python that RESHUFFLE_COMET names has unbabel-comet, whose model is replaced by a table of
    scores. Then the numbers alone, beside comet-compare's way to them in other words. All numbers must be equal to the
    last digit, and the report byte for byte."""
    chrf = metric("chrf")
    counts = chrf.suff_stats(texts.references, texts.systems)
    scores = {
        system: chrf.segment_scores(rows).astype("float32") / 100
        for system, rows in zip(texts.systems, counts, strict=True)
    }
    n = len(scores)

    def same_text(expected: str, actual: str) -> None:
        if actual != expected:
            raise DisagreementError("reports differ")

    def same_results(expected: list[Any], actual: list[Any]) -> None:
        for theirs, ours in zip(expected, actual, strict=True):
            if {**ours, "paired_t-test": None} != {**theirs, "paired_t-test": None}:
                raise DisagreementError("results differ")
            for key in ("statistic", "p_value"):  # from SciPy 1.17 on, in 32 bits
                same_scores(theirs["paired_t-test"][key], ours["paired_t-test"][key], 1e-3)

    contenders = [
        Contender("comet-compare's numbers, in other words", call(lambda: _compared(scores))),
        Contender(COMET, call(lambda: statistical_results(scores))),
    ]
    return [
        Race(f"{n} systems, the command without its model", _comet_commands(texts, scores), same_text),
        Race(f"{n} systems, from arrays", contenders, same_results),
    ]


def _compared(scores: dict[str, Any]) -> list[Any]:
    """comet-compare's numbers, one pair after the other."""
    matrix = np.array(list(scores.values()), dtype="float32")
    n = matrix.shape[1]
    chosen = np.random.RandomState(1).choice(n, size=(max(int(n * RATIO), 1), SPLITS), replace=True)
    means = np.mean(np.take(matrix, chosen, axis=1), axis=1)
    results = []
    for (x, of_x, row_x), (y, of_y, row_y) in combinations(zip(scores, means, matrix, strict=True), 2):
        delta = of_x - of_y
        test = stats.ttest_rel(row_x, row_y)
        shares = [(np.absolute(delta) < TIE), delta >= TIE, delta <= -TIE]
        numbers = [float(np.mean(of_x)), float(np.mean(of_y)), *(float(share.sum()) / SPLITS for share in shares)]
        keys = ("x-mean", "y-mean", "ties (%)", "x_wins (%)", "y_wins (%)")
        results.append(
            {
                "x_name": x,
                "y_name": y,
                "bootstrap_resampling": dict(zip(keys, numbers, strict=True)),
                "paired_t-test": {"statistic": test.statistic, "p_value": test.pvalue},
            }
        )
    return results


def _comet_commands(texts: Texts, scores: dict[str, Any]) -> list[Contender | Skipped]:
    """The commands on files in a new folder."""
    folder = new_folder()
    reference = [line.strip() for line in texts.references[0]]
    (folder / "ref.txt").write_text("".join(f"{line}\n" for line in reference), "utf-8")
    table: dict[str, float] = {}
    written: dict[str, Any] = {}
    for system, lines in texts.systems.items():
        # A number makes each translation unique, because the table has scores by text.
        own = [f"{line.strip()} #{system}-{number}" for number, line in enumerate(lines)]
        path = str(folder / f"{system}.txt")
        Path(path).write_text("".join(f"{line}\n" for line in own), "utf-8")
        values = scores[system].astype(float).tolist()
        table.update(zip(own, values, strict=True))
        written[path] = [
            {"src": source, "mt": line, "ref": source, "COMET": score}
            for source, line, score in zip(reference, own, values, strict=True)
        ]
    (folder / "table.json").write_text(json.dumps(table), "utf-8")
    (folder / "comet.json").write_text(json.dumps(written, ensure_ascii=False, indent=4), "utf-8")
    files = ["-s", str(folder / "ref.txt"), "-r", str(folder / "ref.txt"), "-t", *written]
    files += ["--to_json", str(folder / "compared.json")]
    ours = command(sys.executable, "-m", COMET, *files, "--scores", str(folder / "comet.json"), read=str)
    python = os.environ.get("RESHUFFLE_COMET")
    if python is None:
        skipped = Skipped("comet-compare", "let RESHUFFLE_COMET name a Python that has unbabel-comet")
        return [skipped, Contender(COMET, ours)]
    program = ("-m", "benches.races.programs.comet_without_model", "compare")
    theirs = command(python, *program, str(folder / "table.json"), *files, read=str)
    title = f"comet-compare {version_in(python, 'unbabel-comet')} without its model"
    return [Contender(title, theirs, at_most=3), Contender(COMET, ours, target=20)]


def scripts(texts: Texts) -> list[Race]:
    """Shows the commands of mteval-v13a.pl (two systems, with the scores of all segments), of multi-bleu.perl (one
    system), and of Moses' bootstrap test (one pair, 1,000 draws of BLEU and NIST) beside their drop-ins, from files to
    reports. --mteval names the first script in a copy of mosesdecoder's folder scripts, which has the others, too.
    Reports must be equal; the bootstrap script draws other numbers, so that its scores are compared."""
    folder = None if texts.mteval is None else texts.mteval.parent
    if folder is None or shutil.which("perl") is None:
        skipped = Skipped(
            "mteval-v13a.pl", "give its path with --mteval" if folder is None else "Perl is not installed"
        )
        return [Race("mteval, segments of 2 systems", [skipped], same_scores)]
    assert texts.mteval is not None
    sgm = sgm_files(texts, 2)
    (sgm / "XML").mkdir()
    (sgm / "XML" / "Twig.pm").write_text("package XML::Twig; 1;\n", encoding="utf-8")
    arguments = ["-c", "-d", "2"]
    for flag, part in [("-s", "src"), ("-r", "ref"), ("-t", "tst")]:
        arguments += [flag, str(sgm / f"{part}.sgm")]
    multi_bleu = folder / "multi-bleu.perl"
    significance = folder.parent / "analysis" / "bootstrap-hypothesis-difference-significance.pl"
    first, second = texts.files.systems[:2]
    reference = texts.files.reference
    moses = "reshuffle.compat.moses"
    redirected = 'file="$1"; shift; exec "$@" < "$file"'

    def same_text(expected: Any, actual: Any) -> None:
        if actual != expected:
            raise DisagreementError("reports differ")

    return [
        Race(
            "mteval, segments of 2 systems",
            _script(
                texts.mteval,
                command("perl", f"-I{sgm}", str(texts.mteval), *arguments, read=_without_dates),
                "reshuffle.compat.mteval",
                command(sys.executable, "-m", "reshuffle.compat.mteval", *arguments, read=_without_dates),
                20,
            ),
            same_text,
        ),
        Race(
            "multi-bleu",
            _script(
                multi_bleu,
                command("sh", "-c", redirected, "sh", first, "perl", str(multi_bleu), reference, read=str),
                moses,
                command(
                    "sh", "-c", redirected, "sh", first, sys.executable, "-m", moses, "multi-bleu", reference, read=str
                ),
                None,
            ),
            same_text,
        ),
        Race(
            "Moses' bootstrap test, 1,000 draws",
            _script(
                significance,
                command("perl", str(significance), first, second, reference, read=_scores),
                moses,
                command(sys.executable, "-m", moses, significance.name, first, second, reference, read=_scores),
                20,
            ),
            same_scores,
        ),
    ]


def _script(path: Path, theirs: Any, module: str, ours: Any, target: float | None) -> Sequence[Contender | Skipped]:
    if not path.is_file():
        return [Skipped(path.name, f"there is no file {path.name}")]
    return [Contender(path.name, theirs, at_most=1), Contender(module, ours, target=target)]


def _without_dates(output: str) -> list[str]:
    return [re.sub(r"(began|ended) on .*|(command line:).*", r"\1\2", line) for line in output.strip().splitlines()]


def _scores(output: str) -> list[float]:
    found = [float(score) for score in re.findall(r"actual score of hypothesis 1: (\S+)", output)]
    if len(found) != 4:
        raise DisagreementError(f"expected four scores by {name('reshuffle')}, got {found}")
    return found
