"""Programs run with patched libraries, by ``python -m reshuffle.compat`` and by the pytest plugin."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from test_compat_patching import BACKEND, LIBRARY

STATE = """
import sys, __main__
print(sys.argv, sys.path[0], __name__, __file__, __spec__ and __spec__.name, __package__, vars(__main__) is globals())
"""
# Programs that print, fail, handle errors and exit in different ways.
PROGRAMS = {
    "state.py": STATE,
    "fails.py": "def f():\n    raise ValueError('x')\n\nprint('before')\nf()\n",
    "chained.py": "try:\n    1 / 0\nexcept Exception as error:\n    raise RuntimeError('y') from error\n",
    "exits.py": "import sys\nprint('out'); print('err', file=sys.stderr); sys.exit(7)\n",
    "words.py": "import sys\nsys.exit('words')\n",
    "interrupted.py": "raise KeyboardInterrupt\n",
    "syntax.py": "x = (\n",
    "latin.py": "# coding: latin-1\nprint('\\xe9')\n",
    "hook.py": (
        "import sys, traceback\n"
        "sys.excepthook = lambda kind, error, tb: print(kind, [f.name for f in traceback.extract_tb(tb)])\n"
        "1 / 0\n"
    ),
    "leaves.py": "import atexit, os\natexit.register(print, 'at exit')\nprint(os.environ.get('NOTHING'))\n",
    "pickles.py": "import pickle\nclass C: pass\nprint(type(pickle.loads(pickle.dumps(C()))) is C)\n",
    "missing.py": "import no_such_module\n",
    "package/__init__.py": "import sys\nprint(sys.argv)\n",
    "package/__main__.py": STATE,
    "package/part.py": STATE + "1 / 0\n",
    "broken/__init__.py": "1 / 0\n",
    "broken/part.py": "",
    "imports_missing/__init__.py": "import no_such_module\n",
    "imports_missing/part.py": "",
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for name, source in PROGRAMS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(source, encoding="latin-1")
    with zipfile.ZipFile(folder / "archive.zip", "w") as archive:
        archive.writestr("__main__.py", "import sys; print(sys.path[0], __name__, __file__)")
    with zipfile.ZipFile(folder / "empty.zip", "w") as archive:
        archive.writestr("other.py", "")
    py_compile.compile(str(folder / "state.py"), str(folder / "compiled.pyc"))
    # An invented library, so that nothing slow is imported.
    (folder / "library.py").write_text(LIBRARY, encoding="utf-8")
    (folder / "library_backend.py").write_text(BACKEND, encoding="utf-8")
    (folder / "calls.py").write_text(
        "import library\nprint(library.Metric().score('a'), library.total([1.5]))\n", encoding="utf-8"
    )
    (folder / "sitecustomize.py").write_text(
        "from reshuffle.compat.hosts import HOSTS, Host\n"
        "HOSTS.clear()\n"
        "HOSTS['library'] = Host('the-library', '1.2', '1.4', 'library_backend')\n",
        encoding="utf-8",
    )
    return folder


# pytest must not import other plugins, which is slow, and argparse must not wrap the texts that tests search for.
ENVIRONMENT = {"PYTHONIOENCODING": "utf-8", "COLUMNS": "120", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def python(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder, in which the invented library is the only host."""
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), **ENVIRONMENT, **environment},
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
    )


def compat(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return python(folder, "-m", "reshuffle.compat", *arguments, **environment)


def results(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["state.py"],
        ["./state.py", "-v", "--only", "x", "-m", "y", "--", ""],
        ["package/part.py"],
        ["-m", "state", "-m", "1"],
        ["-m", "package", "--only"],
        ["-m", "package.part"],
        *([name] for name in PROGRAMS if "/" not in name and name != "state.py"),
        ["-m", "no_such_module"],
        ["-m", "no.such.module"],
        *(["no_such_file.py"], ["archive.zip"], ["empty.zip"]),
    ],
    ids=" ".join,
)
def test_programs_run_as_under_python(programs: Path, arguments: Sequence[str]) -> None:
    """The programs' arguments, module names, output, tracebacks and exit codes are the same, byte for byte."""
    plain = python(programs, *arguments)
    assert results(plain) == results(compat(programs, *arguments))


