//! K-best lists in memory: features, texts and whatever else the files have, entry by entry.
//!
//! Dense features are a matrix, sparse ones a matrix in compressed rows. Entries of a sentence follow each other. Equal
//! hypotheses of a sentence, often more than half of a list, are stored and counted once.

mod build;
mod features;
mod join;
mod read;

pub use build::of_texts;
pub use join::{check_place, merged, selected};
pub use read::{Options, parse, read};

use crate::error::Result;
use crate::memory::reserved;
use crate::pool::Stop;

/// The lists of N sentences, with K entries in all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NBest {
    /// The id of each sentence, in increasing order.
    pub ids: Vec<i64>,
    /// The first entry of each sentence, and at the end K.
    pub offsets: Vec<i64>,
    /// The first distinct hypothesis of each sentence, and at the end their number.
    pub text_offsets: Vec<i64>,
    /// Which distinct hypothesis each entry has.
    pub text_of: Vec<i32>,
    /// Values of the dense features, entry by entry.
    pub dense: Vec<f64>,
    /// The first sparse value of each entry, and at the end their number.
    pub indptr: Vec<i64>,
    /// The features of sparse values, in increasing order within an entry.
    pub indices: Vec<i32>,
    /// Sparse values; none is 0.
    pub values: Vec<f64>,
    /// The decoder's score of each entry. Empty if the file has none.
    pub totals: Vec<f64>,
    /// The names of the dense features.
    pub names: Vec<String>,
    pub sparse_names: Vec<String>,
    /// The distinct hypotheses.
    pub texts: Strings,
    /// Further columns for each entry: alignments of phrases, then of words.
    pub columns: Vec<Strings>,
    /// Are features that an entry lacks 0? If not, every entry has all dense features.
    pub omits_zeros: bool,
}

/// Strings in one buffer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strings {
    bytes: String,
    ends: Vec<usize>,
}

impl Strings {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

impl NBest {
    pub fn sentences(&self) -> usize {
        self.ids.len()
    }

    pub fn entries(&self) -> usize {
        self.text_of.len()
    }

    pub fn entries_of(&self, sentence: usize) -> std::ops::Range<usize> {
        self.offsets[sentence] as usize..self.offsets[sentence + 1] as usize
    }

    /// The distinct hypotheses of a sentence.
    pub fn texts_of(&self, sentence: usize) -> std::ops::Range<usize> {
        self.text_offsets[sentence] as usize..self.text_offsets[sentence + 1] as usize
    }

    pub fn dense_of(&self, entry: usize) -> &[f64] {
        let width = self.names.len();
        &self.dense[entry * width..(entry + 1) * width]
    }

    /// The sparse features of an entry, and their values.
    pub fn sparse_of(&self, entry: usize) -> (&[i32], &[f64]) {
        let range = self.indptr[entry] as usize..self.indptr[entry + 1] as usize;
        (&self.indices[range.clone()], &self.values[range])
    }

    pub fn hypothesis(&self, entry: usize) -> &str {
        self.texts.get(self.text_of[entry] as usize)
    }
}

/// The row of each entry, from rows of distinct hypotheses.
pub fn by_entry(lists: &NBest, rows: &[i64], width: usize) -> Result<Vec<i64>> {
    let mut out = reserved(lists.entries() * width)?;
    for &text in &lists.text_of {
        out.extend_from_slice(&rows[text as usize * width..][..width]);
    }
    Ok(out)
}

/// Whether the entries of some sentence differ in features, and in hypotheses.
pub fn varies(lists: &NBest, stop: &Stop<'_>) -> Result<(bool, bool)> {
    let texts = (0..lists.sentences()).any(|sentence| lists.texts_of(sentence).len() > 1);
    for sentence in 0..lists.sentences() {
        let entries = lists.entries_of(sentence);
        let first = entries.start;
        for entry in entries {
            stop.charge(8 * lists.names.len() + 16)?;
            if lists.dense_of(entry) != lists.dense_of(first) || lists.sparse_of(entry) != lists.sparse_of(first) {
                return Ok((true, texts));
            }
        }
    }
    Ok((false, texts))
}

#[cfg(test)]
mod tests;
