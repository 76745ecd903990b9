//! What is known of each word of a corpus.

use super::normalize::Normalizer;
use super::paraphrases::Paraphrases;
use super::wordnet::{Synset, Synsets};
use crate::text::ngram::{Token, Vocabulary};

/// The words of all texts, numbered, with what the modules need to know of them. Prepared once for a corpus and shared by
/// all counters.
pub(super) struct Lexicon {
    pub(super) normalizer: Normalizer,
    pub(super) vocabulary: Vocabulary,
    /// The number of each word's stem. Equal stems have equal numbers. Empty if the module is not in use.
    pub(super) stems: Vec<u32>,
    /// Is the word a function word?
    pub(super) function: Vec<bool>,
    pub(super) synsets: Synsets,
    pub(super) paraphrases: Paraphrases,
}

impl Lexicon {
    /// Have two different words a synonym set in common? Both lists are sorted.
    pub(super) fn share_synset(&self, a: Token, b: Token) -> bool {
        let (mut a, mut b): (&[Synset], &[Synset]) = (self.synsets.of(a), self.synsets.of(b));
        while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
            match x.cmp(y) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => a = rest_a,
                std::cmp::Ordering::Greater => b = rest_b,
            }
        }
        false
    }
}
