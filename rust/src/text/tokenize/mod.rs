//! Tokenizers. To add one, write a file here and add an entry to [`TOKENIZERS`].

mod char;
mod intl;
mod mteval_intl;
mod multi_bleu;
mod none;
mod unicode;
pub(crate) mod v13a;
mod zh;

use crate::error::{Error, Result};

pub use self::char::Char;
pub use intl::Intl;
pub use mteval_intl::MtevalIntl;
pub use multi_bleu::MultiBleu;
pub use none::NoTokenizer;
pub use unicode::unicode_version;
pub use v13a::V13a;
pub use zh::{Zh, ZhFixed};

/// Splits a line into tokens.
pub trait Tokenizer: Sync {
    /// The name in options and signatures.
    fn name(&self) -> &'static str;
    /// One line for `--help` and the documentation.
    fn about(&self) -> &'static str;
    /// Calls `emit` with every token of `line`, in order. Tokens are not empty, and contain nothing that the tokenizer
    /// treats as white space.
    fn tokenize(&self, line: &str, emit: &mut dyn FnMut(&str));
    /// Does white space at the end of a line matter? If not, metrics strip it, as sacreBLEU does.
    fn reads_line_ends(&self) -> bool {
        false
    }
    /// Does the original tool lower-case ASCII only, leaving `Ü` as it is?
    fn lowercases_ascii_only(&self) -> bool {
        false
    }
}

/// All tokenizers, in the order of listings.
pub static TOKENIZERS: &[&dyn Tokenizer] = &[&V13a, &Intl, &MtevalIntl, &MultiBleu, &Zh, &ZhFixed, &Char, &NoTokenizer];

/// Looks a tokenizer up by name.
///
/// # Errors
/// [`Error::UnknownName`] with the known names.
pub fn tokenizer(name: &str) -> Result<&'static dyn Tokenizer> {
    TOKENIZERS
        .iter()
        .find(|t| t.name() == name)
        .copied()
        .ok_or_else(|| Error::unknown("tokenizer", name, TOKENIZERS.iter().map(|t| t.name())))
}

/// White space as in Python's `str.split()` and `str.rstrip()`: Unicode's, and the four ASCII separators.
#[inline]
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Punctuation: the general category P of Unicode.
pub(crate) fn is_punctuation(c: char) -> bool {
    unicode::class(c) == unicode::Class::Punctuation
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

#[cfg(test)]
mod testing {
    use super::Tokenizer;
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
    pub fn tokens(tokenizer: &dyn Tokenizer, line: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        tokenizer.tokenize(line, &mut |token| tokens.push(token.to_owned()));
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_that_of_python() {
        for c in (0..0x11_0000).filter_map(char::from_u32) {
            let expected = if is_space(c) { 2 } else { 1 };
            let mut words = 0;
            split(&format!("a{c}b"), &mut |_| words += 1);
            assert_eq!(expected, words, "{c:?}");
        }
    }
}
