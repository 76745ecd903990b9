"""The documentation as a site: ``python -m sphinx docs target/site``, after ``pip install '.[docs]'``."""

import re
from typing import Any

import reshuffle

project = "reshuffle"
author = "the authors of reshuffle"
version = release = reshuffle.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_external_toc"]
myst_heading_anchors = 4  # as on GitHub
smartquotes = False
exclude_patterns = ["paper"]  # which has the form of a journal

# Signatures and docstrings are those of the imported package, because many follow from records of options.
autodoc_typehints = "none"  # docstrings have the types
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
napoleon_google_docstring = False
# Types in docstrings are words, and some of them are also names of attributes.
suppress_warnings = ["ref.python"]

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"reshuffle {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "source_repository": "https://github.com/reshuffle-mt/reshuffle/",
    "source_branch": "main",
    "source_directory": "docs/",
}


def is_field(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Skip fields of records, which the docstring of the class has already."""
    return True if what == "class" and not callable(member) and not isinstance(member, property) else None


def escape(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape what would be markup outside of literals, examples and tables: docstrings are written for ``help``."""
    example = False
    for number, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example and not re.search(r"\S  +\S", line):
            parts = line.split("``")
            parts[::2] = [re.sub(r"(?<!\\)[|*]|(?<=\w)_(?!\w)", r"\\\g<0>", part) for part in parts[::2]]
            lines[number] = "``".join(parts)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", is_field)
    app.connect("autodoc-process-docstring", escape, priority=400)  # before napoleon
