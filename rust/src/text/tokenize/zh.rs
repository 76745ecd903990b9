use super::is_space;
use super::script::{Class, Script, scan};
use super::v13a::ASCII;

/// sacreBLEU's `zh` (by Shujian Huang): every Chinese character is a token, and the rest is tokenized by the
/// substitutions of [`13a`](super::v13a::tokenize), without its padding and entities.
///
/// Chinese characters are defined by ranges, two of which are mistyped: `'\u20000'` is not U+20000 but U+2000 followed
/// by a zero. Because ranges are compared as strings, they become U+2001 to U+2A6D, which contains general punctuation,
/// currency signs, arrows and mathematics, and U+2F81 to U+2FA1; Extension B and the compatibility supplement are left
/// out. `zh` has these ranges, so that its scores are sacreBLEU's; `zh-fixed` has the intended ones.
pub(super) fn tokenize(line: &str, emit: &mut dyn FnMut(&str)) {
    scan::<Zh>(line.trim_matches(is_space), emit);
}

/// [`tokenize`] with the ranges that its author intended.
pub(super) fn tokenize_fixed(line: &str, emit: &mut dyn FnMut(&str)) {
    scan::<ZhFixed>(line.trim_matches(is_space), emit);
}

struct Zh;

struct ZhFixed;

impl Script for Zh {
    const PADDED: bool = false;
    const CLASSES: [Class; 256] = BYTES;

    #[inline]
    fn class(c: char) -> Class {
        class(c, matches!(c, '\u{2001}'..='\u{2a6d}' | '\u{2f81}'..='\u{2fa1}'))
    }
}

impl Script for ZhFixed {
    const PADDED: bool = false;
    const CLASSES: [Class; 256] = BYTES;

    #[inline]
    fn class(c: char) -> Class {
        class(c, matches!(c, '\u{20000}'..='\u{2a6d6}' | '\u{2f800}'..='\u{2fa1d}'))
    }
}

#[inline]
fn class(c: char, is_disputed: bool) -> Class {
    if is_space(c) {
        Class::Space
    } else if is_disputed || is_chinese(c) {
        Class::Symbol
    } else {
        Class::Word
    }
}

/// The ranges that both tokenizers have in common.
#[inline]
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{2600}'..='\u{27bf}' // miscellaneous symbols, dingbats
        | '\u{2e80}'..='\u{2eff}' // radicals
        | '\u{2f00}'..='\u{2fdf}'
        | '\u{2ff0}'..='\u{2fff}' // ideographic description characters
        | '\u{3000}'..='\u{303f}' // punctuation
        | '\u{3100}'..='\u{312f}' // bopomofo
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31c0}'..='\u{31ef}' // strokes
        | '\u{3200}'..='\u{33ff}' // enclosed characters, units
        | '\u{3400}'..='\u{4db5}' // Extension A
        | '\u{4e00}'..='\u{9fbb}' // unified ideographs
        | '\u{f900}'..='\u{fa2d}' // compatibility ideographs
        | '\u{fa30}'..='\u{fa6a}'
        | '\u{fa70}'..='\u{fad9}'
        | '\u{fe10}'..='\u{fe1f}' // vertical forms
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}' // full and half width
    )
}

/// The first bytes of white space and of all ranges.
const BYTES: [Class; 256] = {
    let mut classes = ASCII;
    let mut byte = 0xe1;
    while byte <= 0xf0 {
        classes[byte] = Class::Lead;
        byte += 1;
    }
    classes
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_cover_every_range() {
        for c in '\u{80}'..=char::MAX {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes);
            let looked_up = BYTES[bytes[0] as usize] == Class::Lead;
            assert!(looked_up || (Zh::class(c) == Class::Word && ZhFixed::class(c) == Class::Word), "{c:?}");
        }
    }
}
