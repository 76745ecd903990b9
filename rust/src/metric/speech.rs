//! Error rates of speech recognition, with the edits of each kind, as jiwer counts them.
//!
//! MER and WIL were introduced, and compared with WER, by Morris, Maier & Green 2004 (doi:10.21437/Interspeech.2004-668).
//! Words are separated by spaces, or by two or more characters of white space: a single tab or no-break space is part of
//! a word.

use std::marker::PhantomData;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use unicode_normalization::UnicodeNormalization;

use super::text::{LOWERCASE, case, cased, yes};
use super::{Counter, Counters, Expression, Formula, Kind, Metric, MetricSpec, OptionSpec, Options, Texts};
use crate::error::Result;
use crate::pool::{Run, Stop};
use crate::text::edit::{Kinds, KindsOfEdits, UNKNOWN_WORD};
use crate::text::joined::Joined;
use crate::text::ngram::{TOKEN, Token, Vocabulary};
use crate::text::tokenize::{is_punctuation, is_space, space_at};

const SOURCE: &str = "doi:10.21437/Interspeech.2004-668";

/// Edits per word of the reference. Without a reference all words are insertions, and each counts fully.
const ERROR_RATE: &str = "100 * (substitutions + deletions + insertions) \
    / where(substitutions + deletions + hits > 0, substitutions + deletions + hits, 1)";
const MATCH_ERROR_RATE: &str = "100 * (substitutions + deletions + insertions) \
    / (substitutions + deletions + insertions + hits)";
/// 0 if there are no words at all.
const INFORMATION_LOST: &str = "100 * where(substitutions + deletions + insertions + hits > 0, \
    1 - hits / (substitutions + deletions + hits) * (hits / (substitutions + insertions + hits)), 0)";

pub(super) const ASR_WER: MetricSpec = MetricSpec {
    name: "asr-wer",
    about: "word error rate of speech recognition, as in jiwer: words are what is between spaces",
    source: SOURCE,
    reads_parses: false,
    options: OPTIONS,
    build: |options| Ok(Box::new(Speech::<Words>::new("WER", ERROR_RATE, options)?)),
};

pub(super) const CER: MetricSpec = MetricSpec {
    name: "cer",
    about: "character error rate, as in jiwer: insertions, deletions and substitutions per character, with spaces",
    source: "",
    reads_parses: false,
    options: OPTIONS,
    build: |options| Ok(Box::new(Speech::<Characters>::new("CER", ERROR_RATE, options)?)),
};

pub(super) const MER: MetricSpec = MetricSpec {
    name: "mer",
    about: "match error rate: the share of edits among all edits and matches of words",
    source: SOURCE,
    reads_parses: false,
    options: OPTIONS,
    build: |options| Ok(Box::new(Speech::<Words>::new("MER", MATCH_ERROR_RATE, options)?)),
};

pub(super) const WIL: MetricSpec = MetricSpec {
    name: "wil",
    about: "word information lost: 100 less the product of the shares of correct words in reference and hypothesis",
    source: SOURCE,
    reads_parses: false,
    options: OPTIONS,
    build: |options| Ok(Box::new(Speech::<Words>::new("WIL", INFORMATION_LOST, options)?)),
};

const UNICODE: OptionSpec = OptionSpec::unset(
    "unicode",
    Kind::Choice(|| vec!["NFC", "NFKC"]),
    "the normalization form of Unicode to which lines are brought first",
);

const NO_PUNCT: OptionSpec = OptionSpec::flag(
    "no_punct",
    "remove punctuation (category P of Unicode), also inside words, and join the spaces around it",
);

const OPTIONS: &[OptionSpec] = &[LOWERCASE, NO_PUNCT, UNICODE];

const COLUMNS: [&str; 4] = ["substitutions", "deletions", "insertions", "hits"];

fn row_of(kinds: Kinds) -> [i64; 4] {
    [kinds.substitutions, kinds.deletions, kinds.insertions, kinds.hits].map(|n| n as i64)
}

#[derive(Clone, Copy)]
enum Form {
    Nfc,
    Nfkc,
}

/// What is done to a line before it is split.
#[derive(Clone, Copy, Default)]
struct Normalization {
    form: Option<Form>,
    lowercase: bool,
    no_punct: bool,
}

impl Normalization {
    fn new(options: &Options) -> Self {
        let form = options.choice(UNICODE.name).map(|form| if form == "NFC" { Form::Nfc } else { Form::Nfkc });
        Normalization { form, lowercase: options.flag(LOWERCASE.name), no_punct: options.flag(NO_PUNCT.name) }
    }

    /// The line in Unicode's form, then in lower case, then without punctuation, and without white space at its ends.
    /// `buffers` are for what has to be changed.
    fn apply<'a>(&self, line: &'a str, buffers: &'a mut [String; 3]) -> &'a str {
        let [composed, lower, bare] = buffers;
        let mut line = line;
        if let (Some(form), false) = (self.form, line.is_ascii()) {
            composed.clear();
            match form {
                Form::Nfc => composed.extend(line.nfc()),
                Form::Nfkc => composed.extend(line.nfkc()),
            }
            line = composed;
        }
        line = cased(line, self.lowercase, lower);
        if self.no_punct {
            remove_punctuation(line, bare);
            line = bare;
        }
        line.trim_matches(is_space)
    }
}

