//! How TER cuts lines into words: Tercom's normalisation as sacreBLEU 2.6.0 has it.
//!
//! sacreBLEU applies a list of substitutions to the whole line. What they do can be said of words: with `normalized`
//! they are 13a's four substitutions, between the first and second of which `'s` before a space is cut off; then every
//! Chinese or Japanese character of some ranges becomes a word; then punctuation goes from within words. Its rules for
//! runs of kana never apply, since they ask for the beginning of a line that has been padded with a space.
//!
//! sacreBLEU does all this to a hypothesis once and to a reference twice. Only `normalized` does something the second
//! time: `&amp;amp;` loses another layer, and `Ann's, too` has become `Ann's , too`, in which `'s` is cut off. That is a
//! slip (Tercom treats both sides alike), kept in the variant that has sacreBLEU's name.

use crate::metric::error_rate::Cut;
use crate::metric::text::cased;
use crate::tokenize::v13a::{self, ENTITIES};
use crate::tokenize::{is_space, split};

/// The options, and a line in lower case.
#[derive(Clone, Default)]
pub(super) struct TerWords {
    pub(super) normalized: bool,
    pub(super) no_punct: bool,
    pub(super) asian_support: bool,
    pub(super) case_sensitive: bool,
    /// Are references normalised twice?
    pub(super) references_twice: bool,
    line: String,
    word: String,
}

impl TerWords {
    pub(super) fn new(normalized: bool, no_punct: bool, asian_support: bool, case_sensitive: bool) -> Self {
        TerWords { normalized, no_punct, asian_support, case_sensitive, ..TerWords::default() }
    }
}

impl Cut for TerWords {
    fn words(&mut self, line: &str, emit: &mut dyn FnMut(&str)) {
        let TerWords { normalized, no_punct, asian_support, case_sensitive, line: lower, word: rest, .. } = self;
        let line = cased(line, !*case_sensitive, lower);
        // From the last step to the first.
        let mut finish = |word: &str| {
            let dropped = |c: char| is_punct(c) || *asian_support && is_asian_punct(c);
            if *no_punct && word.contains(dropped) {
                rest.clear();
                rest.extend(word.chars().filter(|&c| !dropped(c)));
                if !rest.is_empty() {
                    emit(rest);
                }
            } else {
                emit(word);
            }
        };
        if !*normalized {
            return split(line, &mut finish);
        }
        let mut cut = |word: &str| {
            if *asian_support && !word.is_ascii() {
                split_asian(word, &mut finish);
            } else {
                finish(word);
            }
        };
        normalize(line.trim_end_matches(is_space), &mut cut);
    }

    fn reference_words(&mut self, line: &str, emit: &mut dyn FnMut(&str)) {
        if !(self.normalized && self.references_twice) {
            return self.words(line, emit);
        }
        let mut once = String::with_capacity(2 * line.len());
        self.words(line, &mut |word| {
            once.push_str(word);
            once.push(' ');
        });
        self.words(&once, emit);
    }
}

fn normalize(line: &str, emit: &mut dyn FnMut(&str)) {
    let line = v13a::replace(line, [("\n-", ""), ("\n", " ")].iter().chain(&ENTITIES));
    v13a::substitute(&line, &mut |word| {
        // `'s` is cut off where a space follows at that point: the line's own, or one that a symbol or the end has got.
        if let Some(owner) = word.strip_suffix("'s").filter(|owner| !owner.is_empty()) {
            let end = word.as_ptr() as usize + word.len() - line.as_ptr() as usize;
            if line.as_bytes().get(end).is_none_or(|&next| next == b' ' || v13a::is_symbol(next)) {
                emit(owner);
                return emit("'s");
            }
        }
        emit(word);
    });
}

/// Every character of the ranges becomes a word.
fn split_asian(word: &str, emit: &mut dyn FnMut(&str)) {
    let mut start = 0;
    for (i, c) in word.char_indices() {
        if is_cut(c) {
            if start < i {
                emit(&word[start..i]);
            }
            let end = i + c.len_utf8();
            emit(&word[i..end]);
            start = end;
        }
    }
    if start < word.len() {
        emit(&word[start..]);
    }
}

/// Ideographs, strokes, radicals, compatibility and enclosed forms. sacreBLEU writes U+3F22 for U+32FF as the end of the
/// last range, which changes nothing: other ranges hold what it takes in.
fn is_cut(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{31c0}'..='\u{31ef}' | '\u{2e80}'..='\u{2eff}'
        | '\u{3300}'..='\u{33ff}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}' | '\u{3200}'..='\u{32ff}')
        || is_asian_punct(c)
}

fn is_asian_punct(c: char) -> bool {
    matches!(c,
        '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{ff61}'..='\u{ff65}' | '\u{30fb}'
        | '\u{ff0e}' | '\u{ff0c}' | '\u{ff1f}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff01}' | '\u{ff02}' | '\u{ff08}' | '\u{ff09}')
}

