"""Parser of mteval's SGML files, which are not valid XML.

As in mteval-v13a.pl (mosesdecoder, ``scripts/generic``), tags are found by pattern, in upper or lower case, and
entities are left to the tokenizer. That script silently accepts a segment that is not closed or occurs twice; here that
is an error.
"""

from __future__ import annotations

import re

from ._translations import MTEVAL_LEVELS, MtevalBuilder, Translations

TAG = re.compile(rf"<(/?)({'|'.join(MTEVAL_LEVELS)})(?=[\s>])\s*([^>]*)>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"""(?<![\w:.-])([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")


def read_sgml(text: str, name: str) -> Translations:
    """Parse an SGML file.

    Raises
    ------
    InputError
        If a segment is not closed, an element has no name, a segment occurs twice, or there are no segments. The
        message has file and line.

    Warns
    -----
    InputWarning
        If documents or sets are not closed.

    Examples
    --------
    >>> read_sgml('<tstset><DOC docid="d" sysid=a><seg id="1"> x &amp;\\n y </seg></DOC></tstset>', "a.sgm").segments
    {'a': {('d', '1'): Segment(text='x &amp; y', line=1)}}
    """
    builder = MtevalBuilder(name, names_in="doc")
    line, position, start = 1, 0, 0
    # No tag ends after the last >. Without this limit, matching many unfinished tags would take quadratic time.
    for found in TAG.finditer(text, 0, text.rfind(">") + 1):
        line += text.count("\n", position, found.start())
        position = found.start()
        tag = found[2].lower()
        if not found[1]:
            builder.close_unclosed(MTEVAL_LEVELS[tag])
        elif tag in (element.tag for element in builder.open_elements):
            builder.close_unclosed(MTEVAL_LEVELS[tag] + 1)
        if found[1]:
            builder.close(tag, text[start:position], line)
        else:
            start = found.end()
            attributes = {name.lower(): "".join(values) for name, *values in ATTRIBUTE.findall(found[3])}
            builder.open(tag, attributes, line)
    builder.close_unclosed(0)
    return builder.finish(line + text.count("\n", position, len(text) - 1))