/// Writes the line without punctuation, and with a space for every two or more characters of white space.
fn remove_punctuation(line: &str, bare: &mut String) {
    bare.clear();
    let letters: String = line.chars().filter(|&c| !is_punctuation(c)).collect();
    for word in words(letters.trim_matches(is_space)) {
        bare.push_str(if bare.is_empty() { "" } else { " " });
        bare.push_str(word);
    }
}

/// The words of a line without white space at its ends.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let (mut word, mut i) = (0, 0);
    std::iter::from_fn(move || {
        let start = word;
        loop {
            let gap = space_or_not_ascii(line.as_bytes(), i);
            if gap == line.len() {
                break;
            }
            let (begins, width) = space_at(line, gap);
            i = gap + width;
            if begins {
                while let (true, width) = space_at(line, i) {
                    i += width;
                }
                if i > gap + width || line.as_bytes()[gap] == b' ' {
                    word = i;
                    return Some(&line[start..gap]);
                }
            }
        }
        (i, word) = (line.len(), line.len());
        (start < word).then(|| &line[start..])
    })
}

/// Where the next byte is that is not one of a visible ASCII character, from a place on: eight bytes at a time.
#[inline(always)]
fn space_or_not_ascii(bytes: &[u8], mut i: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    while let Some(eight) = bytes[i..].first_chunk() {
        // The high bits of bytes below 0x21 and from 0x80. The subtraction may set more, but only after such a byte.
        let eight = u64::from_le_bytes(*eight);
        let found = (eight.wrapping_sub(0x21 * ONES) | eight) & (0x80 * ONES);
        if found != 0 {
            return i + found.trailing_zeros() as usize / 8;
        }
        i += 8;
    }
    i + bytes[i..].iter().take_while(|byte| (0x21..0x80).contains(*byte)).count()
}

/// Splits lines into words or characters, with numbers. Those of references are numbered from 1.
trait Units: Default + 'static {
    /// In signatures.
    const NAME: &'static str;

    fn clear(&mut self);

    /// Adds the numbers of a line of a reference or a hypothesis.
    fn read(&mut self, line: &str, is_reference: bool, numbers: &mut Vec<Token>, stop: &Stop<'_>) -> Result<()>;

    /// The largest number.
    fn distinct(&self) -> usize;
}

#[derive(Default)]
struct Words {
    vocabulary: Vocabulary,
}

impl Units for Words {
    const NAME: &'static str = "jiwer";

    fn clear(&mut self) {
        self.vocabulary.clear();
    }

    fn read(&mut self, line: &str, is_reference: bool, numbers: &mut Vec<Token>, stop: &Stop<'_>) -> Result<()> {
        let Words { vocabulary } = self;
        for word in words(line) {
            stop.charge(TOKEN)?;
            let number = if is_reference { vocabulary.intern(word) } else { vocabulary.find(word) };
            // Unknown words have the largest number; adding 1 wraps it to UNKNOWN_WORD, 0.
            numbers.push(number.wrapping_add(1));
        }
        Ok(())
    }

    fn distinct(&self) -> usize {
        self.vocabulary.len()
    }
}

/// The number of an ASCII character is its code plus 1. Other characters are numbered from here.
const OTHERS: Token = 129;

#[derive(Default)]
struct Characters {
    others: HashMap<char, Token, FixedState>,
}

impl Units for Characters {
    const NAME: &'static str = "characters";

    fn clear(&mut self) {
        self.others.clear();
    }

    fn read(&mut self, line: &str, is_reference: bool, numbers: &mut Vec<Token>, stop: &Stop<'_>) -> Result<()> {
        stop.charge(line.len())?;
        if line.is_ascii() {
            numbers.extend(line.bytes().map(|byte| Token::from(byte) + 1));
            return Ok(());
        }
        numbers.extend(line.chars().map(|c| {
            let next = OTHERS + self.others.len() as Token;
            match c {
                _ if c.is_ascii() => c as Token + 1,
                _ if is_reference => *self.others.entry(c).or_insert(next),
                _ => self.others.get(&c).copied().unwrap_or(UNKNOWN_WORD),
            }
        }));
        Ok(())
    }

    fn distinct(&self) -> usize {
        OTHERS as usize + self.others.len()
    }
}

/// A formula of the edits of each kind.
struct Speech<U> {
    formula: Expression,
    normalization: Normalization,
    form: Option<String>,
    units: PhantomData<fn() -> U>,
}

impl<U> Speech<U> {
    fn new(name: &str, formula: &str, options: &Options) -> Result<Self> {
        Ok(Speech {
            formula: Expression::new(name.into(), formula, &COLUMNS.map(|column| (column.into(), 1.0)), false)?,
            normalization: Normalization::new(options),
            form: options.choice(UNICODE.name).map(Into::into),
            units: PhantomData,
        })
    }
}

