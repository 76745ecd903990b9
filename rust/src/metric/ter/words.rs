//! How TER splits lines into words: Tercom's normalization, in the versions of sacreBLEU 2.6.0 and of Tercom itself.
//!
//! sacreBLEU applies a list of substitutions to the whole line, which is equivalent to steps on words. With
//! `normalized` they are 13a's four substitutions; between the first and the second, `'s` before a space is split off.
//! Then every Chinese or Japanese character in certain ranges becomes a word; then punctuation is removed from within
//! words. The rules for runs of kana never apply, because they require the beginning of a line that has been padded
//! with a space.
//!
//! sacreBLEU does all of this once to a hypothesis and twice to a reference. Only `normalized` has an effect the second
//! time: `&amp;amp;` loses another layer, and `Ann's, too` has become `Ann's , too`, from which `'s` is split off. This
//! is a bug (Tercom treats both sides alike), which is reproduced in the variant named after sacreBLEU.
//!
//! Tercom (`ter.core.Normalizer` of 0.10.0; of 7.25 except for `asian_support`) differs in four ways, all of which are
//! reproduced in the variant named after it. White space is Java's `\s`: ASCII only, without U+001C to U+001F.
//! `<skipped>` is dropped, and hyphens are dropped at the end of a line rather than at its beginning. Runs of kana
//! become words. Java's `split` keeps an empty string before leading white space, which can remain where punctuation
//! was dropped: `, x y` has three words, the first of which is empty. Java's rule for a final sigma is not reproduced;
//! it differs from Unicode's next to digits, ideographs and similar characters.

use super::TERCOM;
use crate::metric::Options;
use crate::metric::error_rate::Splitter;
use crate::metric::text::{case, cased, yes};
use crate::text::tokenize::script::{Class, Script, scan};
use crate::text::tokenize::v13a::{self, ENTITIES, V13a};
use crate::text::tokenize::{is_ascii_space, is_space, split, split_ascii};

/// The options, and a buffer for a line in lower case.
#[derive(Clone, Default)]
pub(super) struct TerWords {
    normalized: bool,
    no_punct: bool,
    asian_support: bool,
    case_sensitive: bool,
    /// Are the words those of Tercom itself rather than sacreBLEU's?
    tercom: bool,
    line: String,
    word: String,
}

impl TerWords {
    pub(super) fn new(options: &Options) -> Self {
        TerWords {
            normalized: options.flag("normalized"),
            no_punct: options.flag("no_punct"),
            asian_support: options.flag("asian_support"),
            case_sensitive: options.flag("case_sensitive"),
            tercom: options.name("variant") == TERCOM,
            ..TerWords::default()
        }
    }

    pub(super) fn signature(&self) -> Vec<(&'static str, String)> {
        let mut signature = vec![
            case(!self.case_sensitive),
            ("tok", TERCOM.into()),
            ("norm", yes(self.normalized)),
            ("punct", yes(!self.no_punct)),
            ("asian", yes(self.asian_support)),
        ];
        if self.tercom {
            signature.push(("variant", TERCOM.into()));
        }
        signature
    }
}

impl Splitter for TerWords {
    fn words(&mut self, line: &str, emit: &mut dyn FnMut(&str)) {
        if self.tercom { self.tercom_words(line, emit) } else { self.sacrebleu_words(line, emit) }
    }

