use super::char_at;
use super::unicode::{BYTES, Class, class};

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
/// Therefore one pass that remembers one index does all three steps.
pub(super) fn tokenize(line: &str, emit: &mut dyn FnMut(&str)) {
    scan(line, &BYTES, emit);
}

/// The three substitutions in one pass. `bytes` are the classes of bytes; all white space outside ASCII separates.
pub(super) fn scan(line: &str, bytes: &[Class; 256], emit: &mut dyn FnMut(&str)) {
    let text = line.as_bytes();
    let class_at = |i: usize| match bytes[text[i] as usize] {
        Class::Lead => class(char_at(line, i)),
        class => class,
    };
    let number_before = |i: usize| match text[i - 1] {
        byte @ 0..0x80 => bytes[byte as usize] == Class::Number,
        _ => line[..i].chars().next_back().is_some_and(|c| class(c) == Class::Number),
    };
    let mut start = 0;
    let mut set_apart = 0; // the end of the last punctuation of step 1; 0 because nothing precedes the line
    let mut i = 0;
    while i < text.len() {
        let (class, width) = match bytes[text[i] as usize] {
            Class::Word | Class::Number => {
                i += 1;
                continue;
            }
            Class::Lead => {
                let c = char_at(line, i);
                (class(c), c.len_utf8())
            }
            class => (class, 1),
        };
        let end = i + width;
        let is_token = match class {
            Class::Space => false,
            Class::Symbol => true,
            Class::Punctuation if i != set_apart && !number_before(i) => {
                set_apart = end;
                true
            }
            Class::Punctuation if end < text.len() && class_at(end) != Class::Number => true,
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
    if start < text.len() {
        emit(&line[start..]);
    }
}

#[cfg(test)]
mod tests {
    use crate::text::tokenize::is_space;
    use crate::text::tokenize::testing::{Steps, compile, substitute, tokens};
    use proptest::prelude::*;

    /// sacreBLEU's implementation: three substitutions, then a split.
    fn by_substitution(line: &str) -> Vec<String> {
        static STEPS: Steps = Steps::new(|| {
            compile(&[(r"(\P{N})(\p{P})", "$1 $2 "), (r"(\p{P})(\P{N})", " $1 $2"), (r"(\p{S})", " $1 ")])
        });
        substitute(line, &STEPS).split(is_space).filter(|t| !t.is_empty()).map(str::to_owned).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn one_pass_equals_three_substitutions(line in r"[ .,0-9a'€½、—äé\n\u{a0}\u{2028}一각]{0,24}|\PC{0,40}") {
            prop_assert_eq!(by_substitution(&line), tokens("intl", &line));
        }
    }
}
