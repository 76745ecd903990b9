//! Text processing that metrics share: tokenizers, n-gram counts, edit distance, common subsequences, stems, and dependency parses.

pub(crate) mod common;
pub(crate) mod conllu;
pub(crate) mod edit;
pub(crate) mod joined;
pub(crate) mod lcs;
pub(crate) mod ngram;
pub(crate) mod porter;
pub(crate) mod runs;
pub(crate) mod scored;
pub(crate) mod shared;
pub mod tokenize;
