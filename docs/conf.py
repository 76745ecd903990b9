"""The documentation as a site: ``python -m sphinx docs target/site``, after ``pip install '.[docs]'``."""

import reshuffle

project = "reshuffle"
author = "the authors of reshuffle"
version = release = reshuffle.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_external_toc"]
exclude_patterns = ["_toc.yml"]

# As on GitHub: anchors of headings, and links written as text.
myst_heading_anchors = 4
myst_gfm_only = False

# Signatures and docstrings are those of the installed package, where they follow from records of options.
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"reshuffle {release}"
html_copy_source = False
html_theme_options = {"source_repository": "https://github.com/reshuffle-mt/reshuffle/", "source_branch": "main", "source_directory": "docs/"}
