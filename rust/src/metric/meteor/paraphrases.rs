//! METEOR's tables of paraphrases, reduced to the words of a corpus.

use std::path::Path;

use crate::error::Result;
use crate::pool::Run;
use crate::text::ngram::{Token, Vocabulary};

/// Pairs of phrases whose words are all in a vocabulary, as word numbers.
#[derive(Default)]
pub(super) struct Paraphrases {}

impl Paraphrases {
    /// Reads a table once, without holding it in memory.
    ///
    /// # Errors
    /// A file that is missing or damaged, with the line; whatever `run` returned.
    pub(super) fn read(_path: &Path, _words: &Vocabulary, _run: &mut Run<'_>) -> Result<Self> {
        Ok(Paraphrases::default())
    }

    /// Calls `found` with (start, length of the phrase, words of the paraphrase) for every phrase of the table that
    /// occurs in `words`, in order of start, then length, and for each of its paraphrases in the table's order.
    pub(super) fn each(&self, _words: &[Token], _found: &mut dyn FnMut(usize, usize, &[Token])) {}
}
