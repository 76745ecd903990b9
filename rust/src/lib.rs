//! Is the difference between these systems statistically significant?
//!
//! A [metric](metric::Metric) turns each segment into a row of K integer counts, and turns *summed* counts into a score.
//! Everything else (shuffles, draws, intervals) chooses rows, adds them up and scores the sums, many times. This crate
//! counts, adds, scores and tallies; Python interprets the results.
//!
#![cfg_attr(doc, doc = concat!("```\n", include_str!("../../tests/rust/example.rs"), "```"))]
//!
//! # Cost
//! Let S be the number of segments, R of replicates, and C of columns among the K counts of k systems that do not follow from
//! other columns. Counting reads every text once. A shuffle takes S/8 random bytes and C·S/6 additions of bytes, 64 per
//! instruction with AVX-512; a draw takes S random bytes and C·S products of bytes. Every pair and metric then costs two
//! scores per replicate. Memory is the counts, packed copies of the C columns and a block per thread; it does not grow with
//! R unless the replicates themselves are requested.
//!
//! # Exactness
//! Counts are integers until the formula is applied, and replicate r is a pure function of the seed and r. Therefore results
//! are the same bytes for any number of threads and any block size, and equal sums have equal scores.

// What only `py` uses is private, so that the compiler reports what is no longer used.
#![cfg_attr(not(feature = "python"), allow(dead_code, unused_imports))]

mod error;
mod math;
mod memory;
mod meta;
pub mod metric;
pub mod pool;
#[cfg(feature = "python")]
mod py;
pub mod resample;
mod sequential;
pub mod simd;
pub mod stats;
pub mod stream;
mod study;
#[cfg(test)]
mod testing;
pub mod text;
mod tune;
mod votes;

// A file of its own in tests/rust, as other crates would write it, but compiled with the other tests: a second build of the
// whole crate for it would take as long as the first.
#[cfg(test)]
extern crate self as reshuffle;
#[cfg(test)]
#[path = "../../tests/rust/mod.rs"]
mod public;

pub use error::{Error, Result};
