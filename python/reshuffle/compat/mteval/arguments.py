"""The command line, read as Perl's Getopt::Long reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reshuffle import InputError

HELP = """\
usage: python -m reshuffle.compat.mteval -r REF -s SRC -t TST [options]

NIST's mteval-v13a.pl and mteval-v14.pl with the counts of reshuffle: the same options, files, scores and reports.

  -r FILE                       references (SGML, or XML if the name ends in .xml)
  -s FILE                       source
  -t FILE                       translations of the systems
  -h, --help                    show this text
  -c                            keep upper case
  -b                            BLEU only
  -n                            NIST only
  -d N                          0: systems (default); 1: documents, too; 2: segments, too; 3: n-grams, too
  -e                            spaces around characters outside ASCII, with --international-tokenization
  --brevity-penalty NAME        closest (default) or shortest
  --international-tokenization  tokenize by Unicode's categories
  --metricsMATR                 write BLEU-sys.scr, BLEU-doc.scr, BLEU-seg.scr, and the same for NIST
  --no-smoothing                BLEU without smoothing

not in mteval:
  --mteval-version VERSION      13a (default) or 14

Options may be shortened, and - and -- mean the same.
"""
# As the scripts give them to Getopt::Long: "=s" takes a string; ":s" a string or nothing, ":i" a number or nothing.
SPECIFIED = """
r=s s=s t=s d:i h help b n c x:s e brevity-penalty:s international-tokenization metricsmatr-output no-smoothing
mteval-version=s
"""
KINDS: dict[str, str] = dict(re.findall(r"([\w-]+)(\S*)", SPECIFIED))


@dataclass(frozen=True)
class Options:
    """The options of a run; ``unknown`` has those that are ignored."""

    reference: str
    source: str
    translations: str
    detail: int = 0
    nist: bool = True
    bleu: bool = True
    keep_case: bool = False
    split_non_ascii: bool = False
    shortest: bool = False
    international: bool = False
    matr: bool = False
    smoothing: bool = True
    version: str = "13a"
    unknown: tuple[str, ...] = ()

    @property
    def tokenizer(self) -> str:
        """The name of reshuffle's tokenizer."""
        return "mteval-intl" if self.international else "13a"


def parse(arguments: Sequence[str]) -> Options | None:
    """The options; None if help is asked for.

    Raises
    ------
    InputError
        If a file is not named, or a value is wrong. Unknown options are ignored, as in the scripts.
    """
    given, unknown = _given(arguments)
    if "h" in given or "help" in given:
        return None
    files = []
    for name, what in (("r", "references"), ("s", "source"), ("t", "translations")):
        file = str(given.get(name, ""))
        if file in ("", "0"):
            raise InputError(f"-{name} FILE is missing: name the file of the {what}")
        files.append(file)
    penalty = given.get("brevity-penalty", "closest")
    if penalty not in ("closest", "shortest"):
        raise InputError(f"--brevity-penalty: expected closest or shortest, got {penalty!r}")
    version = str(given.get("mteval-version", "13a")).removeprefix("v")
    if version not in ("13a", "14"):
        raise InputError(f"--mteval-version: expected 13a or 14, got {version!r}")
    reference, source, translations = files
    return Options(
        reference,
        source,
        translations,
        detail=int(given.get("d", 0)),
        nist="n" in given or "b" not in given,
        bleu="n" not in given,
        keep_case="c" in given,
        split_non_ascii="e" in given,
        shortest=penalty == "shortest",
        international="international-tokenization" in given,
        matr="metricsmatr-output" in given,
        smoothing="no-smoothing" not in given,
        version=version,
        unknown=tuple(unknown),
    )


def _given(arguments: Sequence[str]) -> tuple[dict[str, str | int], list[str]]:
    """The value of each option, and unknown options. Arguments that are not options are ignored."""
    given: dict[str, str | int] = {}
    unknown = []
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            break
        found = re.fullmatch(r"--?([^=\s-][^=]*)(=.*)?", argument, re.DOTALL)
        if found is None:
            continue
        name = _full_name(found[1])
        if name is None:
            unknown.append(argument)
            continue
        value = None if found[2] is None else found[2][1:]
        given[name] = _value(name, value, rest)
    return given, unknown


def _full_name(text: str) -> str | None:
    """The option of this name, or the only one that begins with it, in upper or lower case."""
    text = text.lower()
    if text in KINDS:
        return text
    names = [name for name in KINDS if name.startswith(text)]
    if len(names) > 1:
        raise InputError(f"the option -{text} is ambiguous: {', '.join(names)}")
    return names[0] if names else None


def _value(name: str, value: str | None, rest: list[str]) -> str | int:
    kind = KINDS[name]
    if not kind:
        if value is not None:
            raise InputError(f"-{name} does not take a value, got {value!r}")
        return 1
    if kind == "=s":
        if value is None and not rest:
            raise InputError(f"-{name} needs a value")
        return rest.pop(0) if value is None else value
    if kind == ":s":
        if value is not None:
            return value
        return rest.pop(0) if rest and not re.match(r"--?.", rest[0]) else ""
    if value is None:
        value = rest.pop(0) if rest and re.fullmatch(r"[-+]?\d{1,9}", rest[0], re.ASCII) else "0"
    if not re.fullmatch(r"[-+]?\d{1,9}", value, re.ASCII):
        raise InputError(f"-{name}: expected a whole number, got {value!r}")
    return int(value)
