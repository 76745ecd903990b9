"""METEOR's files: where they are, what they contain, and warnings of what is missing.

The core gets their contents and digests; only a table of paraphrases is so large that the core reads it itself. Nothing
is downloaded.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from .. import _core
from ..data.files import CHUNK, display_name
from ..errors import Argument, InputError, Option, warn
from ..names import names_in

if TYPE_CHECKING:
    from zipfile import ZipFile

# What NLTK calls the folder of its data, relative to each of its folders; below it may be a folder or a zip file.
NLTK_CORPUS = "corpora/wordnet"

# The languages in the names of METEOR's files, by the code that the core uses.
LANGUAGES = dict(
    pair.split(":")
    for pair in (
        "en:english cz:czech de:german es:spanish fr:french ru:russian da:danish fi:finnish hu:hungarian it:italian "
        "nl:dutch no:norwegian pt:portuguese ro:romanian sv:swedish tr:turkish other:other"
    ).split()
)

# METEOR's synonyms and WordNet's dictionary, each in the order in which the core expects the files.
SYNONYMS = ("synonym/english.synsets", "synonym/english.exceptions")
DICTIONARY = tuple(name for part in ("noun", "verb", "adj", "adv") for name in (f"index.{part}", f"{part}.exc"))

# No text file of METEOR or WordNet is nearly as large, but a damaged archive may claim to contain one.
LARGEST = 1 << 28

# How many groups of files are kept in memory, for metrics that use the same ones. WordNet is the largest, with 10 MB.
KEPT = 8

# The purpose of files, their digest, and their names and contents.
Files = tuple[str, str, tuple[tuple[str, bytes], ...]]
Stamp = tuple[int, ...]


def read_files(options: Mapping[str, Any]) -> tuple[dict[str, Any], list[Files]]:
    """METEOR's options without the paths of files, and what the core needs of these files.

    Files of modules that are not in use are looked for, but not read. A value that is not a path stays among the
    options, and the core refuses it.

    :class:`InputError` if a path is not that of METEOR's or WordNet's files, or a file cannot be read.
    """
    if isinstance(modules := options.get("modules"), str):  # as on the command line
        options = {**options, "modules": tuple(names_in(modules))}
    options = with_wordnet(options)
    named = {name: options.get(name) for name in ("meteor_jar", "wordnet", "paraphrases")}
    paths = {name: Path(options.pop(name)) for name, value in named.items() if isinstance(value, str) and value}
    # METEOR's own code of the language, such as cz for cs. The core refuses an unknown language.
    plain = _core.Metric("meteor", {"language": options.get("language"), "modules": "exact"})
    code = dict(plain.signature)["lang"]
    files: list[Files] = []
    table = paths.get("paraphrases")
    if "meteor_jar" in paths:
        jar, folder = _find_jar(paths["meteor_jar"], _function_words(code))
        function_words = _function_words("en" if options.get("english_function_words") else code)
        if jar.missing([function_words]) is not None:
            raise _refused("meteor_jar", "the jar of METEOR 1.5", paths["meteor_jar"], f"has no {function_words}")
        wanted: dict[str, tuple[str, ...]] = {
            "function": (function_words,),
            "prefixes": (f"nonbreaking/{LANGUAGES[code]}.prefixes",),
        }
        if _may_use(options, "synonym") and "wordnet" not in paths:
            wanted["meteor"] = SYNONYMS
        files += [jar.read(purpose, names) for purpose, names in wanted.items() if jar.missing(names) is None]
        beside = folder / "data" / f"paraphrase-{code}.gz"
        if table is None and _stamp(beside) is not None:
            table = beside
    if "wordnet" in paths:
        wordnet = _find_dictionary(paths["wordnet"])
        if _may_use(options, "synonym"):
            files.append(wordnet.read("wordnet", DICTIONARY))
    if table is not None:
        stamp = _stamp(table)
        if stamp is None:
            expected = f"a table of paraphrases such as METEOR's paraphrase-{code}.gz"
            raise _refused("paraphrases", expected, table, "is not a file")
        if _may_use(options, "paraphrase"):
            files.append(("paraphrases", _digest_of_file(table, stamp), ((display_name(str(table)), b""),)))
    return options, files


def _function_words(code: str) -> str:
    return f"function/{LANGUAGES[code]}.words"


def _may_use(options: Mapping[str, Any], module: str) -> bool:
    """Whether METEOR could use a module with these options, if it has the module for the language."""
    modules = options.get("modules")
    if module == "synonym" and options.get("language") not in (None, "en"):
        return False
    if modules is None:
        return module != "synonym" or options.get("task") != "universal"
    return isinstance(modules, (str, tuple, list)) and module in modules


def with_wordnet(options: Mapping[str, Any]) -> dict[str, Any]:
    """METEOR's options with the folder of an installed WordNet, if they could use one and name no other.

    The folder is not used if the options name METEOR's jar, which has its own WordNet, a language other than English,
    or modules without synonyms.
    """
    names_files = any(options.get(name) is not None for name in ("meteor_jar", "wordnet"))
    found = None if names_files or not _may_use(options, "synonym") else find_wordnet()
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


class _Place(NamedTuple):
    """A folder with files, or a folder within a zip archive. A jar is a zip archive."""

    path: Path
    # The members of the archive; None for a folder.
    members: frozenset[str] | None = None
    # The folder within the archive: empty, or ending in a slash.
    inside: str = ""

    def missing(self, names: Iterable[str]) -> str | None:
        """The first of these files that is not there."""
        if self.members is None:
            return next((name for name in names if _stamp(self.path / name) is None), None)
        return next((name for name in names if self.inside + name not in self.members), None)

    def read(self, purpose: str, names: Iterable[str]) -> Files:
        """Files, with their digest. They are read again only if they have changed."""
        members = tuple(self.inside + name for name in names)
        paths = (self.path / name for name in members) if self.members is None else (self.path,)
        return (purpose, *_read(self.path, self.members is not None, members, tuple(map(_stamp, paths))))


def _refused(option: str, expected: str, path: Path, problem: str) -> InputError:
    """The error for a path that the user named."""
    message = "{metric}: {option} must be {expected}, got {got}"
    got = f"{display_name(str(path))}, which {problem}"
    return InputError(message, metric="meteor", option=Option(option), expected=expected, got=got)


def _unusable(path: Path, expected: str, got: str) -> InputError:
    """The error for a file that was found."""
    file = display_name(str(path))
    return InputError("{file}: expected {expected}, got {got}", file=file, expected=expected, got=got)


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error or type(error).__name__)


def _stamp(path: Path) -> Stamp | None:
    """What changes with a file: where it is, when it was written, and its size. None if there is no file.

    A named pipe is not a file: to open it would block until something writes to it.
    """
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    if not S_ISREG(status.st_mode):
        return None
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def _is_folder(option: str, expected: str, path: Path) -> bool:
    """Whether there is a folder, and not a file, at a path that the user named."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise _refused(option, expected, path, "does not exist") from None
    except (OSError, ValueError) as error:
        raise _refused(option, expected, path, f"cannot be read ({_reason(error)})") from None
    if not S_ISDIR(mode) and not S_ISREG(mode):
        raise _refused(option, expected, path, "is neither a file nor a folder")
    return S_ISDIR(mode)


