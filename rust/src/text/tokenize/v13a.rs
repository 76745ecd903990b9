use super::is_space;
use super::script::{Class, Script, scan};
use std::borrow::Cow;

/// The tokenization of NIST's `mteval-v13a.pl`, as implemented by sacreBLEU's `13a`.
///
/// The script makes four successive substitutions in a line padded with spaces:
///
/// 1. every ASCII punctuation mark except `'`, `,`, `-` and `.` gets a space on both sides;
/// 2. a period or comma after a non-digit gets a space on both sides (both characters are consumed, so in `..` only the
///    first is considered here);
/// 3. so does a period or comma before a non-digit;
/// 4. so does a dash after a digit.
///
/// Outside the four substitutions, the script differs from sacreBLEU, and from this, in two ways. It splits at Perl's
/// `\s`, which lacks U+001C to U+001F, the four ASCII separators; text files do not contain them and XML may not. And
/// it lower-cases after decoding entities, so `&AMP;` stays as it is.
pub(super) fn tokenize(line: &str, emit: &mut dyn FnMut(&str)) {
    scan::<V13a>(&unescape(line), emit);
}

/// The script's clean-up before its four substitutions. Most lines need none.
fn unescape(line: &str) -> Cow<'_, str> {
    if memchr::memchr3(b'&', b'<', b'\n', line.as_bytes()).is_none() {
        return Cow::Borrowed(line);
    }
    replace(line, [("<skipped>", ""), ("-\n", ""), ("\n", " ")].iter().chain(&ENTITIES))
}

/// Entities and their replacements. The order matters: `&amp;lt;` becomes `<`, but `&amp;quot;` becomes `&quot;`.
pub(crate) const ENTITIES: [(&str, &str); 4] = [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")];

/// Replaces each first string by the second, one pair after another.
pub(crate) fn replace<'l, 'p>(
    line: &'l str,
    pairs: impl IntoIterator<Item = &'p (&'static str, &'static str)>,
) -> Cow<'l, str> {
    let mut line = Cow::Borrowed(line);
    for (from, to) in pairs {
        if line.contains(from) {
            line = Cow::Owned(line.replace(from, to));
        }
    }
    line
}

/// The substitutions of `mteval-v13a.pl` themselves.
pub(crate) struct V13a;

impl Script for V13a {
    const PADDED: bool = true;
    const CLASSES: [Class; 256] = ASCII;

    #[inline]
    fn class(c: char) -> Class {
        if is_space(c) { Class::Space } else { Class::Word }
    }
}

/// The classes of ASCII, and of the first bytes of white space outside ASCII.
pub(crate) const ASCII: [Class; 256] = {
    let mut classes = [Class::Word; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'\t'..=b'\r' | 0x1c..=b' ' => Class::Space,
            b'0'..=b'9' => Class::Number,
            b'\'' => Class::Word,
            b'.' | b',' => Class::Punctuation,
            b'-' => Class::Dash,
            b'!'..=b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=b'~' => Class::Symbol,
            0xc2 | 0xe1..=0xe3 => Class::Lead,
            _ => Class::Word,
        };
        byte += 1;
    }
    classes
};

/// Is it an ASCII punctuation mark that step 1 separates?
pub(crate) fn is_symbol(byte: u8) -> bool {
    ASCII[byte as usize] == Class::Symbol
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::text::tokenize::testing::{Steps, compile, substitute, tokens};
    use proptest::prelude::*;

    /// The script's implementation: four substitutions, then a split.
    pub fn four_substitutions(line: &str) -> Vec<String> {
        static STEPS: Steps = Steps::new(|| {
            compile(&[
                (r"([\{-~\[-` -&\(-\+:-@/])", " $1 "),
                (r"([^0-9])([\.,])", "$1 $2 "),
                (r"([\.,])([^0-9])", " $1 $2"),
                (r"([0-9])(-)", "$1 $2 "),
            ])
        });
        substitute(line, &STEPS).split(is_space).filter(|t| !t.is_empty()).map(str::to_owned).collect()
    }

    fn by_substitution(line: &str) -> Vec<String> {
        four_substitutions(&format!(" {} ", unescape(line)))
    }

    proptest! {
        #![proptest_config(crate::testing::cases(200))]

        #[test]
        fn one_pass_equals_four_substitutions(line in r"[ .,\-0-9a-b'&;<>\n\u{a0}\u{2028}\u{85}é\u{feff}]{0,24}|\PC{0,40}") {
            prop_assert_eq!(by_substitution(&line), tokens("13a", &line));
        }

        #[test]
        fn escapes_nest_as_in_the_script(line in "(&amp;|&lt;|&quot;|&gt;|quot;|lt;|&|<skipped>|-\n|[a.1-]){0,9}") {
            prop_assert_eq!(by_substitution(&line), tokens("13a", &line));
        }
    }
}
