//! Scripts that tokenize by successive substitutions, in one pass.

use super::char_at;

/// What the substitutions do to a character.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Class {
    /// Part of a word.
    Word,
    /// Part of a word, next to which other characters may stay.
    Number,
    /// White space.
    Space,
    /// Separated by a space on both sides.
    Symbol,
    /// Separated after anything but a number, and before anything but a number.
    Punctuation,
    /// Separated after a number.
    Dash,
    /// For bytes only: begins a character that has to be looked up.
    Lead,
}

/// A script, which is defined by the classes of characters.
pub(crate) trait Script {
    /// Is the line padded with spaces first? Otherwise its ends are neither a number nor anything else.
    const PADDED: bool;
    /// The classes of bytes.
    const CLASSES: [Class; 256];
    /// The class of a character outside ASCII.
    fn class(c: char) -> Class;
}

/// The substitutions, and the split at white space. Every token is a slice of `line`.
///
/// What a substitution does to a character depends only on its neighbours and, for punctuation, on whether the previous
/// character was itself just separated after anything but a number: both characters are consumed then. Therefore one pass
/// that remembers one index does all of them.
pub(crate) fn scan<S: Script>(line: &str, emit: &mut dyn FnMut(&str)) {
    let classes = &const { S::CLASSES };
    let bytes = line.as_bytes();
    let is_number = |i: usize| match classes[bytes[i] as usize] {
        Class::Lead => S::class(char_at(line, i)) == Class::Number,
        class => class == Class::Number,
    };
    let follows_number = |i: usize| match bytes[..i].last() {
        None => false,
        Some(&byte) if byte.is_ascii() => classes[byte as usize] == Class::Number,
        Some(_) => line[..i].chars().next_back().is_some_and(|c| S::class(c) == Class::Number),
    };
    let mut start = 0;
    // The end of the last punctuation that was separated after anything but a number. Nothing precedes the first character,
    // unless the line is padded.
    let mut separated = if S::PADDED { usize::MAX } else { 0 };
    let mut i = 0;
    while i < bytes.len() {
        let (class, width) = match classes[bytes[i] as usize] {
            Class::Word | Class::Number => {
                i += 1;
                continue;
            }
            Class::Lead => {
                let c = char_at(line, i);
                (S::class(c), c.len_utf8())
            }
            class => (class, 1),
        };
        let end = i + width;
        let is_token = match class {
            Class::Space => false,
            Class::Symbol => true,
            Class::Punctuation if i != separated && !follows_number(i) => {
                separated = end;
                true
            }
            Class::Punctuation if if end < bytes.len() { !is_number(end) } else { S::PADDED } => true,
            Class::Dash if follows_number(i) => true,
            _ => {
                i = end;
                continue;
            }
        };
        if start < i {
            emit(&line[start..i]);
        }
        if is_token {
            emit(&line[i..end]);
        }
        i = end;
        start = end;
    }
    if start < bytes.len() {
        emit(&line[start..]);
    }
}
