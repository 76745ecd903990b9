"""Small files in the formats of NLTK's data: WordNet, and the sentence splitter Punkt."""

from pathlib import Path

__all__ = ["write_nltk_data"]


def write_nltk_data(folder: Path) -> Path:
    """A folder for ``NLTK_DATA``: a WordNet of one noun and its synonym, and a Punkt that knows no abbreviation."""
    punkt = folder / "tokenizers" / "punkt_tab" / "english"
    punkt.mkdir(parents=True)
    for name in ("abbrev_types.txt", "collocations.tab", "ortho_context.tab", "sent_starters.txt"):
        (punkt / name).write_text("", "utf-8")
    wordnet = folder / "corpora" / "wordnet"
    wordnet.mkdir(parents=True)
    licence = "  1 WordNet 3.0 licence\n"
    synset = f"{len(licence):08} 05 n 02 cat 0 true_cat 0 000 | feline mammal\n"
    files = {
        "lexnames": "".join(f"{number:02}\tname.{number}\t1\n" for number in range(45)),
        "index.sense": "",
        "cntlist.rev": "",
        "data.noun": licence + synset,
        "index.noun": f"{licence}cat n 1 0 1 0 {len(licence):08}\n",
    }
    for part in ("noun", "verb", "adj", "adv"):
        files[f"{part}.exc"] = ""
        files.setdefault(f"data.{part}", licence)
        files.setdefault(f"index.{part}", licence)
    for name, text in files.items():
        (wordnet / name).write_text(text, "utf-8", newline="")
    return folder
