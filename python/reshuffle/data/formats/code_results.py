"""pass@k of generated programs: results of human-eval and EvalPlus, and numbers of samples and of correct ones."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from ...errors import InputError, quoted
from ...validate import check_integer
from ..reading import Opened
from ._samples import Sample, Samples
from .base import Source, shown_json
from .jsonl import objects

PASS_AT = "pass@"
# Begins the names of EvalPlus for pass@k with its additional tests.
PLUS = "plus "
# The key of the number of samples of a problem. Other keys have the numbers of those that pass.
N = "n"


def pass_at_k(n: int, c: int, k: int) -> float:
    """The chance that at least one of k samples is correct, estimated from n samples of a problem, of which c are.

    That is 1 − C(n − c, k)/C(n, k) ([Chen et al. 2021](https://arxiv.org/abs/2107.03374)). The pass@k of a model is the
    mean over problems: pass these numbers to :class:`reshuffle.SegmentScores`. Problems are the segments, never their
    samples.

    Parameters
    ----------
    n, c : int
        The number of samples of the problem, and how many of them are correct.
    k : int
        At most n.

    Returns
    -------
    float

    Raises
    ------
    InputError
        If a number is out of range.

    Examples
    --------
    >>> pass_at_k(20, 6, 1), round(pass_at_k(20, 6, 5), 4), pass_at_k(10, 0, 3)
    (0.3, 0.8709, 0.0)
    """
    if any(hasattr(each, "__len__") for each in (n, c)):
        raise InputError("pass_at_k takes one problem: write [pass_at_k(n, c, k) for n, c in zip(samples, correct)]")
    n, c, k = check_integer("n", n, 1), check_integer("c", c, 0), check_integer("k", k, 1)
    if c > n or k > n:
        raise InputError(f"expected c and k to be at most n = {n:,}, got {c:,} and {k:,}")
    # The ratio of binomials is the same with c and k exchanged, so the smaller one can be the number of factors.
    few, many = sorted((c, k))
    if few == 1:  # without the rounding error of the subtraction
        return many / n
    return 1.0 - math.prod((n - many - i) / (n - i) for i in range(few))


class Problems(Samples):
    """The number of samples of each problem, and of those that pass its tests and EvalPlus's tests."""

    @cached_property
    def names(self) -> list[str]:
        """``pass@1`` (the obvious one) to ``pass@n``, and with EvalPlus ``plus pass@1``."""
        least = min(problem.scores[N] for problem in self.found)
        kinds = [kind for kind in self.found[0].scores if kind != N]
        return [f"{kind}{PASS_AT}{k}" for kind in kinds for k in range(1, least + 1)]

    def value(self, sample: Sample, name: str) -> float:
        """See :class:`Samples`."""
        kind, _, k = name.partition(PASS_AT)
        return pass_at_k(sample.scores[N], sample.scores[kind], int(k))


# The line of a sample, or of several, the system and the problem, and the numbers.
Row: TypeAlias = "tuple[int, str, str, Mapping[str, int]]"


def _problems(source: Source, rows: Iterable[Row]) -> Problems:
    """The numbers of each system and problem, which are added up."""
    found: dict[tuple[str, str], tuple[int, Counter[str]]] = {}
    for line, system, problem, numbers in rows:
        found.setdefault((system, problem), (line, Counter()))[1].update(numbers)
    if not found:
        source.fail("expected results of samples, got none")
    samples = [Sample(system, problem, sums, line) for (system, problem), (line, sums) in found.items()]
    return Problems(source, samples, is_obvious=True)


def in_rows(source: Source, rows: Iterable[tuple[int, str, str, float, float]]) -> Problems:
    """From rows of tables and samples of logs: each with its line, its system and problem, and its own n and c."""

    def checked() -> Iterator[Row]:
        for line, system, problem, n, c in rows:
            if not (n.is_integer() and c.is_integer() and 0 <= c <= n and n > 0):
                what = "0 or 1, or another mark of right and wrong" if n == 1 else "whole numbers n ≥ c ≥ 0"
                source.fail(f"pass@k: expected {what}, got {c:g}" + (f" of {n:g}" if n != 1 else ""), line)
            yield line, system, problem, {N: int(n), "": int(c)}

    return _problems(source, checked())


def human_eval(source: Source) -> Problems:
    """A sample on each line, or the numbers of a problem."""
    lines, system = objects(source), Path(source.file).stem
    ids = Opened(source, "jsonl").with_parts([_id(source, each, line) for line, each in lines])
    if lines and "passed" not in lines[0][1]:
        return _problems(source, _numbers(source, lines, ids))
    passed = [_passed(source, each, line) for line, each in lines]
    rows = zip(lines, ids, passed, strict=True)
    return _problems(source, ((line, system, problem, {N: 1, "": passes}) for (line, _), problem, passes in rows))


def _numbers(source: Source, lines: Sequence[tuple[int, Mapping[str, Any]]], ids: Sequence[str]) -> Iterator[Row]:
    """The rows of a file with the numbers of each problem."""
    seen: set[str] = set()
    for (line, each), problem in zip(lines, ids, strict=True):
        n, c = each.get("n"), each.get("c")
        if type(n) is not int or type(c) is not int or not 0 <= c <= n or n < 1:
            got = f"{shown_json(n)} and {shown_json(c)}"
            source.fail(f"expected numbers of samples and of correct ones as 'n' and 'c', got {got}", line)
        if problem in seen:
            source.fail(f"the problem {quoted(problem)} occurs twice", line)
        seen.add(problem)
        yield line, Path(source.file).stem, problem, {N: n, "": c}


def _id(source: Source, sample: Mapping[str, Any], line: int) -> str:
    problem = sample.get("task_id")
    if isinstance(problem, bool) or not isinstance(problem, str | int):
        source.fail(f"expected the id of a problem as 'task_id', got {shown_json(problem)}", line)
    return str(problem)


def _passed(source: Source, sample: Mapping[str, Any], line: int) -> int:
    passed = sample.get("passed")
    if not isinstance(passed, bool):
        source.fail(f"expected true or false as 'passed', got {shown_json(passed)}", line)
    return int(passed)


def evalplus(source: Source) -> Problems:
    """EvalPlus 0.3: for each problem a list of samples, with the status of its own tests and of EvalPlus's."""
    try:
        document = json.loads(source.text())
        samples = [(problem, each) for problem, own in document["eval"].items() for each in own]
        found = [(problem, each["base_status"], each["plus_status"]) for problem, each in samples]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        source.fail(
            "expected the results of EvalPlus 0.3, lists of samples with a 'base_status' and a 'plus_status' in 'eval'"
        )
    # EvalPlus runs its own tests on all samples, or with --base-only on none.
    lacking = [problem for problem, _, plus in found if plus is None]
    has_plus = len(lacking) < len(found)
    if lacking and has_plus:
        source.fail(
            f"expected a 'plus_status' for all samples or for none, got {len(lacking):,} of {len(found):,} without, "
            f"first of {quoted(lacking[0])}: evaluate again"
        )
    rows = []
    for problem, base, plus in found:
        numbers = {N: 1, "": int(base == "pass")}
        if has_plus:
            numbers[PLUS] = int(base == plus == "pass")
        rows.append((1, Path(source.file).stem, problem, numbers))
    return _problems(source, rows)
