//! Tokenizers. To add one, write its function and add an entry to [`TOKENIZERS`].

mod intl;
mod mteval_intl;
pub(crate) mod script;
mod unicode;
pub(crate) mod v13a;
mod zh;

use crate::error::{Error, Result};

pub use unicode::unicode_version;

/// Passes the tokens of a line to a function, in order.
type Split = fn(&str, &mut dyn FnMut(&str));

/// How a line is split into tokens.
pub struct Tokenizer {
    /// The name in options and signatures.
    pub name: &'static str,
    /// One line for `--help` and the documentation.
    pub about: &'static str,
    /// Does white space at the end of a line matter? If not, metrics strip it, as sacreBLEU does.
    pub reads_line_ends: bool,
    /// Does the original tool lower-case ASCII only, leaving `Ü` as it is?
    pub lowercases_ascii_only: bool,
    split: Split,
}

impl Tokenizer {
    const fn new(name: &'static str, about: &'static str, split: Split) -> Self {
        Tokenizer { name, about, reads_line_ends: false, lowercases_ascii_only: false, split }
    }

    /// Calls `emit` with every token of `line`, in order. Tokens are not empty, and contain nothing that the tokenizer
    /// treats as white space.
    pub fn tokenize(&self, line: &str, emit: &mut dyn FnMut(&str)) {
        (self.split)(line, emit);
    }
}

/// All tokenizers, in the order of listings.
pub static TOKENIZERS: &[Tokenizer] = &[
    Tokenizer::new("13a", "mteval-v13a, the default of WMT and sacreBLEU", v13a::tokenize),
    Tokenizer::new(
        "intl",
        "mteval-v14's rules for Unicode punctuation, symbols and numbers, as in sacreBLEU",
        intl::tokenize,
    ),
    Tokenizer {
        reads_line_ends: true,
        ..Tokenizer::new(
            "mteval-intl",
            "mteval-v13a.pl --international-tokenization: as intl, with entities decoded",
            mteval_intl::tokenize,
        )
    },
    // It reads bytes: a no-break space (U+00A0) or a line separator (U+2028) is part of a word, also at the end of a line,
    // and so are U+001C to U+001F, as always in Perl. The vertical tab separates since Perl 5.18.
    Tokenizer {
        reads_line_ends: true,
        lowercases_ascii_only: true,
        ..Tokenizer::new(
            "multi-bleu",
            "Moses' multi-bleu.perl: split at ASCII white space only, and lower-case ASCII only",
            split_ascii,
        )
    },
    Tokenizer::new(
        "zh",
        "every Chinese character is a token, the rest by 13a's rules; with sacreBLEU's two mistyped ranges",
        zh::tokenize,
    ),
    Tokenizer::new(
        "zh-fixed",
        "zh with the intended ranges: U+20000 to U+2A6D6 and U+2F800 to U+2FA1D are Chinese",
        zh::tokenize_fixed,
    ),
    Tokenizer::new("char", "every character is a token, white space dropped, as in sacreBLEU", characters),
    Tokenizer::new("none", "split at white space only, for text that is already tokenized", split),
];

/// Looks a tokenizer up by name.
///
/// # Errors
/// [`Error::UnknownName`] with the known names.
pub fn tokenizer(name: &str) -> Result<&'static Tokenizer> {
    let found = TOKENIZERS.iter().find(|t| t.name == name);
    found.ok_or_else(|| Error::unknown("tokenizer", name, TOKENIZERS.iter().map(|t| t.name)))
}

/// White space as in Python's `str.split()` and `str.rstrip()`: Unicode's, and the four ASCII separators.
#[inline]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Punctuation: the general category P of Unicode.
pub(crate) fn is_punctuation(c: char) -> bool {
    unicode::class(c) == script::Class::Punctuation
}

/// White space as in Perl's bytes and Java's `\s`: the six characters of ASCII. `char::is_ascii_whitespace` lacks one of
/// them, the vertical tab.
pub(crate) const fn is_ascii_space(c: char) -> bool {
    matches!(c, '\t'..='\r' | ' ')
}

/// Splits a line at white space of ASCII and calls `emit` with each part.
pub(crate) fn split_ascii(line: &str, emit: &mut dyn FnMut(&str)) {
    line.split(is_ascii_space).filter(|word| !word.is_empty()).for_each(emit);
}

