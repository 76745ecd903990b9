"""METEOR's files: where WordNet is installed, and warnings of what is missing.

The core reads METEOR's jar and WordNet's files. This module only looks for an installed WordNet. Nothing is downloaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import _core
from ..errors import Option, warn

__all__ = ["find_wordnet", "warn_of_gaps", "with_wordnet"]

# What NLTK calls the folder of its data, relative to each of its folders; below it may be a folder or a zip file.
NLTK_CORPUS = "corpora/wordnet"


def with_wordnet(options: Mapping[str, Any]) -> dict[str, Any]:
    """METEOR's options with the folder of an installed WordNet, if they could use one and name no other.

    The folder is not used if the options name METEOR's jar, which has its own WordNet, a language other than English,
    or modules without synonyms.
    """
    modules = options.get("modules")
    names_files = any(options.get(name) is not None for name in ("meteor_jar", "wordnet"))
    other_language = options.get("language") not in (None, "en")
    no_synonyms = (modules is None and options.get("task") == "universal") or (
        modules is not None and "synonym" not in modules
    )
    found = None if names_files or other_language or no_synonyms else find_wordnet()
    return dict(options) if found is None else {**options, "wordnet": str(found)}


def find_wordnet() -> Path | None:
    """The folder of WordNet's files, or NLTK's zip file of them; None if WordNet is not installed.

    The first that exists of ``$WNSEARCHDIR``, Debian's folder (package ``wordnet-base``) and NLTK's folders, in NLTK's
    order. NLTK itself is not imported.
    """
    for folder in _wordnet_folders():
        if (folder / "index.noun").is_file():
            return folder
        zipped = folder.with_name(f"{folder.name}.zip")
        if zipped.is_file():
            return zipped
    return None


def _wordnet_folders() -> Iterator[Path]:
    if os.environ.get("WNSEARCHDIR"):
        yield Path(os.environ["WNSEARCHDIR"])
    yield Path("/usr/share/wordnet")
    named = [Path(folder) for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
    installed = [Path(sys.prefix) / folder for folder in ("", "share", "lib")]
    shared = map(Path, ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib"))
    for folder in (*named, *(root / "nltk_data" for root in (Path("~").expanduser(), *installed, *shared))):
        yield folder / NLTK_CORPUS


def warn_of_gaps(core: _core.Metric) -> None:
    """Warn of modules that METEOR leaves out because their files were not found, and of parameters for English.

    Only modules that the user did not name are left out. Without the files of a named one, the metric is not created.
    """
    signature = dict(core.signature)
    if "tuned" in signature:
        warn(
            f"METEOR's task {signature['task']} has parameters for English only: they are used for the language "
            f"{signature['lang']}; the tasks li and universal are meant for any language"
        )
    if "missing" not in signature:
        return
    missing = signature["missing"].split("+")
    what = {"synonym": "WordNet", "paraphrase": "table of paraphrases"}
    files = " and no ".join(what[module] for module in missing)
    plural, was = ("s", "were") if len(missing) > 1 else ("", "was")
    warn(
        f"METEOR is computed without its module{plural} {' and '.join(missing)}, because no {files} {was} found: name "
        f"METEOR's jar ({{jar}}), or leave the module{plural} out on purpose ({{modules}}={{used}})",
        jar=Option("meteor_jar"),
        modules=Option("modules"),
        used=signature["modules"].replace("+", ","),
    )
