"""METEOR's normalization as a chain of substitutions on the whole line."""

import re

LETTER = "0-9A-Za-zÀ-ÖØ-öø-ž\u0400-\u0527\u1d00-\u1d7f\ua640-\ua66e\ua67e-\ua697"
ALPHA = LETTER.replace("0-9", "")


def contractions_en(t):
    t = re.sub(f"([^{ALPHA}])'([^{ALPHA}])", r"\1 ' \2", t)
    t = re.sub(f"([^{LETTER}])'([{ALPHA}])", r"\1 ' \2", t)
    t = re.sub(f"([{ALPHA}])'([^{ALPHA}])", r"\1 ' \2", t)
    t = re.sub(f"([{ALPHA}])'([{ALPHA}])", r"\1 '\2", t)
    t = re.sub("([0-9])'(s)", r"\1 '\2", t)
    return t


def contractions_fr(t):
    t = re.sub(f"([^{ALPHA}])'([^{ALPHA}])", r"\1 ' \2", t)
    t = re.sub(f"([^{ALPHA}])'([{ALPHA}])", r"\1 ' \2", t)
    t = re.sub(f"([{ALPHA}])'([^{ALPHA}])", r"\1 ' \2", t)
    t = re.sub(f"([{ALPHA}])'([{ALPHA}])", r"\1' \2", t)
    return t


def normalized(line, prefixes, numeric, lang="en", no_punct=False):
    t = f" {line} "
    t = re.sub("[\u2018\u2019`]", "'", t)
    t = re.sub("''", '"', t)
    t = re.sub("[\u201c\u201d]", '"', t)
    t = re.sub(rf"([^{LETTER} \t\n\x0b\f\r.'`,\-])", r" \1 ", t)
    t = re.sub("\u2013", "-", t)
    t = re.sub(r"(\.\.+)", r" \1 ", t)
    t = re.sub("([^0-9]),([^0-9])", r"\1 , \2", t)
    t = re.sub("([0-9]),([^0-9])", r"\1 , \2", t)
    t = re.sub("([^0-9]),([0-9])", r"\1 , \2", t)
    t = t.replace("--", "-")
    t = re.sub(rf"([{LETTER}.])-([{LETTER}])", r"\1 \2", t)
    if lang == "en":
        t = contractions_en(t)
    elif lang == "fr":
        t = contractions_fr(t)
    else:
        t = t.replace("'", " ' ")
    words = [w for w in re.split("[ \t\n\f\r]", t) if w]
    out = []
    for i, w in enumerate(words):
        m = re.fullmatch(r"(.*[^.])\.", w, re.S)
        if m:
            pre = m[1]
            nxt = words[i + 1] if i + 1 < len(words) else ""
            if re.search(r"\.", pre) and re.search(f"[{ALPHA}]", pre):
                w = w.replace(".", "")
            elif pre in prefixes or re.match("[a-z]", nxt):
                pass
            elif pre in numeric and re.match("[0-9]", nxt):
                pass
            else:
                w = pre + " ."
        out.append(w)
    t = " ".join(out)
    if no_punct:
        t = re.sub(f"[^{LETTER}]", " ", t)
    t = re.sub("[\u00a0\u2000-\u200a\u202f\u205f\u3000]", " ", t)
    t = t.strip("".join(map(chr, range(33))))
    return " ".join(re.split("[ \t\n\f\r]+", t)).lower()