/// The character that begins at a byte.
#[inline]
#[allow(clippy::expect_used, reason = "the byte is the first one of a character")]
pub(crate) fn char_at(line: &str, i: usize) -> char {
    line[i..].chars().next().expect("it begins a character")
}

/// Whether white space begins at a byte of a line, and how many bytes to go on: those of the character, or 1 where no
/// character with more bytes that may be white space begins.
#[inline(always)]
pub(crate) fn space_at(line: &str, i: usize) -> (bool, usize) {
    match line.as_bytes()[i] {
        b'\t'..=b'\r' | 0x1c..=b' ' => (true, 1),
        // The first bytes of the characters outside ASCII that may be white space.
        0xc2 | 0xe1..=0xe3 => {
            let c = char_at(line, i);
            (is_space(c), c.len_utf8())
        }
        _ => (false, 1),
    }
}

/// Splits a line at white space and calls `emit` with each part.
pub(crate) fn split(line: &str, emit: &mut dyn FnMut(&str)) {
    let (mut start, mut i) = (0, 0);
    while i < line.len() {
        let (is_space, width) = space_at(line, i);
        if is_space {
            if start < i {
                emit(&line[start..i]);
            }
            start = i + width;
        }
        i += width;
    }
    if start < line.len() {
        emit(&line[start..]);
    }
}

/// Calls `emit` with each character that is not white space.
fn characters(line: &str, emit: &mut dyn FnMut(&str)) {
    for (start, c) in line.char_indices().filter(|(_, c)| !is_space(*c)) {
        emit(&line[start..start + c.len_utf8()]);
    }
}

#[cfg(test)]
mod testing {
    use super::tokenizer;
    use regex::Regex;
    use std::sync::LazyLock;

    /// Successive substitutions: the slow, obvious implementation of tokenizers that originate as scripts.
    pub type Steps = LazyLock<Vec<(Regex, String)>>;

    /// Compiles patterns, in which a dot matches any character, with their replacements.
    pub fn compile(steps: &[(&str, &str)]) -> Vec<(Regex, String)> {
        steps.iter().map(|(pattern, to)| (Regex::new(&format!("(?s){pattern}")).unwrap(), (*to).into())).collect()
    }

    /// The line after all substitutions.
    pub fn substitute(line: &str, steps: &[(Regex, String)]) -> String {
        steps.iter().fold(line.into(), |line, (pattern, to)| pattern.replace_all(&line, to).into_owned())
    }

    /// The tokens of a line.
    pub fn tokens(name: &str, line: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        tokenizer(name).unwrap().tokenize(line, &mut |token| tokens.push(token.to_owned()));
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::testing::tokens;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn white_space_is_that_of_python_or_of_ascii() {
        let mut ascii = String::new();
        // Later planes have no white space.
        for c in (0..0x2_0000).filter_map(char::from_u32) {
            let line = format!("a{c}b");
            assert_eq!(if is_space(c) { 2 } else { 1 }, tokens("none", &line).len(), "{c:?}");
            if tokens("multi-bleu", &line).len() == 2 {
                ascii.push(c);
            }
        }
        assert_eq!("\t\n\u{b}\u{c}\r ", ascii);
        assert_eq!(["a", "\u{a0}b\u{a0}"], tokens("multi-bleu", "  a \u{a0}b\u{a0} \r").as_slice());
        let line = "a\u{85}b\u{2028}c\u{1c}d\u{3000}e \t f\u{feff}g";
        assert_eq!(["a", "b", "c", "d", "e", "f\u{feff}g"], tokens("none", line).as_slice());
        assert_eq!(["a", "é", "e", "\u{301}", "我", "."], tokens("char", " aé\te\u{301}\u{3000}我. ").as_slice());
    }

    proptest! {
        #![proptest_config(crate::testing::cases(128))]
        #[test]
        fn characters_equal_joining_by_spaces_and_splitting(line in r"\PC{0,20}|[ a\n\u{85}\u{2028}\u{1f}]{0,9}") {
            let joined = line.chars().map(String::from).collect::<Vec<_>>().join(" ");
            prop_assert_eq!(tokens("none", &joined), tokens("char", &line));
        }
    }
}