    fn reference_words(&mut self, line: &str, emit: &mut dyn FnMut(&str)) {
        if !self.normalized || self.tercom {
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

impl TerWords {
    // The closures are defined from the last step to the first, because each step passes its words to the next.

    fn sacrebleu_words(&mut self, line: &str, emit: &mut dyn FnMut(&str)) {
        let TerWords { normalized, no_punct, asian_support, case_sensitive, line: lower, word: rest, .. } = self;
        let line = cased(line, !*case_sensitive, lower);
        let mut finish = |word: &str| {
            let word = if *no_punct { without_punctuation(word, *asian_support, rest) } else { word };
            if !word.is_empty() {
                emit(word);
            }
        };
        if !*normalized {
            return split(line, &mut finish);
        }
        let mut split_word = |word: &str| {
            if *asian_support && !word.is_ascii() {
                split_asian(word, |_| Kana::None, &mut finish);
            } else {
                finish(word);
            }
        };
        normalize::<V13a>(line.trim_end_matches(is_space), &[("\n-", ""), ("\n", " ")], &mut split_word);
    }

    fn tercom_words(&mut self, line: &str, emit: &mut dyn FnMut(&str)) {
        let TerWords { normalized, no_punct, asian_support, case_sensitive, line: lower, word: rest, .. } = self;
        // Tercom's reader trims segments with `String.trim`.
        let line = cased(line.trim_matches(|c| c <= ' '), !*case_sensitive, lower);
        if line.is_empty() {
            return;
        }
        let (mut n_words, mut first_is_empty) = (0, false);
        let mut finish = |word: &str| {
            let word = if *no_punct { without_punctuation(word, *asian_support, rest) } else { word };
            n_words += 1;
            if word.is_empty() {
                first_is_empty |= n_words == 1;
                return;
            }
            if std::mem::take(&mut first_is_empty) {
                emit("");
            }
            emit(word);
        };
        if *normalized {
            let mut split_word = |word: &str| {
                if *asian_support && !word.is_ascii() {
                    split_asian(word, kana, &mut finish);
                } else {
                    finish(word);
                }
            };
            normalize::<Tercom>(line, &[("<skipped>", ""), ("-\n", ""), ("\n", " ")], &mut split_word);
        } else {
            split_ascii(line, &mut finish);
        }
        // Java's `split` returns one empty string for an empty line, and nothing for white space only.
        if n_words == 0 || n_words == 1 && first_is_empty {
            emit("");
        }
    }
}

/// 13a's substitutions with Java's white space.
struct Tercom;

impl Script for Tercom {
    const PADDED: bool = true;
    const CLASSES: [Class; 256] = {
        let mut classes = v13a::ASCII;
        let mut byte = 0;
        while byte < 256 {
            if matches!(classes[byte], Class::Space | Class::Lead) && !is_ascii_space(byte as u8 as char) {
                classes[byte] = Class::Word;
            }
            byte += 1;
        }
        classes
    };

    fn class(_: char) -> Class {
        Class::Word
    }
}

/// Replaces the pairs in `first`, then entities, and makes the four substitutions.
fn normalize<S: Script>(line: &str, first: &'static [(&'static str, &'static str)], emit: &mut dyn FnMut(&str)) {
    let line = v13a::replace(line, first.iter().chain(&ENTITIES));
    scan::<S>(&line, &mut |word| {
        // `'s` is split off if a space follows at that point: one of the line, or one added after a symbol or at the
        // end.
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

/// The word without punctuation; `rest` is a buffer.
fn without_punctuation<'w>(word: &'w str, asian: bool, rest: &'w mut String) -> &'w str {
    let dropped = |c: char| is_punct(c) || asian && is_asian_punct(c);
    if !word.contains(dropped) {
        return word;
    }
    rest.clear();
    rest.extend(word.chars().filter(|&c| !dropped(c)));
    rest
}

/// The kana alphabet of a character.
#[derive(Clone, Copy, PartialEq)]
enum Kana {
    None,
    Hiragana,
    Katakana,
    KatakanaPhoneticExtensions,
}

/// The alphabet of a character by Unicode blocks, as in Java.
fn kana(c: char) -> Kana {
    match c {
        '\u{3040}'..='\u{309f}' => Kana::Hiragana,
        '\u{30a0}'..='\u{30ff}' => Kana::Katakana,
        '\u{31f0}'..='\u{31ff}' => Kana::KatakanaPhoneticExtensions,
        _ => Kana::None,
    }
}

/// Splits off every character of the ranges, and every run of characters of one kana alphabet.
fn split_asian(word: &str, kana: fn(char) -> Kana, emit: &mut dyn FnMut(&str)) {
    let (mut start, mut before) = (0, Kana::None);
    for (i, c) in word.char_indices() {
        let alphabet = kana(c);
        if (is_ideograph_like(c) || alphabet != before) && start < i {
            emit(&word[start..i]);
            start = i;
        }
        before = alphabet;
        if is_ideograph_like(c) {
            start = i + c.len_utf8();
            emit(&word[i..start]);
        }
    }
    if start < word.len() {
        emit(&word[start..]);
    }
}

/// Ideographs, strokes, radicals, compatibility and enclosed forms. sacreBLEU has U+3F22 instead of U+32FF as the end
/// of the last range, which makes no difference, because the other ranges cover the characters in between.
fn is_ideograph_like(c: char) -> bool {
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

    fn words(tercom: bool, options: [bool; 4], line: &str) -> Vec<String> {
        let [normalized, no_punct, asian_support, case_sensitive] = options;
        let mut words = Vec::new();
        let mut ter = TerWords { normalized, no_punct, asian_support, case_sensitive, tercom, ..TerWords::default() };
        ter.words(line, &mut |word| words.push(word.to_owned()));
        words
    }

    #[test]
    fn references_are_normalized_twice_where_sacrebleu_does() {
        for (tercom, expected) in
            [(true, ["ann's", ",", "&", "lt", ";"].as_slice()), (false, &["ann", "'s", ",", "&", "lt", ";"])]
        {
            let mut ter = TerWords { normalized: true, tercom, ..TerWords::default() };
            let mut words = Vec::new();
            ter.reference_words("Ann's, &amp;lt ;", &mut |word| words.push(word.to_owned()));
            assert_eq!(expected, words);
        }
    }

    /// The output of `Normalizer.tokenize` of Tercom 0.10.0 under OpenJDK 17, after `trim` and `toLowerCase`.
    #[test]
    fn words_are_those_of_tercom() {
        let cases: [([bool; 4], &str, &[&str]); 14] = [
            (
                [false; 4],
                " A\u{a0}b c\u{2028}d\u{1c}e\u{3000}\tf\u{b}g\u{85} ",
                &["a\u{a0}b", "c\u{2028}d\u{1c}e\u{3000}", "f", "g\u{85}"],
            ),
            ([false; 4], " \u{1} ", &[]),
            ([false, true, false, false], ", x y", &["", "x", "y"]),
            ([false, true, false, false], "x , . y !", &["x", "y"]),
            ([false, true, false, false], "...", &[""]),
            ([false, true, false, false], ". .", &[]),
            ([false, true, false, false], "!\u{a0} x", &["\u{a0}", "x"]),
            ([true, true, false, false], "(x, y)", &["", "x", "y"]),
            ([true, true, false, false], "...", &[]),
            ([true, false, false, false], "<skipped>", &[""]),
            (
                [true, false, false, false],
                "co-\nop 3\u{a0}. Ann's\u{a0}b's",
                &["coop", "3\u{a0}", ".", "ann's\u{a0}b", "'s"],
            ),
            (
                [true, false, true, false],
                "日本、かなカナーx・ㇰㇱ",
                &["日", "本", "、", "かな", "カナー", "x", "・", "ㇰㇱ"],
            ),
            ([true, true, true, true], "「かな」Xカ・ナ", &["", "かな", "X", "カ", "ナ"]),
            ([false, true, true, false], "「", &[""]),
        ];
        for (options, line, expected) in cases {
            assert_eq!(expected, words(true, options, line), "{line:?}");
        }
    }
}
