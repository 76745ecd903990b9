use super::script::{Class, Script, scan};
use super::unicode::{BYTES, class};

/// sacreBLEU's `intl`: the rules of NIST's `mteval-v14.pl --international-tokenization` for punctuation and symbols,
/// without its decoding of entities.
///
/// The rules are three successive substitutions, then a split at white space:
///
/// 1. `(\P{N})(\p{P})` → `$1 $2 `: separates punctuation that follows anything but a number (both characters are
///    consumed, so punctuation directly after punctuation that was separated here is not considered);
/// 2. `(\p{P})(\P{N})` → ` $1 $2`: separates punctuation that precedes anything but a number;
/// 3. `(\p{S})` → ` $1 `: separates symbols.
///
/// The line is not padded, and its ends are neither a number nor anything else, so `2014.` at the end of a line remains
/// one token. After step 1 no two punctuation marks touch, so step 2 consumes nothing that it would need later.
pub(super) fn tokenize(line: &str, emit: &mut dyn FnMut(&str)) {
    scan::<Intl>(line, emit);
}

struct Intl;

impl Script for Intl {
    const PADDED: bool = false;
    const CLASSES: [Class; 256] = BYTES;

    #[inline]
    fn class(c: char) -> Class {
        class(c)
    }
}