@pytest.mark.parametrize("program", ["package", "compiled.pyc"])
def test_folders_and_compiled_code_run(programs: Path, program: str) -> None:
    """As under Python, except that runpy puts an absolute path into sys.argv, and may set __package__."""
    plain, ours = python(programs, program), compat(programs, program)
    assert plain.returncode == ours.returncode == 0
    assert plain.stdout.split("]")[1].split()[:3] == ours.stdout.split("]")[1].split()[:3]
    assert f"['{programs / program}']" in ours.stdout


@pytest.mark.parametrize("module", ["broken.part", "imports_missing.part"])
def test_errors_of_packages_are_the_programs_own(programs: Path, module: str) -> None:
    plain, ours = python(programs, "-m", module), compat(programs, "-m", module)
    assert plain.returncode == ours.returncode == 1
    assert plain.stderr.splitlines()[-3:] == ours.stderr.splitlines()[-3:]
    assert "compat" not in ours.stderr


@pytest.mark.skipif(sys.version_info < (3, 11), reason="python -P is new in 3.11")
@pytest.mark.parametrize("program", [["state.py"], ["-m", "state"]])
def test_the_folder_of_a_script_is_left_out_where_python_leaves_it_out(programs: Path, program: list[str]) -> None:
    assert results(python(programs, "-P", *program)) == results(
        python(programs, "-P", "-m", "reshuffle.compat", *program)
    )


def test_the_library_is_patched_and_seams_are_listed_at_exit(programs: Path, tmp_path: Path) -> None:
    plain = python(programs, "calls.py")
    assert plain.stdout == "('library', 'a') ('library', 23.0)\n"
    for program in (["calls.py"], ["-m", "calls"]):
        done = compat(programs, "-v", *program)
        assert done.stdout == "('ours', 'a') ('library', 23.0)\n"
        assert done.stderr == (
            "total: left to the original: not integers\n"
            "replaced by reshuffle.compat  calls  left to the original\n"
            "library 1.3\n"
            "  Metric.score                    1                     0\n"
            "  total                           1                     1\n"
            "    1: not integers\n"
        )
        assert done.returncode == 0
    # It is not imported from the current folder, which only ``python -m`` searches.
    (tmp_path / "library.py").write_text("1 / 0", encoding="utf-8")
    done = compat(tmp_path, str(programs / "calls.py"), PYTHONPATH=str(programs))
    assert done.stdout == "('ours', 'a') ('library', 23.0)\n"


def test_seams_are_listed_after_an_error_and_not_by_forked_children(programs: Path) -> None:
    (programs / "forks.py").write_text(
        "import os, sys\nif hasattr(os, 'fork') and os.fork() == 0:\n    sys.exit(0)\nos.wait()\n1 / 0\n",
        encoding="utf-8",
    )
    done = compat(programs, "-v", "forks.py")
    assert done.returncode == 1
    assert done.stderr.index("ZeroDivisionError") < done.stderr.index("replaced by reshuffle.compat")
    assert done.stderr.count("replaced by reshuffle.compat") == 1


def test_forked_workers_are_patched_and_spawned_ones_are_not(programs: Path) -> None:
    """In both cases, workers can import the functions of the program."""
    (programs / "workers.py").write_text(
        "import library, multiprocessing\n"
        "def who(text):\n"
        "    return library.Metric().score(text)[0]\n"
        "if __name__ == '__main__':\n"
        "    for method in {'fork', 'spawn'}.intersection(multiprocessing.get_all_start_methods()):\n"
        "        with multiprocessing.get_context(method).Pool(1) as pool:\n"
        "            print(method, *pool.map(who, 'a'))\n",
        encoding="utf-8",
    )
    for program in (["workers.py"], ["-m", "workers"]):
        done = compat(programs, *program)
        assert done.returncode == 0, done.stderr
        assert set(done.stdout.splitlines()) <= {"fork ours", "spawn library"}
        assert "spawn library" in done.stdout


