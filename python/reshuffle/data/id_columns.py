"""Columns of tables that have ids, and not scores or texts of systems."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..errors import Argument, MisreadWarning, counted, listed, quoted, warn

# Headers of the ids of segments.
SEGMENT_IDS = (
    "id", "sample_id", "item_id", "segment_id", "seg_id", "segid", "sid", "segment", "question_id", "task_id",
    "utterance_id", "utt_id", "example_id", "instance_id", "prompt_id", "problem_id", "case_id", "test_id", "qid",
    "uid", "uuid", "guid", "idx", "doc_id",
)  # fmt: skip
# Headers of columns that are ids of segments if their values are: see :func:`are_ids`.
PERHAPS_IDS = ("index", "key", "item", "example", "sample", "question", "problem", "prompt", "task", "name")
# Those among them that name what was asked, often several times.
QUESTIONS = ("item", "example", "sample", "question", "problem", "prompt")
# What questions are parts of, each of which may number them anew.
PARTS = tuple(
    f"{name}{end}"
    for name in ("benchmark", "dataset", "eval", "task", "subtask", "suite", "subset", "subject", "domain", "topic",
                 "category", "section", "split")
    for end in ("", "_name", "_id")
)  # fmt: skip
# Columns that tell versions of one question apart, whose rows belong together.
VARIANTS = ("lang", "language", "template", "prompt_template", "temperature", "variant")
# What several questions may be about.
PASSAGES = tuple(
    f"{name}{end}"
    for name in ("passage", "context", "article", "story", "paragraph", "document", "doc", "talk", "speaker", "author",
                 "user", "patient", "conversation", "dialogue", "dialog", "session", "thread", "group", "cluster")
    for end in ("", "id", "_id")
)  # fmt: skip
# With fewer groups than these, no test of them finds a difference at 0.05.
FEWEST_GROUPS = 6
# Columns of systems, if they have several and there are ids of segments; else they say what the file is of.
MODELS = ("model", "model_id", "model_name")
# Columns of the runs in which segments were answered. With MODELS and "system", their values choose rows.
RUNS = ("epoch", "run", "seed", "trial", "repeat")
# Names of several answers to each question, which are runs, too, beside a column of questions. "sample" comes last,
# because it may be that column.
ANSWERS = ("attempt", "generation", "completion", "rollout", "iteration", "try", "rep", "replicate", "sample")
NUMBERED = re.compile(r"_?(id|idx|index|no|nr|num|number)")
# Longer values are texts.
LONGEST_ID = 64
# What columns of right labels are called.
GOLD = ("gold", "label", "labels", "target", "true", "truth", "y_true", "ground_truth")
# What the last row of a table is called that sums up the others.
TOTALS = ("all", "average", "avg", "mean", "overall", "sum", "total")
# Headers of other numbers that are no scores. pandas writes the index without a header, and reads "Unnamed: 0" for it.
IDS = ("", "unnamed: 0", "id", "index", "doc", "docid", "doc_id", "document", "document_id", "domain")
# More systems than this, and than segments, are probably the segments of a table or an array.
MOST_SYSTEMS = 9
# With fewer segments, scores may be distinct integers by chance.
FEWEST = 20
# The share of ids that are repeated, at least: some may have lost a row.
MOST = 0.8


def names_ids(header: str) -> bool:
    """Whether a column with this header has ids.

    >>> names_ids("Question_ID"), names_ids("large")
    (True, False)
    """
    return header.lower() in (*SEGMENT_IDS, *IDS)


def names_runs(header: str) -> str | None:
    """What a column with this header numbers, of :data:`RUNS` and :data:`ANSWERS`; None if nothing of these.

    >>> names_runs("Epoch"), names_runs("sample_idx"), names_runs("sampler"), names_runs("id"), names_runs("number")
    ('epoch', 'sample', None, None, None)
    """
    name = header.lower()
    if name in RUNS:
        return name
    for each in ANSWERS:
        if name == each or (name.startswith(each) and NUMBERED.fullmatch(name[len(each) :])):
            return each
    return None


def names_models(header: str) -> bool:
    """Whether the values of a column with this header choose the rows of a system."""
    return header.lower() in (*MODELS, "system")


def are_like_ids(numbers: Any) -> bool:
    """Whether numbers may be ids of segments or of documents: integers that never decrease, or without gaps and ties.

    >>> are_like_ids(range(1, 41)), are_like_ids([i // 4 for i in range(40)]), are_like_ids([0] * 20 + [1] * 20)
    (True, True, False)
    """
    import numpy as np  # commands that read no scores start without it

    array = np.asarray(numbers, dtype=np.float64)
    if len(array) < FEWEST or not (np.isfinite(array) & (array == np.rint(array))).all():
        return False
    n_distinct = len(np.unique(array))
    never_decrease = n_distinct > 2 and bool((np.diff(array) >= 0).all())
    return never_decrease or (n_distinct == len(array) and bool(np.ptp(array) < 2 * len(array)))


def are_ids(values: Sequence[str]) -> bool:
    """Whether no value occurs twice, and they are short names, or numbers :func:`like ids <are_like_ids>`.

    >>> are_ids(["astropy-1", "astropy-2"]), are_ids(["a", "a"]), are_ids(["0.5", "0.25"])
    (True, False, False)
    """
    if len(set(values)) < max(len(values), 1) or not all(0 < len(value) <= LONGEST_ID for value in values):
        return False
    try:
        return are_like_ids([*map(float, values)])
    except ValueError:  # names
        return True


def are_numbers_of_rows(ids: Sequence[str] | None) -> bool:
    """Whether ids only say where a row is: 0, 1, 2 … or 1, 2, 3 …; or whether there are none.

    >>> are_numbers_of_rows(["0", "1", "2"]), are_numbers_of_rows(["2", "1"]), are_numbers_of_rows(None)
    (True, False, True)
    """
    if ids is None:
        return True
    start = ids[0] if ids else ""
    return start in ("0", "1") and all(own == str(at) for at, own in enumerate(ids, int(start)))


def are_numbered(ids: Iterable[str]) -> bool:
    """Whether ids are numbers, perhaps after one word.

    >>> are_numbered(["item-9", "item-10"]), are_numbered(["7"]), are_numbered(["a1", "b1"]), are_numbered(["q", "q"])
    (True, True, False, False)
    """
    parts = [re.fullmatch(r"(\D*)\d+", each) for each in {*ids}]
    return len({part and part[1] for part in parts}) == 1 and None not in parts


def are_runs(values: Sequence[str], cells: Iterable[tuple[Any, str]]) -> bool:
    """Whether values may be names of runs: short, and each has the same questions within a system.

    ``cells`` has the system and the question of each row.

    >>> cells = [("a", "q1"), ("a", "q2"), ("a", "q1"), ("a", "q2")]
    >>> are_runs(["0", "0", "1", "1"], cells), are_runs(["yes", "no", "no", "maybe"], cells)
    (True, False)
    """
    if not all(0 < len(value) <= LONGEST_ID for value in values):
        return False
    by_run: dict[tuple[Any, str], set[str]] = {}
    for value, (system, question) in zip(values, cells, strict=True):
        by_run.setdefault((system, value), set()).add(question)
    first: dict[Any, set[str]] = {}
    return all(first.setdefault(system, own) == own for (system, _), own in by_run.items())


def has_runs(header: str, values: Sequence[Any], cells: Iterable[tuple[Any, str]]) -> bool:
    """Whether a column numbers runs by its name, or answers by its values, too: see :func:`are_runs`."""
    kind = names_runs(header)
    return kind in RUNS or (kind is not None and are_runs([*map(str, values)], cells))


def warn_of_repeated(name: str, ids: Sequence[str] | None) -> None:
    """Warn if most ids of segments occur more than once, as with several answers to each question.

    ``name`` is that of the file or the metric that has them.

    Numbers that begin again in each document do not occur equally often, unless documents are equally long.
    """
    times = Counter(ids or ())
    alike = Counter(times.values())
    n = len(times) - alike.pop(1, 0)
    most = max(alike.values(), default=0) if all(map(str.isdecimal, times)) else n
    if len(times) > 1 and most >= MOST * len(times):
        ids = f"each of {n:,} ids occurs" if n == len(times) else f"{n:,} of {len(times):,} ids occur"
        warn(
            "{file}: {ids}, but rows with the same id are taken as independent segments, which can make p too small: "
            "pass these ids as {documents}, or compare runs with {runs} (it needs a column 'epoch' or a file for "
            "each run); if rows are independent, leave the ids out",
            MisreadWarning,
            file=name,
            ids=f"{ids} {f'{max(alike):,}' if len(alike) == 1 else 'several'} times",
            documents=Argument("documents", as_flag="--docs FILE#COLUMN"),
            runs=Argument("compare_runs", as_flag="'reshuffle runs'"),
        )


def warn_of_lost(file: str, times: Any, runs: str) -> None:
    """Warn if some scores of a system are means over fewer runs or epochs than the others.

    ``times`` has for each system how often it answered each segment.
    """
    import numpy as np  # as above

    often = np.asarray(times)
    n = int((often < often.max(axis=1, initial=0, keepdims=True)).sum())
    if n:
        warn(f"{file}: {n:,} of {often.size:,} scores are means over fewer {runs} than the others")


def warn_of_passages(
    file: str, names: Iterable[str], values: Callable[[str], Sequence[Any]], ids: Sequence[str] | None
) -> None:
    """Warn of the first of these columns or fields that names passages, each with two segments or more on average.

    Rows with the same one of the ``ids`` are of one segment.
    """
    for name in names:
        own = [*map(str, values(name))] if name.lower() in PASSAGES else []
        own = own if ids is None else [*dict(zip(ids, own, strict=False)).values()]
        if FEWEST_GROUPS <= len(set(own)) <= len(own) // 2:
            warn(
                "{file}: segments with the same {name} ({n:,} values) are taken as independent, which can make p too "
                "small and intervals too narrow: add {documents}",
                file=file,
                n=len(set(own)),
                name=quoted(name),
                documents=Argument("documents", as_flag=f"--docs {shlex.quote(name)}"),
            )
            return


def warn_of_transposed(where: str, n_systems: int, n_segments: int, each: str, advice: str) -> None:
    """Warn if there are more systems than segments, and more than people compare. ``each`` was taken as a system."""
    if n_systems > max(n_segments, MOST_SYSTEMS):
        n = counted(n_segments, "segment")
        warn(f"{where}: each {each} is taken as a system: {n_systems:,} systems with {n}; {advice}", MisreadWarning)


def warn_of_runs(file: str, names: Iterable[str], values: Callable[[str], Sequence[Any]]) -> list[str]:
    """Warn of the columns, among these, that number runs in a table without ids; and return which they are.

    Their names say so, and their values occur equally often.
    """
    found = []
    for name in (name for name in names if name.lower() in RUNS):
        own = values(name)
        times = Counter(map(str, own))
        if 1 < len(times) <= len(own) // 2 and len({*times.values()}) == 1:
            warn(
                f"{file}: {quoted(name)} numbers runs of the same segments, but the segments have no ids, so "
                f"rows are taken as independent: add a column 'id', or choose a run, as in '{file}#{name}={own[0]}'",
                MisreadWarning,
            )
            found.append(name)
    return found


def warn_of_ids(where: str, scores: Mapping[Any, Any], chosen: Callable[[Sequence[str]], str]) -> None:
    """Warn of columns that are taken as scores of systems and look like ids, while others do not, or like right labels.

    ``chosen`` says how to choose columns.
    """
    gold = next((str(name) for name in scores if str(name).lower() in GOLD), None)
    if gold is not None:
        warn(
            "{where}: {gold} is taken as a system: if it has right labels, compare the others with it by {metrics}",
            MisreadWarning,
            where=where,
            gold=quoted(gold),
            metrics=Argument("metrics", ("accuracy",), as_flag="-m"),
        )
    found = [str(name) for name, numbers in scores.items() if are_like_ids(numbers)]
    others = [str(name) for name in scores if str(name) not in found]
    if found and others:
        one = len(found) == 1
        what = "looks like ids but is taken as a system" if one else "look like ids but are taken as systems"
        warn(
            f"{where}: {listed(map(quoted, found))} {what}: if they are ids, choose other columns, as in "
            f"{chosen(others)}",
            MisreadWarning,
        )
    answers = [name for name, numbers in scores.items() if _are_among(numbers, 0, 1)]
    # Answers may be 0 and 100 in one column, of which a later warning tells.
    beyond = [
        str(name)
        for name, numbers in scores.items()
        if str(name) in others and not _are_among(numbers, 0, 100) and any(number > 1 for number in numbers)
    ]
    if len(answers) > 1 and beyond:
        is_taken = "has other values than 0 and 1, unlike the other columns, and is taken as a system"
        are_taken = "have other values than 0 and 1, unlike the other columns, and are taken as systems"
        warn(
            f"{where}: {listed(map(quoted, beyond))} {is_taken if len(beyond) == 1 else are_taken}: if that is not "
            f"meant, choose other columns, as in {chosen([*map(str, answers)])}",
            MisreadWarning,
        )


def _are_among(numbers: Any, low: int, high: int) -> bool:
    """Whether numbers are two values, or missing."""
    return all(number in (low, high) or number != number for number in numbers)
