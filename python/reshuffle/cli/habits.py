"""Advice for arguments that are right in other tools, or nearly right here."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..errors import InputError, quoted, shortened

_NO_DOWNLOADS = "test sets are not downloaded; run 'sacrebleu -t SET -l PAIR --echo ref > ref.txt' first"
_ALREADY_TESTED = "'reshuffle compare' always tests"

# Options of sacreBLEU and MultEval that have another name here. None of the keys is an option of a command that scores.
OPTIONS: Mapping[str, str] = {
    "--paired-ar": f"{_ALREADY_TESTED}; for approximate randomization add --test ar",
    "--paired-bs": f"{_ALREADY_TESTED}, by the bootstrap unless --test names another test; for sacreBLEU's bootstrap "
    "add --test bootstrap-shift",
    "--paired-ar-n": "use -n",
    "--paired-bs-n": "use -n",
    "--paired-jobs": "use --threads",
    "--confidence-n": "use -n",
    "--input": "outputs of systems are arguments after REF",
    "-i": "outputs of systems are arguments after REF",
    "--hyps-baseline": "use 'reshuffle runs' with --baseline FILE FILE ..., a FILE for each run of the optimizer; with "
    "one run of each system, REF and SYS are arguments, the baseline first: reshuffle compare REF BASELINE SYS",
    "--boot-samples": "use -n",
    "--ar-shuffles": "use -n",
    "--latex": "use --format latex -o FILE",
    "--num-refs": "write each reference to a file of its own and use --refs FILE FILE",
    "--test-set": _NO_DOWNLOADS,
    "-t": _NO_DOWNLOADS,
    "--language-pair": "use --trg-lang, for the language of the texts",
    "-l": "use --trg-lang, for the language of the texts",
    "-tok": "use --tokenize",
    "-lc": "use --lowercase",
    "-s": "use --smooth-method",
    "-sv": "use --smooth-value",
    "--force": "tokenized text gives only a warning, so leave --force out",
    "-sl": "use 'reshuffle score --segments'",
    "--sentence-level": "use 'reshuffle score --segments'",
    "-b": "use 'reshuffle score --format csv'",
    "--score-only": "use 'reshuffle score --format csv'",
    "-f": "use --format",
    "-w": "use --format json for all digits",
    "--width": "use --format json for all digits",
    "--scheme": "use --test ar:scheme=NAME",
    "--stopping": "use --test ar:stopping=NAME",
    "--margin": "write the margin after the test: --test equivalence:METRIC=VALUE",
    "--simultaneous": "use --interval simultaneous",
    "--chrf-char-order": "use --char-order, or -m chrf:char-order=N",
    "--chrf-word-order": "use -m chrf++, --word-order, or -m chrf:word-order=N",
    "--chrf-beta": "use --beta, or -m chrf:beta=X",
    "--chrf-whitespace": "use --whitespace, or -m chrf:whitespace",
    "--chrf-lowercase": "use -m chrf:lowercase, or --lowercase for all metrics",
    "--chrf-eps-smoothing": "use --eps-smoothing, or -m chrf:eps-smoothing",
    "--ter-case-sensitive": "use --case-sensitive, or -m ter:case-sensitive",
    "--ter-asian-support": "use --asian-support, or -m ter:asian-support",
    "--ter-no-punct": "use --no-punct, or -m ter:no-punct",
    "--ter-normalized": "use --normalized, or -m ter:normalized",
}
# Short forms of the same.
OPTIONS = {
    **OPTIONS,
    "-par": OPTIONS["--paired-ar"],
    "-pbs": OPTIONS["--paired-bs"],
    "-parn": OPTIONS["--paired-ar-n"],
    "-pbsn": OPTIONS["--paired-bs-n"],
    "-cin": OPTIONS["--confidence-n"],
    "-nr": OPTIONS["--num-refs"],
    "-ci": "use --confidence 0.95",
    "-cc": OPTIONS["--chrf-char-order"],
    "-cw": OPTIONS["--chrf-word-order"],
}

_SPBLEU = "spBLEU is BLEU with a SentencePiece tokenizer: use -m bleu:tokenize=flores200,tokenizer-model=FILE"
_SCORES = "its scores per segment can be read from files: --scores {name} FILE FILE"
EXTERNAL = ("bertscore", "bleurt", "comet", "cometkiwi", "metricx", "xcomet")

# Names that other tools use, by what they name here.
NAMES: Mapping[str, Mapping[str, str]] = {
    "metric": {
        "spbleu": _SPBLEU,
        "sacrebleu": "use -m bleu",
        "chrfpp": "use -m chrf++",
        "sentence-bleu": "use -m sentbleu",
        **{name: _SCORES.format(name=name) for name in EXTERNAL},
    },
    "--tokenize": {
        "mecab": "use ja-mecab for Japanese, ko-mecab for Korean",
        "spbleu": "use flores200, flores101 or spBLEU-1K",
        "flores": "use flores200 or flores101",
        "moses": "texts should be detokenized; for tokenized texts use none, as multi-bleu.perl does",
    },
}


def check_habits(args: Sequence[str], own: Collection[str] = ()) -> None:
    """Raise :class:`InputError` for an option of another tool, with the one to use here.

    ``own`` are options of the command, which are not meant.
    """
    for arg in args:
        if arg == "--":
            return
        option = arg.split("=", 1)[0]
        if option.startswith("--hyps-sys"):  # of MultEval, with a number
            raise InputError(f"there is no option {option}: use 'reshuffle runs' with --system NAME FILE FILE ...")
        if option in OPTIONS and option not in own:
            raise InputError(f"there is no option {option}: {OPTIONS[option]}")


def name_advice(kind: str, name: str) -> InputError | None:
    """The error for a name that other tools know and reshuffle does not."""
    advice = NAMES.get(kind, {}).get(name.lower())
    return None if advice is None else InputError(f"unknown {kind} {quoted(shortened(name))}: {advice}")
