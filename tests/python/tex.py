"""Compiles LaTeX in tests."""

import re
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

# The mark of tests that compile Typst.
TYPST = pytest.mark.skipif(find_spec("typst") is None, reason="typst is not installed")
PACKAGES = r"\usepackage[T1]{fontenc}\usepackage{booktabs,graphicx,multirow,natbib}"
ARTICLE = rf"\documentclass{{article}}{PACKAGES}\begin{{document}}"
# The columns of an ACL paper. Times, its font, may not be installed.
TWO_COLUMNS = (
    rf"\documentclass[twocolumn]{{article}}{PACKAGES}"
    r"\setlength{\textwidth}{455pt}\setlength{\columnsep}{17pt}\setlength{\columnwidth}{219pt}\begin{document}"
)


def plain(report: str) -> str:
    """The symbols of a report in LaTeX or Typst as letters: what sentences say."""
    joined = re.sub(r'" \+ (?=\$)|(?<=\$) \+ "|"(?=\$)|(?<=\$)#"', "", report)
    return re.sub(r"\$([A-Za-zΔατ])\$", r"\1", joined)


def need(*programs: str) -> None:
    """Skip the test if one of these programs is not installed."""
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def compiled(folder: Path, body: str, begin: str = ARTICLE, bibtex: bool = False) -> str:
    """What pdflatex says about a document; with BibTeX on the last of three runs.

    It writes no PDF, for which it would make bitmaps of all fonts where these have no outlines. The test is skipped
    if they are not installed.
    """
    need("pdflatex", *["bibtex"] * bibtex)
    (folder / "all.tex").write_text(f"{begin}\n{body}\n\\end{{document}}\n", "utf-8")
    latex = ["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    said = ""
    for command in [latex, ["bibtex", "all"], latex, latex] if bibtex else [latex]:
        done = subprocess.run(command, capture_output=True, check=False, cwd=folder, timeout=120)
        said = done.stdout.decode("utf-8", "replace")
        assert done.returncode == 0, said[-2000:]
    return said


def compile_typst(folder: Path, *sources: str) -> None:
    """Typst makes a PDF of each source."""
    typst = pytest.importorskip("typst")
    for source in sources:
        (folder / "all.typ").write_text(source, "utf-8")
        assert typst.compile(str(folder / "all.typ")).startswith(b"%PDF")
