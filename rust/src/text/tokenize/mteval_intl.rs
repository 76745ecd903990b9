use super::script::{Class, Script, scan};
use super::unicode::{BYTES, class};
use super::v13a::{ENTITIES, replace};
use std::borrow::Cow;

/// `mteval-v13a.pl --international-tokenization`: a clean-up, then the rules of [`intl`](super::intl::tokenize).
///
/// The clean-up drops `<skipped>`, joins words that are split by a hyphen and a line separator (U+2028), and decodes
/// entities, including `&apos;`. The script then squeezes `\p{Z}` and splits at Perl's `\s`, which has all of Python's
/// white space except U+001C to U+001F; here, too, these four are part of a word. White space at the ends of a line
/// matters: the full stop of a final `2014. ` is separated, that of a final `2014.` is not.
///
/// The script lower-cases after decoding entities; the option `lowercase` of a metric lower-cases before. This matters
/// only for entities and tags in capitals: the script turns `AT&AMP;T` into `at&amp;t`, whereas here `&amp;` is
/// decoded.
pub(super) fn tokenize(line: &str, emit: &mut dyn FnMut(&str)) {
    scan::<MtevalIntl>(&clean(line), emit);
}

struct MtevalIntl;

impl Script for MtevalIntl {
    const PADDED: bool = false;
    /// Perl's `\s` lacks four of Python's white space characters.
    const CLASSES: [Class; 256] = {
        let mut classes = BYTES;
        let mut byte = 0x1c;
        while byte <= 0x1f {
            classes[byte] = Class::Word;
            byte += 1;
        }
        classes
    };

    #[inline]
    fn class(c: char) -> Class {
        class(c)
    }
}

/// Unicode's property Hyphen. It is deprecated, so this list will not grow.
const HYPHENS: [char; 11] = [
    '-', '\u{ad}', '\u{58a}', '\u{1806}', '\u{2010}', '\u{2011}', '\u{2e17}', '\u{30fb}', '\u{fe63}', '\u{ff0d}',
    '\u{ff65}',
];

fn clean(line: &str) -> Cow<'_, str> {
    let line = replace(line, &[("<skipped>", "")]);
    let line = if line.contains('\u{2028}') { Cow::Owned(join(&line)) } else { line };
    match memchr::memchr(b'&', line.as_bytes()) {
        Some(_) => Cow::Owned(replace(&line, ENTITIES.iter().chain(&[("&apos;", "'")])).into_owned()),
        None => line,
    }
}

/// Removes line separators that follow a hyphen, together with the hyphen, and replaces the others by spaces.
fn join(line: &str) -> String {
    let mut joined = String::with_capacity(line.len());
    let mut parts = line.split('\u{2028}').peekable();
    while let Some(part) = parts.next() {
        match part.strip_suffix(HYPHENS) {
            Some(cut) if parts.peek().is_some() => joined.push_str(cut),
            _ => {
                joined.push_str(part);
                joined.push(' ');
            }
        }
    }
    joined.pop(); // the last part always adds one space too many
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokenize::testing::{Steps, compile, substitute, tokens};
    use proptest::prelude::*;

    /// The script's implementation: successive substitutions.
    fn by_substitution(line: &str) -> Vec<String> {
        static STEPS: Steps = Steps::new(|| {
            let hyphens: String = HYPHENS.iter().map(|&c| format!(r"\u{{{:x}}}", c as u32)).collect();
            compile(&[
                ("<skipped>", ""),
                (&format!(r"[{hyphens}]\p{{Zl}}"), ""),
                (r"\p{Zl}", " "),
                ("&quot;", "\""),
                ("&amp;", "&"),
                ("&lt;", "<"),
                ("&gt;", ">"),
                ("&apos;", "'"),
                (r"(\P{N})(\p{P})", "$1 $2 "),
                (r"(\p{P})(\P{N})", " $1 $2"),
                (r"(\p{S})", " $1 "),
                (r"\p{Z}+", " "),
            ])
        });
        let line = substitute(line, &STEPS);
        line.split(char::is_whitespace).filter(|t| !t.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn worked_by_hand() {
        let cases: [(&str, &[&str]); 10] = [
            ("AT&amp;T&apos;s", &["AT", "&", "T", "'", "s"]),
            ("AT&AMP;T", &["AT", "&", "AMP", ";", "T"]),
            ("&amp;apos;&amp;lt;&amp;quot;", &["'", "<", "&", "quot", ";"]),
            ("x<skipped>y", &["xy"]),
            ("in\u{2010}\u{2028}ner --\u{2028}\u{2028}b", &["inner", "-", "b"]),
            ("in 2014.", &["in", "2014."]),
            ("in 2014. ", &["in", "2014", "."]),
            (" -5", &["-", "5"]),
            ("-5", &["-5"]),
            ("a\u{1c}b\u{85}c", &["a\u{1c}b", "c"]),
        ];
        for (line, expected) in cases {
            assert_eq!(expected, tokens("mteval-intl", line), "{line:?}");
        }
    }

    proptest! {
        #![proptest_config(crate::testing::cases(200))]

        #[test]
        fn one_pass_equals_the_substitutions(line in r"[ .,\-0-9a'&;€½—\n\u{a0}\u{2028}\u{ad}\u{85}\u{1e}]{0,24}|\PC{0,40}") {
            prop_assert_eq!(by_substitution(&line), tokens("mteval-intl", &line));
        }

        #[test]
        fn escapes_nest_as_in_the_script(line in "(&amp;|&lt;|&quot;|&gt;|&apos;|quot;|apos;|&|<skipped>|-|\u{2028}|[a.1]){0,9}") {
            prop_assert_eq!(by_substitution(&line), tokens("mteval-intl", &line));
        }
    }
}