impl<U: Units> Formula for Speech<U> {
    fn name(&self) -> &str {
        self.formula.name()
    }

    fn columns(&self) -> Vec<String> {
        self.formula.columns()
    }

    fn width(&self) -> usize {
        COLUMNS.len()
    }

    fn higher_is_better(&self) -> bool {
        false
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        let Normalization { lowercase, no_punct, .. } = self.normalization;
        let mut options = vec![case(lowercase)];
        options.extend(no_punct.then(|| ("punct", yes(false))));
        options.extend(self.form.clone().map(|form| ("unicode", form)));
        options.push(("tok", U::NAME.into()));
        options
    }

    fn score(&self, totals: &[i64]) -> f64 {
        self.formula.score(totals)
    }

    fn scores(&self, totals: &[i64], out: &mut [f64]) {
        self.formula.scores(totals, out);
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        self.formula.details(totals)
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        self.formula.gradient(totals, out);
    }

    fn gradients(&self, totals: &[i64], scores: &[f64], out: &mut [f64]) {
        self.formula.gradients(totals, scores, out);
    }
}

impl<U: Units> Metric for Speech<U> {
    fn counters<'a>(&'a self, _: &Texts<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
        let normalization = self.normalization;
        Ok(Box::new(move || Box::new(RowCounter::<U> { normalization, ..RowCounter::default() })))
    }
}

/// Counts segments, with buffers that are reused from segment to segment.
#[derive(Default)]
struct RowCounter<U> {
    normalization: Normalization,
    units: U,
    kinds: KindsOfEdits,
    buffers: [String; 3],
    /// The numbers of all references.
    references: Joined<Token>,
    hypothesis: Vec<Token>,
}

impl<U: Units> Counter for RowCounter<U> {
    fn count(&mut self, lines: &[&str], hypotheses: &[&str], rows: &mut [i64], stop: &Stop<'_>) -> Result<()> {
        let RowCounter { normalization, units, kinds, buffers, references, hypothesis } = self;
        units.clear();
        references.clear();
        for line in lines {
            units.read(normalization.apply(line, buffers), true, references.open(), stop)?;
            references.end();
        }
        for (line, row) in hypotheses.iter().zip(rows.chunks_exact_mut(COLUMNS.len())) {
            hypothesis.clear();
            units.read(normalization.apply(line, buffers), false, hypothesis, stop)?;
            let mut nearest: Option<Kinds> = None;
            for reference in references.iter() {
                let found = kinds.count(hypothesis, reference, units.distinct(), stop)?;
                if nearest.is_none_or(|nearest| found.edits() < nearest.edits()) {
                    nearest = Some(found);
                }
            }
            row.copy_from_slice(&row_of(nearest.unwrap_or_default()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::metric::testing::{made, row, signature};

    #[test]
    fn worked_by_hand() {
        for (metric, references, hypothesis, expected) in [
            ("asr-wer", ["we leave at nine"].as_slice(), "so we stay nine", [1, 1, 1, 2]),
            ("mer", &["we leave at"], "we leave at.", [1, 0, 0, 2]),
            ("cer", &[" a  b\n"], "a b", [0, 1, 0, 3]),
            ("cer", &["café"], "cafe\u{301}", [1, 0, 1, 3]),
            // The nearest of several references counts, with its length.
            ("asr-wer", &["a b c d", "a b c", "b b"], "a b", [0, 1, 0, 2]),
            ("asr-wer lowercase", &["ÜBER Uns"], "über uns", [0, 0, 0, 2]),
            ("asr-wer no_punct", &["Don't – stop, now…"], "Dont stop now", [0, 0, 0, 3]),
            ("cer no_punct", &["« a – b. c"], "a b c !", [0, 0, 0, 5]),
            ("asr-wer unicode=NFC", &["café"], "cafe\u{301}", [0, 0, 0, 1]),
            ("asr-wer unicode=NFC", &["ﬁn"], "fin", [1, 0, 0, 0]),
            ("cer unicode=NFKC", &["ﬁn"], "fin", [0, 0, 0, 3]),
        ] {
            assert_eq!(expected, row(metric, references, hypothesis).as_slice(), "{metric} {references:?}");
        }
        let expected = "case:lc|punct:no|unicode:NFKC|tok:characters";
        assert_eq!(expected, signature("cer lowercase no_punct unicode=NFKC"));
    }

    #[test]
    fn scores_are_defined_without_words() {
        let score = |name: &str, row: [i64; 4]| made(name).score(&row);
        assert_eq!([75.0, 60.0], ["asr-wer", "mer"].map(|name| score(name, [1, 1, 1, 2])));
        assert_eq!(100.0 - 100.0 * 2.0 / 4.0 * 2.0 / 4.0, score("wil", [1, 1, 1, 2]));
        assert_eq!([200.0, 100.0, 100.0], ["cer", "mer", "wil"].map(|name| score(name, [0, 0, 2, 0])));
        assert_eq!([0.0; 3], ["cer", "mer", "wil"].map(|name| score(name, [0; 4])));
    }
}