fn is_punct(c: char) -> bool {
    matches!(c, '.' | ',' | '?' | ':' | ';' | '!' | '"' | '(' | ')')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    fn words(options: [bool; 4], line: &str) -> Vec<String> {
        let [normalized, no_punct, asian_support, case_sensitive] = options;
        let mut words = Vec::new();
        TerWords::new(normalized, no_punct, asian_support, case_sensitive)
            .words(line, &mut |word| words.push(word.to_owned()));
        words
    }

    /// The list of substitutions.
    fn by_substitution([normalized, no_punct, asian_support, case_sensitive]: [bool; 4], line: &str) -> Vec<String> {
        const ASIAN: &str = r"[\u{3001}\u{3002}\u{3008}-\u{3011}\u{3014}-\u{301f}\u{ff61}-\u{ff65}\u{30fb}]";
        const WIDE: &str = r"[\u{ff0e}\u{ff0c}\u{ff1f}\u{ff1a}\u{ff1b}\u{ff01}\u{ff02}\u{ff08}\u{ff09}]";
        let mut line = line.trim_end_matches(is_space).to_owned();
        if !case_sensitive {
            line = line.to_lowercase();
        }
        let mut replace = |pattern: &str, replacement: &str| {
            line = Regex::new(&format!("(?s){pattern}")).unwrap().replace_all(&line, replacement).into_owned();
        };
        if normalized {
            for (from, to) in [("\n-", ""), ("\n", " "), ("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")]
            {
                replace(from, to);
            }
            replace("^(.*)$", " $1 ");
            for (from, to) in [
                (r"([\{-~\[-` -&\(-\+:-@/])", " $1 "),
                ("'s ", " 's "),
                (r"([^0-9])([\.,])", "$1 $2 "),
                (r"([\.,])([^0-9])", " $1 $2"),
                ("([0-9])(-)", "$1 $2 "),
            ] {
                replace(from, to);
            }
            if asian_support {
                for class in [
                    r"[\u{4e00}-\u{9fff}\u{3400}-\u{4dbf}]",
                    r"[\u{31c0}-\u{31ef}\u{2e80}-\u{2eff}]",
                    r"[\u{3300}-\u{33ff}\u{f900}-\u{faff}\u{fe30}-\u{fe4f}]",
                    r"[\u{3200}-\u{3f22}]",
                    ASIAN,
                    WIDE,
                ] {
                    replace(&format!("({class})"), " $1 ");
                }
            }
        }
        if no_punct {
            replace(r#"[\.,\?:;!"\(\)]"#, "");
            if asian_support {
                replace(ASIAN, "");
                replace(WIDE, "");
            }
        }
        line.split(is_space).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn references_are_normalised_twice_where_sacrebleu_does() {
        for (references_twice, expected) in
            [(false, ["ann's", ",", "&", "lt", ";"].as_slice()), (true, &["ann", "'s", ",", "&", "lt", ";"])]
        {
            let mut ter = TerWords { references_twice, ..TerWords::new(true, false, false, false) };
            let mut words = Vec::new();
            ter.reference_words("Ann's, &amp;lt ;", &mut |word| words.push(word.to_owned()));
            assert_eq!(expected, words);
        }
    }

    #[test]
    fn worked_by_hand() {
        let cases: [([bool; 4], &str, &[&str]); 8] = [
            ([false; 4], "The CAT's tail. ", &["the", "cat's", "tail."]),
            ([false, false, false, true], "The CAT's tail.", &["The", "CAT's", "tail."]),
            (
                [true, false, false, false],
                "The cat's tail, 3.5 m.",
                &["the", "cat", "'s", "tail", ",", "3.5", "m", "."],
            ),
            ([true, false, false, false], "it's. it's! it's", &["it's", ".", "it", "'s", "!", "it", "'s"]),
            ([false, true, false, false], "Stop! (now): 3.5", &["stop", "now", "35"]),
            ([true, true, false, false], "&quot;a&amp;lt;b&quot;", &["a", "<", "b"]),
            ([true, false, true, false], "日本、かな", &["日", "本", "、", "かな"]),
            ([false, true, true, false], "日本、かな。x", &["日本かなx"]),
        ];
        for (options, line, expected) in cases {
            assert_eq!(expected, words(options, line), "{line:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn words_are_those_of_the_substitutions(
            line in r"[ .,\-0-9a-bAΣ's&;<>!(\n\t\u{a0}\u{2028}éÉ日、々かー㈱！]{0,24}|\PC{0,30}|('s|[ .,a5-]|&amp;|lt;|\n|\u{1c}){0,10}",
            bits in 0..16u8,
        ) {
            let options = [1, 2, 4, 8].map(|bit| bits & bit != 0);
            prop_assert_eq!(by_substitution(options, &line), words(options, &line));
        }
    }
}
