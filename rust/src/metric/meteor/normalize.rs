//! Tokenization and normalization of lines.
//!
//! METEOR's normalization is a chain of substitutions in the whole line, like Moses' tokenizer. Each of them consumes the
//! characters that it looks at, so `a-b-c` becomes `a b-c`. In short:
//!
//! 1. every symbol gets a space on both sides, except `. , ' -`; quotes and dashes become ASCII; dots in a row stay
//!    together;
//! 2. commas are separated, except between digits; `--` becomes `-`; hyphens within words become spaces;
//! 3. contractions are split at their apostrophes: on the left in English, on the right in French, elsewhere on both;
//! 4. a dot at the end of a word is separated, unless an abbreviation stands before it or a lower-case letter follows;
//!    abbreviations with several dots lose them;
//! 5. with `no_punct`, everything but letters and digits is removed; then the case is changed.

use memchr::memchr_iter;

use super::settings::Settings;
use super::words::Prefixes;
use crate::metric::text::cased;

/// Splits lines into words.
pub(super) struct Normalizer {
    lowercase: bool,
    /// Separates punctuation, if requested.
    punctuation: Option<Punctuation>,
}

struct Punctuation {
    /// Words before a dot that does not end a sentence.
    prefixes: Prefixes,
    apostrophes: Apostrophes,
    /// Is it removed?
    removed: bool,
}

/// The side on which words are split at an apostrophe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Apostrophes {
    /// `it's` becomes `it 's`.
    Left,
    /// `l'eau` becomes `l' eau`.
    Right,
    Both,
}

impl Normalizer {
    pub(super) fn new(settings: &Settings, prefixes: Prefixes) -> Self {
        let apostrophes = match settings.language.code {
            "en" => Apostrophes::Left,
            "fr" => Apostrophes::Right,
            _ => Apostrophes::Both,
        };
        let punctuation = Punctuation { prefixes, apostrophes, removed: settings.no_punct };
        Normalizer { lowercase: settings.lowercase, punctuation: settings.normalized.then_some(punctuation) }
    }

    /// Calls `emit` with every word of a line.
    pub(super) fn words(&self, line: &str, emit: &mut dyn FnMut(&str)) {
        let separated = self.punctuation.as_ref().map(|punctuation| punctuation.separate(line));
        // The normalization cuts off control characters at both ends, too.
        let line = separated.as_deref().map_or(line, |separated| separated.trim_matches(|c| c <= ' '));
        let mut lower = String::new();
        cased(line, self.lowercase || self.punctuation.is_some(), &mut lower).split_ascii_whitespace().for_each(emit);
    }
}

/// What replaces a sign between two characters, if it is replaced.
type Rule = fn(char, char) -> Option<&'static str>;

const COMMAS: [Rule; 3] = [
    |before, after| (!before.is_ascii_digit() && !after.is_ascii_digit()).then_some(" , "),
    |before, after| (before.is_ascii_digit() && !after.is_ascii_digit()).then_some(" , "),
    |before, after| (!before.is_ascii_digit() && after.is_ascii_digit()).then_some(" , "),
];

const HYPHENS: Rule = |before, after| ((is_word(before) || before == '.') && is_word(after)).then_some(" ");

const ENGLISH_APOSTROPHES: [Rule; 5] = [
    |before, after| (!is_letter(before) && !is_letter(after)).then_some(" ' "),
    |before, after| (!is_word(before) && is_letter(after)).then_some(" ' "),
    |before, after| (is_letter(before) && !is_letter(after)).then_some(" ' "),
    |before, after| (is_letter(before) && is_letter(after)).then_some(" '"),
    // As in 1990's.
    |before, after| (before.is_ascii_digit() && after == 's').then_some(" '"),
];