def _find_jar(path: Path, function_words: str) -> tuple[_Place, Path]:
    """METEOR's files, and the folder beside whose folder ``data`` they lie.

    The path is that of the jar, a folder with the jar, or a folder with the unpacked files, which may be in a folder
    ``resources``.
    """
    option, expected = "meteor_jar", "METEOR's jar, or a folder that contains it or its files"
    jar = path
    if _is_folder(option, expected, path):
        try:
            jars = sorted(jar for jar in path.iterdir() if jar.match("meteor-*.jar"))
        except OSError as error:
            raise _unusable(path, "a folder that can be read", _reason(error)) from None
        if not jars:
            for unpacked in (_Place(path), _Place(path / "resources")):
                if unpacked.missing([function_words]) is None:
                    return unpacked, path
            raise _refused(option, expected, path, f"has no meteor-*.jar and no {function_words}")
        if len(jars) > 1:
            names = ", ".join(jar.name for jar in jars)
            raise _refused(option, expected, path, f"has several: {names}; name one of them")
        (jar,) = jars
        if _stamp(jar) is None:
            raise _refused(option, expected, jar, "is not a file")
    packed = _in_archive(option, expected, jar, function_words)
    if packed is None:
        raise _refused(option, "the jar of METEOR 1.5", jar, f"has no {function_words}")
    return packed, jar.parent


