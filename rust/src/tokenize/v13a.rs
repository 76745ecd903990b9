use super::{Tokenizer, is_space};
use std::borrow::Cow;

/// The tokenization of NIST's `mteval-v13a.pl`, as sacreBLEU's `13a` has it.
///
/// The script is four substitutions, one after the other, over a line padded with spaces:
///
/// 1. a space on both sides of every ASCII punctuation mark but `'`, `,`, `-` and `.`;
/// 2. a period or comma that follows a non-digit gets a space on both sides (the two characters are consumed, so of
///    `..` only the first is seen here);
/// 3. a period or comma that a non-digit follows likewise;
/// 4. a dash that follows a digit likewise.
///
/// What each does to a character depends only on its neighbours and, in step 2, on whether the character before was
/// itself just separated. So one pass with one bit of memory does all four.
pub struct V13a;

impl Tokenizer for V13a {
    fn name(&self) -> &'static str {
        "13a"
    }

    fn about(&self) -> &'static str {
        "mteval-v13a, the default of WMT and sacreBLEU"
    }

    fn tokenize(&self, line: &str, emit: &mut dyn FnMut(&str)) {
        scan(&unescape(line), emit);
    }
}

/// The script's clean-up before its four substitutions. Most lines need none.
fn unescape(line: &str) -> Cow<'_, str> {
    if memchr::memchr3(b'&', b'<', b'\n', line.as_bytes()).is_none() {
        return Cow::Borrowed(line);
    }
    // The order matters: `&amp;lt;` ends as `<`, `&amp;quot;` as `&quot;`.
    let replacements =
        [("<skipped>", ""), ("-\n", ""), ("\n", " "), ("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")];
    let mut line = Cow::Borrowed(line);
    for (from, to) in replacements {
        if line.contains(from) {
            line = Cow::Owned(line.replace(from, to));
        }
    }
    line
}

#[derive(Clone, Copy, PartialEq)]
enum Class {
    /// Part of a word.
    Plain,
    /// ASCII white space.
    Space,
    /// Separated by step 1.
    Symbol,
    /// A period or comma, steps 2 and 3.
    Stop,
    /// A dash, step 4.
    Dash,
    /// The first byte of a character that may be white space outside ASCII.
    Lead,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'\t'..=b'\r' | 0x1c..=b' ' => Class::Space,
            b'\'' => Class::Plain,
            b'.' | b',' => Class::Stop,
            b'-' => Class::Dash,
            b'!'..=b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=b'~' => Class::Symbol,
            0xc2 | 0xe1..=0xe3 => Class::Lead,
            _ => Class::Plain,
        };
        byte += 1;
    }
    classes
};

/// Is it one of the ASCII punctuation marks that step 1 separates?
pub(crate) fn is_symbol(byte: u8) -> bool {
    CLASSES[byte as usize] == Class::Symbol
}

/// The four substitutions. Every token is a slice of `line`.
pub(crate) fn scan(line: &str, emit: &mut dyn FnMut(&str)) {
    let bytes = line.as_bytes();
    let digit_at = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_digit);
    let mut start = 0;
    let mut separated = false; // did step 2 separate the character before this one?
    let mut i = 0;
    while i < bytes.len() {
        let was_separated = std::mem::replace(&mut separated, false);
        let (is_token, width) = match CLASSES[bytes[i] as usize] {
            Class::Plain => {
                i += 1;
                continue;
            }
            Class::Space => (false, 1),
            Class::Symbol => (true, 1),
            Class::Stop => {
                let after_digit = i > 0 && digit_at(i - 1);
                separated = !after_digit && !was_separated;
                if !separated && digit_at(i + 1) {
                    i += 1;
                    continue;
                }
                (true, 1)
            }
            Class::Dash => {
                if i == 0 || !digit_at(i - 1) {
                    i += 1;
                    continue;
                }
                (true, 1)
            }
            Class::Lead => {
                let c = line[i..].chars().next().expect("a lead byte begins a character");
                if !is_space(c) {
                    i += c.len_utf8();
                    continue;
                }
                (false, c.len_utf8())
            }
        };
        if start < i {
            emit(&line[start..i]);
        }
        if is_token {
            emit(&line[i..i + width]);
        }
        i += width;
        start = i;
    }
    if start < bytes.len() {
        emit(&line[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    /// The script's way: four substitutions over the padded line, then a split.
    fn by_substitution(line: &str) -> Vec<String> {
        let steps = [
            (r"([\{-~\[-` -&\(-\+:-@/])", " $1 "),
            (r"([^0-9])([\.,])", "$1 $2 "),
            (r"([\.,])([^0-9])", " $1 $2"),
            (r"([0-9])(-)", "$1 $2 "),
        ];
        let mut line = format!(" {} ", unescape(line));
        for (pattern, replacement) in steps {
            line = Regex::new(&format!("(?s){pattern}")).unwrap().replace_all(&line, replacement).into_owned();
        }
        line.split(is_space).filter(|t| !t.is_empty()).map(str::to_owned).collect()
    }

    fn tokens(line: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        V13a.tokenize(line, &mut |t| tokens.push(t.to_owned()));
        tokens
    }

    #[test]
    fn worked_by_hand() {
        let cases: [(&str, &[&str]); 8] = [
            ("Hello, world.", &["Hello", ",", "world", "."]),
            ("3.14 1,000 5. .5", &["3.14", "1,000", "5", ".", ".", "5"]),
            ("1...5", &["1", ".", ".", ".5"]),
            ("1-2 a-b -3", &["1", "-", "2", "a-b", "-3"]),
            ("don't (stop)!", &["don't", "(", "stop", ")", "!"]),
            ("&quot;a&amp;lt;b&quot;", &["\"", "a", "<", "b", "\""]),
            ("x<skipped>y-\nz", &["xyz"]),
            ("a\u{a0}b\u{2009}.", &["a", "b", "."]),
        ];
        for (line, expected) in cases {
            assert_eq!(expected, tokens(line), "{line:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn one_pass_equals_four_substitutions(line in r"[ .,\-0-9a-b'&;<>\n\u{a0}\u{2028}\u{85}é\u{feff}]{0,24}|\PC{0,40}") {
            prop_assert_eq!(by_substitution(&line), tokens(&line));
        }

        #[test]
        fn escapes_nest_as_in_the_script(line in "(&amp;|&lt;|&quot;|&gt;|quot;|lt;|&|<skipped>|-\n|[a.1-]){0,9}") {
            prop_assert_eq!(by_substitution(&line), tokens(&line));
        }
    }
}