const FRENCH_APOSTROPHES: [Rule; 4] = [
    |before, after| (!is_letter(before) && !is_letter(after)).then_some(" ' "),
    |before, after| (!is_letter(before) && is_letter(after)).then_some(" ' "),
    |before, after| (is_letter(before) && !is_letter(after)).then_some(" ' "),
    |before, after| (is_letter(before) && is_letter(after)).then_some("' "),
];

impl Punctuation {
    fn separate(&self, line: &str) -> String {
        let (mut text, mut spare) = (String::with_capacity(line.len() * 3 / 2 + 2), String::new());
        separate_symbols(line, &mut text);
        COMMAS.iter().for_each(|rule| substitute(&mut text, &mut spare, b',', *rule));
        if text.contains("--") {
            text = text.replace("--", "-");
        }
        substitute(&mut text, &mut spare, b'-', HYPHENS);
        match self.apostrophes {
            Apostrophes::Left => {
                ENGLISH_APOSTROPHES.iter().for_each(|rule| substitute(&mut text, &mut spare, b'\'', *rule));
            }
            Apostrophes::Right => {
                FRENCH_APOSTROPHES.iter().for_each(|rule| substitute(&mut text, &mut spare, b'\'', *rule));
            }
            Apostrophes::Both if text.contains('\'') => text = text.replace('\'', " ' "),
            Apostrophes::Both => {}
        }
        spare.clear();
        self.separate_final_dots(&text, &mut spare);
        if self.removed {
            return spare.chars().map(|c| if is_word(c) { c } else { ' ' }).collect();
        }
        spare
    }

    fn separate_final_dots(&self, text: &str, out: &mut String) {
        let mut words = text.split_ascii_whitespace().peekable();
        while let Some(word) = words.next() {
            let next = words.peek().and_then(|next| next.bytes().next()).unwrap_or(0);
            match word.strip_suffix('.') {
                Some(stem) if !stem.is_empty() && !stem.ends_with('.') => {
                    if stem.contains('.') && stem.contains(is_letter) {
                        out.extend(stem.split('.'));
                    } else if next.is_ascii_lowercase() || self.prefixes.contain(stem, next.is_ascii_digit()) {
                        out.push_str(word);
                    } else {
                        out.push_str(stem);
                        out.push_str(" .");
                    }
                }
                // Up to here, spaces that are not ASCII are words: a dot before them does end a sentence.
                _ if word.starts_with(is_wide_space) => {}
                _ => out.push_str(word),
            }
            out.push(' ');
        }
    }
}

/// Appends the line with a space at both ends and around symbols and dots in a row. Quotes and dashes become ASCII.
fn separate_symbols(line: &str, out: &mut String) {
    out.push(' ');
    let (mut copied, mut chars) = (0, line.char_indices().peekable());
    while let Some((i, c)) = chars.next() {
        if is_word(c) || matches!(c, ' ' | '\t'..='\r' | ',' | '-') {
            continue;
        }
        let mut end = i + c.len_utf8();
        let mut same =
            |like: fn(char) -> bool| chars.next_if(|&(_, next)| like(next)).map(|(j, next)| j + next.len_utf8());
        let (symbol, is_apart) = match c {
            '.' => {
                while let Some(further) = same(|next| next == '.') {
                    end = further;
                }
                (&line[i..end], end > i + 1)
            }
            _ if is_apostrophe(c) => match same(is_apostrophe) {
                Some(further) => {
                    end = further;
                    ("\"", true)
                }
                None => ("'", false),
            },
            '“' | '”' => ("\"", true),
            '–' => ("-", true),
            _ => (&line[i..end], true),
        };
        out.push_str(&line[copied..i]);
        let around = if is_apart { " " } else { "" };
        [around, symbol, around].iter().for_each(|piece| out.push_str(piece));
        copied = end;
    }
    out.push_str(&line[copied..]);
    out.push(' ');
}

