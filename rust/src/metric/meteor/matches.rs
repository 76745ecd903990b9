//! Matches between the words or phrases of a hypothesis and a reference.
//!
//! A match of single words is stored once for each distinct word of the reference, so a word that both texts repeat a
//! thousand times has a thousand matches, not a million.

use std::ops::Range;

use super::lexicon::{Lexicon, Word};
use super::settings::Module;
use crate::error::{Error, Result};
use crate::pool::Stop;
use crate::text::ngram::Token;

/// A phrase of the hypothesis that matches a phrase of the reference; single words but for paraphrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) module: Module,
    pub(super) hypothesis: u32,
    pub(super) hypothesis_length: u32,
    pub(super) reference: u32,
    pub(super) reference_length: u32,
}

/// A text: its words, and what is known of each.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) words: &'a [Token],
    /// Their stems; without the module, the words themselves.
    pub(super) stems: &'a [u32],
    pub(super) known: &'a [Word],
}

/// The largest number of matches that are stored for a segment: about 2 GB.
const LARGEST: usize = 1 << 27;

/// A word of the hypothesis that matches a word of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Single {
    pub(super) module: Module,
    pub(super) hypothesis: u32,
}

/// All matches between two texts.
#[derive(Debug, Default)]
pub(super) struct Matches {
    /// Matches of single words, for one distinct word of the reference after the other: by module, then by place in the
    /// hypothesis.
    singles: Vec<Single>,
    /// For each word of the reference, the range of its matches in `singles`.
    ranges: Vec<Range<u32>>,
    /// Paraphrases, by start in the reference, then in the order in which they were found.
    phrases: Vec<Match>,
    /// For each word of the reference, the end of the paraphrases that start there. Empty if there are none.
    phrase_ends: Vec<u32>,
    /// A buffer: the words of the reference with their places, sorted.
    sorted: Vec<u64>,
}