def _find_dictionary(path: Path) -> _Place:
    """WordNet's files: the path is that of their folder, or of a zip archive of the folder, as NLTK installs it."""
    option, expected = "wordnet", "a folder with WordNet's files index.noun, noun.exc …, or a zip archive of it"
    is_folder = _is_folder(option, expected, path)
    place = _Place(path) if is_folder else _in_archive(option, expected, path, DICTIONARY[0])
    missing = DICTIONARY[0] if place is None else place.missing(DICTIONARY)
    if place is None or missing is not None:
        raise _refused(option, expected, path, f"has no {missing}")
    return place


def _in_archive(option: str, expected: str, path: Path, name: str) -> _Place | None:
    """The folder within a zip archive that contains this file; of several, the one with the shortest name."""
    from zipfile import ZipFile

    try:
        with ZipFile(path) as archive:
            members = archive.namelist()
    except Exception as error:  # zipfile raises many classes for damaged archives
        problem = f"cannot be read as a zip archive ({_reason(error)})"
        raise _refused(option, expected, path, problem) from None
    folders = [member[: -len(name)] for member in members if f"/{member}".endswith(f"/{name}")]
    return _Place(path, frozenset(members), min(folders, key=len)) if folders else None


@lru_cache(maxsize=KEPT)
def _read(
    path: Path, is_archive: bool, names: tuple[str, ...], stamps: tuple[Stamp | None, ...]
) -> tuple[str, tuple[tuple[str, bytes], ...]]:
    """The digest of files in a folder or an archive, and their names and contents.

    The lengths of the files are part of the digest, so that it matters where one ends.
    """
    import hashlib
    from zipfile import ZipFile

    if is_archive:
        with _reading(path), ZipFile(path) as archive:
            files = [(display_name(f"{path}/{name}"), _member(archive, path, name)) for name in names]
    else:
        files = []
        for file in (path / name for name in names):
            with _reading(file), file.open("rb") as stream:
                files.append((display_name(str(file)), _limited(file, stream, file.stat().st_size)))
    digest = hashlib.sha256()
    for _, content in files:
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()[:8], tuple(files)


@lru_cache(maxsize=KEPT)
def _digest_of_file(path: Path, stamp: Stamp) -> str:
    """The beginning of what ``sha256sum`` prints."""
    import hashlib

    digest = hashlib.sha256()
    with _reading(path), path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()[:8]


def _member(archive: ZipFile, path: Path, name: str) -> bytes:
    from zipfile import ZIP_DEFLATED, ZIP_STORED

    with _reading(path / name):
        info = archive.getinfo(name)
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # zipfile expands the others without a limit
            raise ValueError("a compression other than deflate")
        with archive.open(info) as file:
            return _limited(path / name, file, info.file_size)


def _limited(path: Path, file: IO[bytes], size: int) -> bytes:
    """The contents of a file of which this size is known, and no more."""
    if size > LARGEST:
        raise _unusable(path, f"at most {LARGEST} bytes", f"{size}")
    return file.read(size + 1)  # One more, because zipfile compares the checksum at the end.


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Whatever goes wrong is an error of this file."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # zipfile raises many classes for damaged archives
        raise _unusable(path, "a file that can be read", _reason(error)) from None


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
    used = signature["modules"].split("+")
    warn(
        f"METEOR is computed without its module{plural} {' and '.join(missing)}, because no {files} {was} found: name "
        f"METEOR's jar ({{jar}}), or leave the module{plural} out on purpose ({{modules}}={{used}})",
        jar=Option("meteor_jar"),
        modules=Option("modules"),
        used=Argument(str(used), as_flag=",".join(used)),
    )