/// Applies a rule to every sign that has a character on both sides. The character after a sign that is replaced counts
/// for no other sign.
fn substitute(text: &mut String, spare: &mut String, sign: u8, rule: Rule) {
    let (mut copied, mut free) = (0, 0);
    spare.clear();
    for i in memchr_iter(sign, text.as_bytes()) {
        let (Some(before), Some(after)) = (text[free.min(i)..i].chars().next_back(), text[i + 1..].chars().next())
        else {
            continue;
        };
        if let Some(replacement) = rule(before, after) {
            spare.push_str(&text[copied..i]);
            spare.push_str(replacement);
            (copied, free) = (i + 1, i + 1 + after.len_utf8());
        }
    }
    if copied > 0 {
        spare.push_str(&text[copied..]);
        std::mem::swap(text, spare);
    }
}

/// The characters of words, for METEOR: ASCII, accented Latin and Cyrillic letters, phonetic signs, and digits.
#[inline]
fn is_word(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { is_letter(c) }
}

#[inline]
fn is_letter(c: char) -> bool {
    match c {
        'a'..='z' | 'A'..='Z' => true,
        '×' | '÷' => false,
        'À'..='ž' | '\u{400}'..='\u{527}' | '\u{1d00}'..='\u{1d7f}' => true,
        '\u{a640}'..='\u{a66e}' | '\u{a67e}'..='\u{a697}' => true,
        _ => false,
    }
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '`' | '‘' | '’')
}

