"""Which file belongs to which system: by their names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import Argument, InputError, quoted
from .files import STDIN, display_name, uncompressed
from .reading import split_name

# What errors advise where files are in the order of the systems. Manifests have no such key.
BY_POSITION = Argument("by_position", as_key="--by-position")
# So many examples are shown of what does not match.
EXAMPLES = 3


def few(names: Sequence[str]) -> str:
    """The first names, as examples in a message.

    >>> few(["a"]), few("abcd")
    ("'a'", "'a', 'b', 'c' …")
    """
    return ", ".join(map(quoted, names[:EXAMPLES])) + (" …" if len(names) > EXAMPLES else "")


def files_by_name(option: object, files: Sequence[str], systems: Sequence[str]) -> list[str]:
    """As many files as systems, in the order of the systems.

    :class:`InputError` if a system has no file that is named like it, with the number of these systems and three of
    them.

    >>> files_by_name("--scores COMET", ["b.comet", "a.comet"], ["out/a.txt", "out/b.txt"])
    ['a.comet', 'b.comet']
    >>> files_by_name("--scores COMET", ["comet.tsv#new", "comet.tsv#old"], ["old.txt", "new.txt"])
    ['comet.tsv#old', 'comet.tsv#new']
    >>> files_by_name("--scores COMET", ["1.comet", "b.comet"], ["a.txt", "b.txt"])
    Traceback (most recent call last):
    reshuffle.errors.InputError: --scores COMET: no file is named like 1 of 2 systems: 'a.txt'; left over: ...
    """
    found = same_names(files, systems)
    lost = [display_name(system) for system, at in zip(systems, found, strict=True) if at is None]
    if lost:
        left = [display_name(file) for at, file in enumerate(files) if at not in found]
        raise InputError(
            "{option}: no file is named like {n} of {all} systems: {lost}; left over: {left}; if the files are in the "
            "order of the systems, add {by_position}",
            option=option,
            n=len(lost),
            all=len(systems),
            lost=few(lost),
            left=few(left),
            by_position=BY_POSITION,
        )
    return [files[at] for at in found if at is not None]


def same_names(given: Sequence[str], wanted: Sequence[str]) -> list[int | None]:
    """For each wanted path the index of the given one that is named like it, or None.

    Two paths are named alike if they share a NAME of ``FILE#NAME``, or a file name up to one of its dots, that no
    other path on the same side has. Folders are part of the names if file names do not match all paths.

    >>> same_names(["b.comet", "a.comet"], ["out/a.txt", "out/b.txt"])
    [1, 0]
    >>> same_names(["new/scores", "old/scores"], ["old/out.txt", "new/out.txt"])
    [1, 0]
    >>> same_names(["1", "2"], ["a", "b"])
    [None, None]
    """
    by_file = _matched(given, wanted, False)
    if None not in by_file:
        return by_file
    by_folder = _matched(given, wanted, True)
    return by_folder if by_folder.count(None) < by_file.count(None) else by_file


def _matched(given: Sequence[str], wanted: Sequence[str], with_folders: bool) -> list[int | None]:
    sides = [[_names_in_path(path, with_folders) for path in side] for side in (given, wanted)]
    for side in sides:  # a name that several have identifies none of them
        seen: set[str] = set()
        shared: set[str] = set()
        for names in side:
            shared |= seen & names
            seen |= names
        for names in side:
            names -= shared
    owner = {name: at for at, names in enumerate(sides[0]) for name in names}
    found = [{owner[name] for name in names if name in owner} for names in sides[1]]
    # A file that is named like two systems belongs to none.
    every = [at for each in found for at in each]
    return [each.pop() if len(each) == 1 and every.count(next(iter(each))) == 1 else None for each in found]


def _names_in_path(path: str, with_folders: bool = False) -> set[str]:
    """NAME of ``FILE#NAME``, and the file name up to each of its dots; also with the folder, and the folder alone."""
    file, name = split_name(path)
    stem = "" if file == STDIN else uncompressed(Path(file).name)
    dots = [i for i, character in enumerate(stem) if character == "." and i > 0]
    names = {part for part in (stem, *(stem[:i] for i in dots)) if part}
    folder = Path(file).parent.name if with_folders else ""
    if folder:
        names |= {f"{folder}/{part}" for part in names} | {folder}
    return names | ({name} if name else set())


def check_order(option: object, files: Sequence[str], texts: Sequence[str]) -> None:
    """Raise :class:`InputError` if a file of parses is named like a text in a different position.

    Files are assigned to texts by position, and their names need not be related.

    >>> check_order("--parses", ["p.tsv#a", "p.tsv#b"], ["out/a.txt", "out/b.txt"])
    >>> check_order("--parses", ["b.conllu", "a.conllu"], ["out/a.txt", "out/b.txt"])
    Traceback (most recent call last):
    reshuffle.errors.InputError: --parses: b.conllu is in the position of out/a.txt but named like out/b.txt: ...
    """
    match = _matched(files, texts, False)
    for position, file in enumerate(files):
        if match[position] == position or position not in match:
            continue
        other = match.index(position)
        file, text, like = display_name(file), display_name(texts[position]), display_name(texts[other])
        fix = "put the files in the same order"
        if None not in match and len(set(match)) == len(files):
            fix += f": {' '.join(display_name(files[f]) for f in match if f is not None)}"
        raise InputError(
            "{option}: {file} is in the position of {text} but named like {like}: {fix}",
            option=option,
            file=file,
            text=text,
            like=like,
            fix=fix,
        )
