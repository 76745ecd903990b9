//! The Unicode character classes that tokenization rules refer to.
//!
//! The tables are those of `unicode-properties`, by the unicode-rs group. It follows Unicode soonest (18.0 when
//! `unicode-general-category` had 16.0), exports its version, and has no dependencies, unlike `icu_properties`. A
//! look-up is a search in three thousand ranges, so its results are cached here, one page of characters at a time.

use super::is_space;
use super::script::Class;
use std::sync::OnceLock;
use unicode_properties::{GeneralCategoryGroup as Group, UnicodeGeneralCategory};

/// The version of Unicode that the classes are taken from.
pub fn unicode_version() -> String {
    let (major, minor, update) = unicode_properties::UNICODE_VERSION;
    format!("{major}.{minor}.{update}")
}

const PAGE: usize = 256;

/// The class of a character: `\p{N}`, `\p{P}`, `\p{S}`, or white space as in Python, which includes all of `\p{Z}`. Letters,
/// marks, unassigned characters and other controls are parts of words.
#[inline]
pub(super) fn class(c: char) -> Class {
    static PAGES: [OnceLock<Box<[Class; PAGE]>>; 0x11_0000 / PAGE] = [const { OnceLock::new() }; 0x11_0000 / PAGE];
    let (page, place) = (c as usize / PAGE, c as usize % PAGE);
    PAGES[page].get_or_init(|| {
        let nth = |place: usize| char::from_u32((page * PAGE + place) as u32).map_or(Class::Word, look_up);
        Box::new(std::array::from_fn(nth))
    })[place]
}

fn look_up(c: char) -> Class {
    match c.general_category_group() {
        _ if is_space(c) => Class::Space,
        Group::Number => Class::Number,
        Group::Punctuation => Class::Punctuation,
        Group::Symbol => Class::Symbol,
        _ => Class::Word,
    }
}

/// The classes of bytes: those of ASCII characters, and which first bytes begin a character that has to be looked up.
pub(super) const BYTES: [Class; 256] = {
    let mut classes = [Class::Word; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'\t'..=b'\r' | 0x1c..=b' ' => Class::Space,
            b'0'..=b'9' => Class::Number,
            b'$' | b'+' | b'<'..=b'>' | b'^' | b'`' | b'|' | b'~' => Class::Symbol,
            b'!'..=b'/' | b':'..=b'@' | b'['..=b'_' | b'{' | b'}' => Class::Punctuation,
            // These blocks contain letters only: Latin from U+0100 to U+02BF, ideographs from U+5000, Hangul from
            // U+B000.
            0xc4..=0xca | 0xe5..=0xe9 | 0xeb..=0xec => Class::Word,
            0xc2.. => Class::Lead,
            _ => Class::Word,
        };
        byte += 1;
    }
    classes
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_classes_of_bytes_are_those_of_their_characters() {
        for c in '\0'..=char::MAX {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes);
            match BYTES[bytes[0] as usize] {
                Class::Lead => assert!(!c.is_ascii()),
                expected => assert_eq!(expected, class(c), "{c:?}"),
            }
        }
    }

    #[test]
    fn all_separators_are_white_space() {
        for c in '\0'..=char::MAX {
            assert!(c.general_category_group() != Group::Separator || class(c) == Class::Space, "{c:?}");
        }
    }
}
