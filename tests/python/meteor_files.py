"""Small files in the formats of METEOR and WordNet."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

__all__ = ["JAR", "PARAPHRASES", "write_meteor", "write_wordnet", "write_zip"]

JAR = {
    "function/english.words": "the\na\n",
    "nonbreaking/english.prefixes": "Mr\n",
    "synonym/english.synsets": "big\n1 2\nlarge\n2\n",
    "synonym/english.exceptions": "goose\ngeese\n",
}
PARAPHRASES = "0.5\nthe big\na large\n"


def write_meteor(folder: Path, files: Mapping[str, str] = JAR) -> Path:
    """A folder with the files of METEOR's jar, and a table of paraphrases."""
    for name, text in {**files, "data/paraphrase-en.gz": PARAPHRASES}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def write_wordnet(folder: Path) -> Path:
    """A folder with WordNet's dictionary files, which know one noun."""
    folder.mkdir(parents=True)
    for part in ("noun", "verb", "adj", "adv"):
        (folder / f"{part}.exc").write_text("", "utf-8")
        entry = "cat n 1 0 1 0 00000007\n" if part == "noun" else ""
        (folder / f"index.{part}").write_text(f"  1 licence\n{entry}", "utf-8")
    return folder


def write_zip(path: Path, members: Mapping[str, str], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """A zip archive with these members, in a folder that is made if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return path
