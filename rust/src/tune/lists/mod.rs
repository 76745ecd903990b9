//! K-best lists in memory: features, texts and whatever else the files have, entry by entry.
//!
//! Dense features are a matrix, sparse ones a matrix in compressed rows. Entries of a sentence follow each other. Equal
//! hypotheses of a sentence, often more than half of a list, are stored and counted once.

mod build;
mod features;
mod join;
mod read;

pub use build::of_texts;
pub use join::{merged, selected};
pub use read::{Options, parse, read};

use crate::error::Result;
use crate::memory::reserved;
use crate::pool::{Stop, WorkMeter};

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
    /// What is neither a number for each entry nor an offset.
    pub words: Words,
}

/// Names and texts of lists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Words {
    /// The names of the dense features.
    pub names: Vec<String>,
    /// The names of the sparse features.
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
    /// The number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// A string.
    pub fn get(&self, i: usize) -> &str {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

/// Lists whose arrays are elsewhere.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)] // as in [`NBest`]
pub struct View<'a> {
    pub ids: &'a [i64],
    pub offsets: &'a [i64],
    pub text_offsets: &'a [i64],
    pub text_of: &'a [i32],
    pub dense: &'a [f64],
    pub indptr: &'a [i64],
    pub indices: &'a [i32],
    pub values: &'a [f64],
    pub totals: &'a [f64],
    pub words: &'a Words,
}

impl NBest {
    /// The same lists, borrowed.
    pub fn view(&self) -> View<'_> {
        View {
            ids: &self.ids,
            offsets: &self.offsets,
            text_offsets: &self.text_offsets,
            text_of: &self.text_of,
            dense: &self.dense,
            indptr: &self.indptr,
            indices: &self.indices,
            values: &self.values,
            totals: &self.totals,
            words: &self.words,
        }
    }
}

impl<'a> View<'a> {
    /// The number of sentences.
    pub fn sentences(&self) -> usize {
        self.ids.len()
    }

    /// The number of entries.
    pub fn entries(&self) -> usize {
        self.text_of.len()
    }

    /// The entries of a sentence.
    pub fn entries_of(&self, sentence: usize) -> std::ops::Range<usize> {
        self.offsets[sentence] as usize..self.offsets[sentence + 1] as usize
    }

    /// The distinct hypotheses of a sentence.
    pub fn texts_of(&self, sentence: usize) -> std::ops::Range<usize> {
        self.text_offsets[sentence] as usize..self.text_offsets[sentence + 1] as usize
    }

    /// The dense features of an entry.
    pub fn dense_of(&self, entry: usize) -> &'a [f64] {
        let width = self.words.names.len();
        &self.dense[entry * width..(entry + 1) * width]
    }

    /// The sparse features of an entry, and their values.
    pub fn sparse_of(&self, entry: usize) -> (&'a [i32], &'a [f64]) {
        let range = self.indptr[entry] as usize..self.indptr[entry + 1] as usize;
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The hypothesis of an entry.
    pub fn hypothesis(&self, entry: usize) -> &'a str {
        self.words.texts.get(self.text_of[entry] as usize)
    }
}

/// The row of each entry, from rows of distinct hypotheses.
///
/// # Errors
/// [`Error::Memory`](crate::Error::Memory).
pub fn by_entry(lists: View<'_>, rows: &[i64], width: usize) -> Result<Vec<i64>> {
    let mut out = reserved(lists.entries() * width)?;
    for &text in lists.text_of {
        out.extend_from_slice(&rows[text as usize * width..][..width]);
    }
    Ok(out)
}

/// Whether the entries of some sentence differ in features, and in hypotheses.
///
/// # Errors
/// [`Error::Interrupted`](crate::Error::Interrupted).
pub fn varies(lists: View<'_>, stop: &Stop<'_>) -> Result<(bool, bool)> {
    let texts = (0..lists.sentences()).any(|sentence| lists.texts_of(sentence).len() > 1);
    let mut meter = WorkMeter::default();
    for sentence in 0..lists.sentences() {
        let entries = lists.entries_of(sentence);
        let first = entries.start;
        for entry in entries {
            meter.charge(8 * lists.words.names.len() + 16, stop)?;
            if lists.dense_of(entry) != lists.dense_of(first) || lists.sparse_of(entry) != lists.sparse_of(first) {
                return Ok((true, texts));
            }
        }
    }
    Ok((false, texts))
}

#[cfg(test)]
mod tests;
