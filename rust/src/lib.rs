//! Is the difference between these systems statistically significant?
//!
//! A [metric](metric::Metric) turns each segment into a row of K integer counts, and turns *summed* counts into a score.
//! Everything else (shuffles, draws, intervals) chooses rows, adds them up and scores the sums, many times. This crate
//! counts, adds, scores and tallies; Python interprets the results.
//!
//! ```
//! use reshuffle::resample::reduce::Tally;
//! use reshuffle::resample::{Alternative, Kind, Plan, Resampler, Sample};
//! use reshuffle::{metric, pool::Run, stats::SuffStats};
//!
//! # fn main() -> reshuffle::Result<()> {
//! let bleu = metric::metric("bleu", &[])?;
//! let references = [vec![Some("the cat sat on the mat"), Some("it rained all day long")]];
//! let systems = [vec!["the cat sat on a mat", "it rained all day long"], vec!["a cat on mat", "rain all day long"]];
//! let mut run = Run { threads: 0, watch: &mut |_done| Ok(()) };
//! let counts = metric::count(&[bleu.as_ref()], &systems, &references, &mut run)?;
//! let sample = Sample::new(bleu.clone(), SuffStats::new(&counts[0], 2, 2, bleu.columns().len())?)?;
//! let resampler = Resampler::prepare(&[sample], Kind::Shuffles, &mut run)?;
//! let scores = &resampler.scores().expect("the sample has a metric")[0];
//! let mut tally = Tally::new(vec![(0, 1)], Alternative::TwoSided, vec![(scores[0] - scores[1]).abs()]);
//! resampler.run((Plan::Seeded(12345), 0..9999), &mut [&mut tally], &mut run)?;
//! assert!((0.45..0.55).contains(&((tally.counts()[0] + 1) as f64 / 10_000.0)));
//! # Ok(())
//! # }
//! ```
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

pub mod error;
mod math;
mod memory;
pub mod meta;
pub mod metric;
pub mod pool;
#[cfg(feature = "python")]
mod py;
pub mod resample;
pub mod sequential;
pub mod simd;
pub mod stats;
pub mod stream;
pub mod study;
pub mod text;
pub mod tune;
pub mod votes;

pub use error::{Error, Result};
