"""Patching in place, with an invented library."""

from __future__ import annotations

import gc
import inspect
import logging
import os
import pickle
import re
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest

from reshuffle import InputError, compat
from reshuffle.compat import patching
from reshuffle.compat.hosts import HOSTS, Host
from reshuffle.compat.patching import Seam
from told import assert_raises

# The library: a class with a method, a subclass, and functions.
LIBRARY = '''
__version__ = "1.3"

class Metric:
    def score(self, text, times=1):
        """The library's text."""
        return ("library", self.hook(text) * times)

    def hook(self, text):
        return text

class Derived(Metric):
    pass

def total(numbers, start=10, scale=2):
    return ("library", sum(numbers, start) * scale)

def average(numbers):
    return total(numbers)[1] / len(numbers)
'''

# The backend: replacements leave a call to the original if a subclass overrides the hook, or a number is no integer.
BACKEND = """
from reshuffle.compat.patching import Seam
import library

def score(self, text, times=1):
    seam = SEAMS[0]
    seam.count()
    if type(self).hook is not library.Metric.hook:
        return seam.leave("hook is overridden", self, text, times)
    return ("ours", text * times)

def total(numbers, start, scale):
    seam = SEAMS[1]
    seam.count()
    if not all(isinstance(number, int) for number in numbers):
        return seam.leave("not integers", numbers, start, scale)
    return ("ours", (start + sum(numbers)) * scale)

SEAMS = [Seam.method(library.Metric, "score", score), Seam.function(library.total, total)]
"""


