"""Run a test suite with the libraries that it uses patched: ``pytest -p reshuffle.compat.pytest_plugin``.

The options are ``--compat-only`` and ``--compat-pvalues``, or the environment variables ``RESHUFFLE_COMPAT_ONLY`` and
``RESHUFFLE_COMPAT_PVALUES``. With ``-v``, a table at the end shows how often each replaced function was called.
"""

from __future__ import annotations

import os

import pytest

from reshuffle import InputError

from .hosts import only_help
from .patching import PVALUES, Installed, SeamReport, install, seam_table, seams

_INSTALLED = pytest.StashKey[Installed]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("reshuffle", "reshuffle.compat: other libraries, patched to compute with reshuffle")
    group.addoption(
        "--compat-only",
        metavar="NAMES",
        default=os.environ.get("RESHUFFLE_COMPAT_ONLY"),
        help=f"{only_help()}. The default can be set by RESHUFFLE_COMPAT_ONLY",
    )
    group.addoption(
        "--compat-pvalues",
        metavar="MODE",
        default=os.environ.get("RESHUFFLE_COMPAT_PVALUES", PVALUES[0]),
        help=f"{' or '.join(PVALUES)} p-values (default: RESHUFFLE_COMPAT_PVALUES, or {PVALUES[0]})",
    )


# First, because other plugins may import the libraries.
@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    only = config.getoption("--compat-only")
    try:
        config.stash[_INSTALLED] = install(
            only.split(",") if only is not None else None, pvalues=config.getoption("--compat-pvalues")
        )
    except InputError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_unconfigure(config: pytest.Config) -> None:
    if _INSTALLED in config.stash:
        config.stash[_INSTALLED].uninstall()


def pytest_report_header(config: pytest.Config) -> str:
    here = config.stash[_INSTALLED]
    versions = {report.host: report.version for report in _own_seams(config)}
    hosts = ", ".join(f"{host} {versions.get(host, '')}".rstrip() for host in here.hosts)
    return f"reshuffle.compat: {hosts or 'nothing is patched'}, p-values: {here.settings.pvalues}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.get_verbosity() > 0:
        terminalreporter.section("reshuffle.compat")
        terminalreporter.write_line(seam_table(_own_seams(config)))
        if config.getoption("numprocesses", None):
            terminalreporter.write_line("Calls in the worker processes of pytest-xdist are not counted.")


def _own_seams(config: pytest.Config) -> list[SeamReport]:
    return seams(config.stash[_INSTALLED].hosts)