impl Matches {
    /// Finds all matches. Each module looks at all words, whether or not others match them, but identical texts match by
    /// equal words only, and not at all without the module for them.
    pub(super) fn find(
        &mut self,
        lexicon: &Lexicon,
        modules: &[Module],
        [hypothesis, reference]: [Text<'_>; 2],
        stop: &Stop<'_>,
    ) -> Result<()> {
        let identical = hypothesis.words == reference.words;
        let exact: &[Module] = if modules.contains(&Module::Exact) { &[Module::Exact] } else { &[] };
        let modules = if identical { exact } else { modules };
        self.find_singles(lexicon, modules, [hypothesis, reference], stop)?;
        self.phrases.clear();
        self.phrase_ends.clear();
        if modules.contains(&Module::Paraphrase) {
            self.find_phrases(lexicon, [hypothesis.words, reference.words], stop)?;
        }
        Ok(())
    }

    fn find_singles(
        &mut self,
        lexicon: &Lexicon,
        modules: &[Module],
        [hypothesis, reference]: [Text<'_>; 2],
        stop: &Stop<'_>,
    ) -> Result<()> {
        let Matches { singles, ranges, sorted, .. } = self;
        singles.clear();
        ranges.clear();
        ranges.resize(reference.words.len(), 0..0);
        sorted.clear();
        sorted.extend(reference.words.iter().zip(0..).map(|(&word, at): (_, u64)| (u64::from(word) << 32) | at));
        sorted.sort_unstable();
        for same in sorted.chunk_by(|a, b| a >> 32 == b >> 32) {
            let start = singles.len();
            let at = same[0] as u32 as usize;
            let (word, stem, known) = (reference.words[at], reference.stems[at], reference.known[at]);
            stop.charge(modules.len() * hypothesis.words.len() + same.len())?;
            // Most words have no match. Equal words have equal stems, so a quick look at the stems rules out two modules.
            let has_stem = hypothesis.stems.iter().fold(false, |any, &other| any | (other == stem));
            for &module in modules {
                let others = hypothesis.words.iter().zip(0..);
                let mut add = |at| singles.push(Single { module, hypothesis: at });
                match module {
                    Module::Exact if has_stem => {
                        others.filter(|(other, _)| **other == word).for_each(|(_, at)| add(at));
                    }
                    Module::Stem if has_stem => {
                        let others = others.zip(hypothesis.stems).filter(|(_, other)| **other == stem);
                        others.filter(|((other, _), _)| **other != word).for_each(|((_, at), _)| add(at));
                    }
                    Module::Synonym if known.synsets != 0 => {
                        let others =
                            others.zip(hypothesis.known).filter(|(_, other)| other.synsets & known.synsets != 0);
                        let others =
                            others.filter(|((other, _), _)| **other != word && lexicon.share_synset(**other, word));
                        others.for_each(|((_, at), _)| add(at));
                    }
                    _ => {}
                }
            }
            if singles.len() > LARGEST {
                return Err(Error::Memory { numbers: singles.len() as u128 });
            }
            same.iter().for_each(|&at| ranges[at as u32 as usize] = start as u32..singles.len() as u32);
        }
        Ok(())
    }

    /// Looks for each phrase of the reference that has paraphrases, then for each of the hypothesis. Pairs that are found
    /// in both ways are two matches.
    fn find_phrases(
        &mut self,
        lexicon: &Lexicon,
        [hypothesis, reference]: [&[Token]; 2],
        stop: &Stop<'_>,
    ) -> Result<()> {
        let Matches { phrases, phrase_ends, .. } = self;
        for from_hypothesis in [false, true] {
            let (keys, other) = if from_hypothesis { (hypothesis, reference) } else { (reference, hypothesis) };
            let present = Present::new(other);
            let mut outcome = Ok(());
            lexicon.paraphrases.each(keys, &mut |start, length, paraphrase| {
                if outcome.is_err() || paraphrase.is_empty() {
                    return;
                }
                if !paraphrase.iter().all(|&word| present.may_have(word)) {
                    outcome = stop.charge(4);
                    return;
                }
                outcome = stop.charge(other.len());
                for (at, _) in other.windows(paraphrase.len()).enumerate().filter(|(_, words)| *words == paraphrase) {
                    let mut all =
                        [(start, length), (at, paraphrase.len())].map(|(at, length)| (at as u32, length as u32));
                    if !from_hypothesis {
                        all.reverse();
                    }
                    let [(hypothesis, hypothesis_length), (reference, reference_length)] = all;
                    let module = Module::Paraphrase;
                    phrases.push(Match { module, hypothesis, hypothesis_length, reference, reference_length });
                }
                if phrases.len() > LARGEST {
                    outcome = Err(Error::Memory { numbers: phrases.len() as u128 });
                }
            });
            outcome?;
        }
        if !phrases.is_empty() {
            phrases.sort_by_key(|phrase| phrase.reference);
            phrase_ends.resize(reference.len(), 0);
            phrases.iter().for_each(|phrase| phrase_ends[phrase.reference as usize] += 1);
            let mut end = 0;
            phrase_ends.iter_mut().for_each(|count| {
                end += *count;
                *count = end;
            });
        }
        Ok(())
    }

    /// The matches of single words that start at a word of the reference.
    pub(super) fn singles(&self, reference: usize) -> &[Single] {
        let Range { start, end } = self.ranges[reference];
        &self.singles[start as usize..end as usize]
    }

    /// The paraphrases that start at a word of the reference.
    pub(super) fn phrases(&self, reference: usize) -> &[Match] {
        if self.phrases.is_empty() {
            return &[];
        }
        let start = if reference == 0 { 0 } else { self.phrase_ends[reference - 1] };
        &self.phrases[start as usize..self.phrase_ends[reference] as usize]
    }

    /// All paraphrases.
    pub(super) fn all_phrases(&self) -> &[Match] {
        &self.phrases
    }

    /// The matches of each distinct word of the reference, and how often it occurs there.
    pub(super) fn distinct(&self) -> impl Iterator<Item = (&[Single], u32)> {
        self.sorted
            .chunk_by(|a, b| a >> 32 == b >> 32)
            .map(|same| (self.singles(same[0] as u32 as usize), same.len() as u32))
    }

    /// The matches of these pairs of words, a module and a place in either text, and these paraphrases, in order.
    #[cfg(test)]
    pub(super) fn of(singles: &[(Module, u32, u32)], phrases: &[Match], reference_length: u32) -> Self {
        let mut made = Matches { phrases: phrases.to_vec(), ..Matches::default() };
        for at in 0..reference_length {
            let start = made.singles.len() as u32;
            let here = singles.iter().filter(|&&(_, _, reference)| reference == at);
            made.singles.extend(here.map(|&(module, hypothesis, _)| Single { module, hypothesis }));
            made.ranges.push(start..made.singles.len() as u32);
            made.phrase_ends.push(phrases.iter().filter(|phrase| phrase.reference <= at).count() as u32);
            made.sorted.push(u64::from(at) << 32 | u64::from(at));
        }
        made
    }

    /// The match of single words in the form of the others.
    pub(super) fn single(reference: usize, single: Single) -> Match {
        let Single { module, hypothesis } = single;
        Match { module, hypothesis, hypothesis_length: 1, reference: reference as u32, reference_length: 1 }
    }
}

/// Tells quickly that most words do not occur in a text.
struct Present([u64; 16]);

impl Present {
    fn new(words: &[Token]) -> Self {
        let mut present = Present([0; 16]);
        for &word in words {
            let (at, bit) = Self::place(word);
            present.0[at] |= bit;
        }
        present
    }

    /// A word that the text contains, or one that shares its place in the table.
    fn may_have(&self, word: Token) -> bool {
        let (at, bit) = Self::place(word);
        self.0[at] & bit != 0
    }

    fn place(word: Token) -> (usize, u64) {
        (word as usize / 64 % 16, 1 << (word % 64))
    }
}