/// Spaces of Unicode that METEOR takes for such: all but U+1680.
fn is_wide_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::meteor::SPEC;
    use crate::metric::{Options, Value};
    use proptest::prelude::*;
    use regex::Regex;

    const LETTERS: &str = r"A-Za-zÀ-ÖØ-öø-ž\u0400-\u0527\u1d00-\u1d7f\ua640-\ua66e\ua67e-\ua697";

    fn prefixes() -> Prefixes {
        let mut prefixes = Prefixes::default();
        ["Mr", "B", "i.e", "é"].iter().for_each(|word| prefixes.insert(word, false));
        prefixes.insert("No", true);
        prefixes
    }

    fn normalizer(language: &str, flags: &[&str]) -> Normalizer {
        let mut options = vec![("language", Value::Name(language.into()))];
        options.extend(flags.iter().map(|&flag| (flag, Value::Flag(true))));
        let options = Options::resolve("meteor", SPEC.options, &options).unwrap();
        Normalizer::new(&Settings::new(&options, |_| true).unwrap(), prefixes())
    }

    fn words(normalizer: &Normalizer, line: &str) -> Vec<String> {
        let mut words = Vec::new();
        normalizer.words(line, &mut |word| words.push(word.to_owned()));
        words
    }

    /// Normalization as a chain of substitutions in the whole line. Agrees with `java -jar meteor-1.5.jar LINES LINES -l
    /// LANGUAGE -m exact -norm [-noPunct] -writeAlignments`, which prints the normalized lines.
    struct Chain {
        substitutions: Vec<(Regex, &'static str)>,
        final_dot: Regex,
        abbreviation: Regex,
        no_word: Regex,
        wide_space: Regex,
    }

    impl Chain {
        fn new(language: &str) -> Self {
            let regex = |pattern: &str| Regex::new(&pattern.replace('L', LETTERS)).unwrap();
            let mut all = vec![
                ("[‘’`]", "'"),
                ("''", "\""),
                ("[“”]", "\""),
                (r"([^L0-9 \t\n\x0b\f\r.',\-])", " $1 "),
                ("–", "-"),
                (r"(\.\.+)", " $1 "),
                ("([^0-9]),([^0-9])", "$1 , $2"),
                ("([0-9]),([^0-9])", "$1 , $2"),
                ("([^0-9]),([0-9])", "$1 , $2"),
                ("--", "-"),
                (r"([L0-9.])-([L0-9])", "$1 $2"),
            ];
            all.extend_from_slice(match language {
                "en" => &[
                    ("([^L])'([^L])", "$1 ' $2"),
                    ("([^L0-9])'([L])", "$1 ' $2"),
                    ("([L])'([^L])", "$1 ' $2"),
                    ("([L])'([L])", "$1 '$2"),
                    ("([0-9])'(s)", "$1 '$2"),
                ],
                "fr" => &[
                    ("([^L])'([^L])", "$1 ' $2"),
                    ("([^L])'([L])", "$1 ' $2"),
                    ("([L])'([^L])", "$1 ' $2"),
                    ("([L])'([L])", "$1' $2"),
                ],
                _ => &[("'", " ' ")],
            });
            Chain {
                substitutions: all.into_iter().map(|(pattern, replacement)| (regex(pattern), replacement)).collect(),
                final_dot: regex(r"(?s)^(.*[^.])\.$"),
                abbreviation: regex(r"(?s)\..*[L]|[L].*\."),
                no_word: regex("[^L0-9]"),
                wide_space: regex(r"[\u00a0\u2000-\u200a\u202f\u205f\u3000]"),
            }
        }

        fn words(&self, line: &str, no_punct: bool) -> Vec<String> {
            let mut text = format!(" {line} ");
            for (pattern, replacement) in &self.substitutions {
                text = pattern.replace_all(&text, *replacement).into_owned();
            }
            let words: Vec<&str> =
                text.split([' ', '\t', '\n', '\x0c', '\r']).filter(|word| !word.is_empty()).collect();
            let mut text = String::new();
            for (i, &word) in words.iter().enumerate() {
                let next = words.get(i + 1).and_then(|next| next.chars().next()).unwrap_or(' ');
                text += &match self.final_dot.captures(word) {
                    Some(parts) if self.abbreviation.is_match(&parts[1]) => word.replace('.', ""),
                    Some(parts)
                        if next.is_ascii_lowercase() || prefixes().contain(&parts[1], next.is_ascii_digit()) =>
                    {
                        word.to_owned()
                    }
                    Some(parts) => format!("{} .", &parts[1]),
                    None => word.to_owned(),
                };
                text += " ";
            }
            if no_punct {
                text = self.no_word.replace_all(&text, " ").into_owned();
            }
            let text = self.wide_space.replace_all(&text, " ").trim_matches(|c| c <= ' ').to_lowercase();
            text.split([' ', '\t', '\n', '\x0c', '\r']).filter(|word| !word.is_empty()).map(Into::into).collect()
        }
    }

    #[test]
    fn normalized_lines_are_those_of_meteor() {
        // `java -jar meteor-1.5.jar LINES LINES -l LANGUAGE -m exact -norm -writeAlignments` (METEOR 1.5).
        let cases = [
            (
                "en",
                "The \"CAT\", sat (on) the state-of-the-art mat;",
                "the \" cat \" , sat ( on ) the state of the art mat ;",
            ),
            ("en", "Hello  world , \"x\" `` a '' b", "hello world , \" x \" \" a \" b"),
            ("en", "it's don't dogs' 'quoted' rock 'n' roll", "it 's don 't dogs ' ' quoted ' rock ' n ' roll"),
            ("en", "en – dash — em -- a - b a--b --- x---y", "en - dash — em - a - b a b -- x--y"),
            ("en", "3,000 a,b 3, 4 ,5 1,2,3 a,3 3,a", "3,000 a , b 3 , 4 , 5 1,2,3 a , 3 3 , a"),
            ("en", "U.S. e.g. i.e. etc. Mr. Smith end.", "us eg ie etc . mr. smith end ."),
            ("en", "foo...bar .. ... …", "foo ... bar .. ... …"),
            ("en", "http://www.example.com/a-b?x=1", "http : / / www.example.com / a b ? x = 1"),
            ("en", "“smart” ‘single’ «guillemets» „low“", "\" smart \" ' single ' « guillemets » „ low \""),
            ("en", "No. 5 No. five No. Five", "no. 5 no. five no . five"),
            ("en", "Hello\u{a0}world. \u{a0}x 日本語、русский", "hello world . x 日 本 語 、 русский"),
            ("en", "A.B.C. a.b. x.y.z z. A", "abc ab x.y.z z . a"),
            ("en", "I.B.M. U.S.A foo.com p.m. Ph.D. 1.a", "ibm u.s.a foo.com pm phd 1.a"),
            ("en", "ÄÖÜ ß İstanbul ΣΑΣ x\u{200b}y", "äöü ß i̇stanbul σ α σ x \u{200b} y"),
            ("en", "b-b-a ,--, ..-a 1990's", "b b-a , - , .. -a 1990 's"),
            ("en", "x\u{b}by\u{1c}w \u{b}b\u{1f}\u{b}", "x\u{b}by \u{1c} w \u{b}b"),
            ("de", "a'b", "a ' b"),
        ];
        for (language, line, expected) in cases {
            assert_eq!(expected, words(&normalizer(language, &["normalized"]), line).join(" "), "{line}");
            assert_eq!(expected, Chain::new(language).words(line, false).join(" "), "{line}");
        }
        let line = "The \"CAT\", sat on the state-of-the-art mat; U.S. e.g. 3,000 etc.";
        let all = normalizer("en", &["normalized", "no_punct"]);
        assert_eq!("the cat sat on the state of the art mat us eg 3 000 etc", words(&all, line).join(" "));
    }

    #[test]
    fn only_white_space_splits_lines_that_are_not_normalized() {
        // METEOR 1.5: `java -jar meteor-1.5.jar LINES LINES -m exact [-lower] -ssOut`, which counts control characters at
        // both ends. (`-writeAlignments` prints lines without them.)
        let line = "\u{1} The\u{a0}CAT,\tsat\u{c}ON\u{b}a\u{85}b \u{1c} \u{2028}É\u{1f} ";
        let expected = ["\u{1}", "The\u{a0}CAT,", "sat", "ON\u{b}a\u{85}b", "\u{1c}", "\u{2028}É\u{1f}"];
        assert_eq!(expected.to_vec(), words(&normalizer("en", &[]), line));
        assert_eq!(expected.map(str::to_lowercase).to_vec(), words(&normalizer("en", &["lowercase"]), line));
        for line in ["\u{0}", "\u{b}", "\u{1f}"] {
            assert_eq!(vec![line.to_owned()], words(&normalizer("en", &[]), line));
            assert_eq!(Vec::<String>::new(), words(&normalizer("en", &["normalized"]), line));
        }
        for line in ["", "  "] {
            assert_eq!(Vec::<String>::new(), words(&normalizer("en", &[]), line));
            assert_eq!(Vec::<String>::new(), words(&normalizer("en", &["normalized"]), line));
        }
    }

    proptest! {
        #![proptest_config(crate::testing::cases(300))]
        #[test]
        fn normalization_equals_the_chain(
            pieces in prop::collection::vec(prop_oneof![
                4 => "[aB1s .,'-]",
                2 => prop::sample::select(vec!["Mr", "No", "i.e", "é", "Ж", "\"", "`", "’", "“", "–", "—", "\u{a0}", "\u{2009}",
                    "\u{b}", "\u{1}", "(", "日", "😀", "\t", "Σ", "İ", "×", "..", "--"]).prop_map(str::to_owned),
                1 => any::<char>().prop_map(String::from),
            ], 0..12),
            no_punct in any::<bool>(),
        ) {
            let line = pieces.concat();
            for language in ["en", "fr", "de"] {
                let flags: &[&str] = if no_punct { &["normalized", "no_punct"] } else { &["normalized"] };
                thread_local!(static CHAINS: [Chain; 3] = ["en", "fr", "de"].map(Chain::new));
                let chain = ["en", "fr", "de"].iter().position(|&known| known == language).unwrap();
                let expected = CHAINS.with(|chains| chains[chain].words(&line, no_punct));
                prop_assert_eq!(expected, words(&normalizer(language, flags), &line));
            }
        }
    }
}