def test_an_absent_host_is_named(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'sacrebleu':\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Absent())\n",
        encoding="utf-8",
    )
    for command in (["reshuffle.compat", "--only", "sacrebleu", "-m", "this"], ["reshuffle.compat.sacrebleu", "-V"]):
        done = python(tmp_path, "-m", *command)
        assert done.returncode == 2
        absent = "sacrebleu is not installed: pip install 'sacrebleu>=2.4.2,<2.7'"
        assert done.stderr.endswith(f"python -m {command[0]}: error: {absent}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no program to run: expected -m MODULE or SCRIPT"),
        (["-m"], "-m needs the name of a module"),
        (["--only", "sacrebleu", "state.py"], "reshuffle.compat cannot patch 'sacrebleu'; it can patch: library"),
        (["--only=", "state.py"], "reshuffle.compat cannot patch ''; it can patch: library"),
        (["--verbos", "state.py"], "unrecognized arguments: --verbos"),
        (["--pvalues=exact", "state.py"], "argument --pvalues: invalid choice: 'exact'"),
    ],
)
def test_wrong_command_lines_exit_with_2(programs: Path, arguments: Sequence[str], message: str) -> None:
    done = compat(programs, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: python -m reshuffle.compat [-v] [--only NAMES]")
    assert f"python -m reshuffle.compat: error: {message}" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unsupported_version_is_refused_if_named_and_skipped_otherwise(programs: Path, tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text("__version__ = '2.0.0'", encoding="utf-8")
    (tmp_path / "words.py").write_text(PROGRAMS["words.py"], encoding="utf-8")
    done = compat(tmp_path, "--only", "library", "words.py", PYTHONPATH=str(programs))
    assert done.returncode == 2
    refused = "library 2.0.0 is not supported: reshuffle.compat supports the-library>=1.2,<1.4\n"
    assert done.stderr.endswith(f"python -m reshuffle.compat: error: {refused}")
    done = compat(tmp_path, "words.py", PYTHONPATH=str(programs))
    assert done.returncode == 1
    assert done.stderr == f"not patched: {refused}nothing is patched: no supported library is installed\nwords\n"


SUITE = """
import library

def test_who():
    assert library.total([1.5])[0] == "library"
    assert library.Metric().score("a")[0] == "ours"
"""


PLUGIN = ["-p", "no:cacheprovider", "-p", "reshuffle.compat.pytest_plugin", "-c", os.devnull, "suite.py"]


def pytest_with_plugin(folder: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    """The exit code, and all that was printed."""
    (folder / "suite.py").write_text(SUITE, encoding="utf-8")
    done = python(folder, "-m", "pytest", "--rootdir", str(folder), *PLUGIN, *arguments, **environment)
    return done.returncode, done.stdout + done.stderr


def test_the_pytest_plugin_patches_and_reports(programs: Path) -> None:
    code, out = pytest_with_plugin(programs)
    assert code == 0, out
    assert "reshuffle.compat: library 1.3, p-values: exact-replay\n" in out
    assert "= reshuffle.compat =" not in out
    _, out = pytest_with_plugin(programs, "-v", "--compat-only", "library", RESHUFFLE_COMPAT_PVALUES="sound")
    assert "reshuffle.compat: library 1.3, p-values: sound\n" in out
    assert "= reshuffle.compat =" in out
    assert "  total                           1                     1\n    1: not integers\n" in out


def test_the_pytest_plugin_refuses_unknown_hosts_and_modes(programs: Path) -> None:
    for done, error in (
        (
            pytest_with_plugin(programs, RESHUFFLE_COMPAT_ONLY="other"),
            "ERROR: reshuffle.compat cannot patch 'other'; it can patch: library",
        ),
        (
            pytest_with_plugin(programs, "--compat-only=library", "--compat-pvalues=exact"),
            "ERROR: pvalues must be 'exact-replay' or 'sound', got 'exact'",
        ),
    ):
        assert done[0] == pytest.ExitCode.USAGE_ERROR
        assert error in done[1]


def test_the_pytest_plugin_undoes_its_patch(programs: Path) -> None:
    (programs / "suite.py").write_text(SUITE, encoding="utf-8")
    done = python(
        programs, "-c", f"import pytest, library; pytest.main({['-q', *PLUGIN]}); print(library.total([1])[0])"
    )
    assert "1 passed" in done.stdout
    assert done.stdout.endswith("library\n")