def define(name: str, source: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(source, name, "exec"), vars(module))
    return module


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The invented library, which is the only one that can be patched."""
    module = define("library", LIBRARY, monkeypatch)
    define("library_backend", BACKEND, monkeypatch)
    for name in list(HOSTS):
        monkeypatch.delitem(HOSTS, name)
    monkeypatch.setitem(HOSTS, "library", Host("the-library", "1.2", "1.4", "library_backend"))
    monkeypatch.setattr(patching, "_state", patching._State())
    yield module
    compat.uninstall()


def who(module: Any) -> list[str]:
    """Who computes, the library or the replacement: for the method of the class and of a subclass, and the function."""
    return [module.Metric().score("a")[0], module.Derived().score("a")[0], module.total([1])[0]]


OURS, THEIRS = ["ours"] * 3, ["library"] * 3


def test_install_replaces_what_was_bound_before(library: Any) -> None:
    function, method, bound, instance = library.total, library.Metric.score, library.Metric().score, library.Derived()
    with compat.install():
        assert who(library) == OURS
        assert function([1, 2])[0] == "ours"
        assert library.total([1, 2], scale=3) == ("ours", 39)
        assert instance.score("a")[0] == "ours"
        # A method that was read from the class before the patch is the original function.
        assert method(instance, "a")[0] == bound("a")[0] == "library"
    assert who(library) == THEIRS
    assert function([1, 2])[0] == instance.score("a")[0] == "library"
    compat.install()  # without keeping what it returns
    gc.collect()
    assert who(library) == OURS


def test_the_original_can_be_called_while_patched_and_calls_patched_functions(library: Any) -> None:
    method, function = sys.modules["library_backend"].SEAMS
    with compat.install():
        assert method.original(library.Metric(), "a", times=2) == ("library", "aa")
        assert function.original([1]) == ("library", 22)
        assert function.original([1], 0, scale=1) == ("library", 1)
        assert library.average([1, 2])  # the library's own function calls the replacement
        assert [seam.calls for seam in compat.seams()] == [0, 1]


def test_replacements_keep_name_text_signature_and_pickle(library: Any) -> None:
    signatures = inspect.signature(library.Metric.score), inspect.signature(library.total)
    with compat.install():
        assert library.Metric.score.__doc__ == "The library's text."
        assert (inspect.signature(library.Metric.score), inspect.signature(library.total)) == signatures
        assert pickle.loads(pickle.dumps(library.Metric.score)) is library.Metric.score
        assert pickle.loads(pickle.dumps(library.total)) is library.total
        dumped = pickle.dumps(library.Metric().score)
        assert pickle.loads(dumped)("a")[0] == "ours"
    assert pickle.loads(dumped)("a")[0] == "library"


def test_each_install_is_undone_by_itself_in_any_order(library: Any) -> None:
    first, second = compat.install(), compat.install(pvalues="sound")
    assert patching.current_settings().pvalues == "sound"
    first.uninstall()
    assert (who(library), patching.current_settings().pvalues) == (OURS, "sound")
    third = compat.install()
    second.uninstall()
    second.uninstall()
    assert (who(library), patching.current_settings().pvalues) == (OURS, "exact-replay")
    third.uninstall()
    assert who(library) == THEIRS
    assert compat.installed() is None
    with compat.install(), compat.install(only="library"):
        compat.uninstall()
        assert who(library) == THEIRS
    assert who(library) == THEIRS


def test_uninstall_and_seams_take_names(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    other = define("other", LIBRARY, monkeypatch)
    define("other_backend", BACKEND.replace("library", "other"), monkeypatch)
    monkeypatch.setitem(HOSTS, "other", Host("other", "1.2", "1.4", "other_backend"))
    assert compat.install().hosts == ("library", "other")
    assert who(library) == who(other) == OURS
    assert {"other"} == {seam.host for seam in compat.seams(only="other")}
    compat.uninstall(only=["library"])
    assert (who(library), who(other)) == (THEIRS, OURS)
    now = compat.installed()
    assert now is not None
    assert now.hosts == ("other",)
    now.uninstall()
    assert who(other) == THEIRS
    monkeypatch.setitem(HOSTS, "library", HOSTS["library"]._replace(only_if_named="it is slow"))
    with compat.install() as unnamed, compat.install(only=("library",)) as named:
        assert (unnamed.hosts, named.hosts) == (("other",), ("library",))
        assert who(library) == OURS


@pytest.mark.parametrize("log", ["warn", "off"])
def test_seams_count_calls_and_fallbacks_by_reason(
    library: Any, caplog: pytest.LogCaptureFixture, log: Literal["warn", "off"]
) -> None:
    class Own(library.Metric):  # type: ignore[misc]
        def hook(self, text: str) -> str:
            return text.upper()

    assert compat.seams() == []
    with compat.install(log=log):
        assert Own().score("a") == Own().score("a") == ("library", "A")
        assert library.Metric().score("a") == ("ours", "a")
        library.total([1.5])
    method, function = compat.seams()
    assert (method.host, method.version, method.name) == ("library", "1.3", "Metric.score")
    assert (method.calls, method.fallbacks) == (3, {"hook is overridden": 2})
    assert (function.name, function.calls, function.fallbacks) == ("total", 1, {"not integers": 1})
    # Each reason once.
    logged = ["Metric.score: left to the original: hook is overridden", "total: left to the original: not integers"]
    expected = [("reshuffle.compat", message) for message in logged] if log == "warn" else []
    assert [(record.name, record.getMessage()) for record in caplog.records] == expected


def test_wrong_arguments_change_nothing(library: Any) -> None:
    assert_raises("python_errors_of_compat", {"compat": compat})
    assert who(library) == THEIRS
    assert compat.installed() is None


@pytest.mark.parametrize("version", ["1.2", "1.2.0", "1.3.9.post1", "1.3.dev4+g1a2b3c"])
def test_versions_in_the_range_are_patched(library: Any, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "__version__", version)
    with compat.install():
        assert who(library) == OURS


@pytest.mark.parametrize("version", ["1.1.9", "1.4", "1.4.0", "2.0", "1.4rc1", "unknown", "", None])
def test_other_versions_are_refused(
    library: Any, version: str | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(library, "__version__", version)
    shown = version or "of unknown version"
    message = f"library {shown} is not supported: reshuffle.compat supports the-library>=1.2,<1.4"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        compat.install(only="library")
    assert compat.install().hosts == ()
    assert who(library) == THEIRS
    assert caplog.messages == [f"not patched: {message}", "nothing is patched: no supported library is installed"]


def test_absent_and_broken_hosts(
    library: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(HOSTS, "absent", Host("absent", "1", "2", "absent_backend"))
    with pytest.raises(InputError, match=r"^absent is not installed: pip install 'absent>=1,<2'$"):
        compat.install(only=("library", "absent"))
    assert who(library) == THEIRS
    # There is no warning for an absent library that the user did not name.
    with compat.install():
        assert who(library) == OURS
    assert not caplog.records
    (tmp_path / "absent.py").write_text("import a_missing_dependency", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InputError, match=r"^absent cannot be imported: No module named 'a_missing_dependency'$"):
        compat.install(only="absent")
    with caplog.at_level(logging.INFO), compat.install():
        assert who(library) == OURS
    assert "not patched: absent" in caplog.text


def test_other_peoples_patches_are_left_in_place(
    library: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seam = sys.modules["library_backend"].SEAMS[0]
    with compat.install():
        ours = library.Metric.score
        monkeypatch.setattr(library.Metric, "score", lambda self, text: ("theirs", ours(self, text)))
    assert library.Metric().score("a")[0] == "theirs"
    with compat.install():
        assert who(library) == ["theirs", "theirs", "ours"]
    assert who(library) == ["theirs", "theirs", "library"]
    assert "Metric.score was replaced by code other than reshuffle's" in caplog.text
    # If the other code was first, the original is unknown.
    with pytest.raises(InputError, match=r"library\.Metric\.score has been replaced by <function"):
        Seam.method(library.Metric, "score", seam.replacement)
    monkeypatch.undo()


def test_threads_install_call_and_uninstall(library: Any) -> None:
    barrier = threading.Barrier(8)

    def work(_: int) -> set[str]:
        barrier.wait()
        found: set[str] = set()
        for _ in range(200):
            with compat.install():
                found.update(who(library))
        return found

    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(work, range(8))] == [{"ours"}] * 8
    assert who(library) == THEIRS
    # Lost updates would show here: 8 threads, 200 rounds, a call of each method and function.
    assert [seam.calls for seam in compat.seams()] == [8 * 200 * 2, 8 * 200]
    assert not patching._state.requests


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_forked_child_is_patched_and_not_blocked_by_a_thread_of_the_parent(library: Any) -> None:
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with patching._lock, patching._counting:
            held.set()
            done.wait()

    with compat.install():
        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # instead of a deadlock
            with compat.install():
                os._exit(who(library) != OURS)
        done.set()
        thread.join()
        assert os.waitpid(child, 0)[1] == 0
