//! Is the difference between these systems more than chance?
//!
//! A [metric](metric::Metric) turns each segment into a row of K integer counts and turns *summed* counts into a score.
//! Everything else (shuffles, draws, intervals) is choosing rows, adding them and scoring the sums, many times. This
//! crate counts, adds, scores and tallies; what the numbers mean is said in Python.
//!
//! ```
//! use reshuffle::resample::shuffle::{self, Alternative};
//! use reshuffle::{metric, pool::Run, resample::{Plan, Scored}, stats::SuffStats};
//!
//! # fn main() -> reshuffle::Result<()> {
//! let bleu = metric::metric("bleu", &[])?;
//! let references = [vec![Some("the cat sat on the mat"), Some("it rained all day long")]];
//! let systems = [vec!["the cat sat on a mat", "it rained all day long"], vec!["a cat on mat", "rain all day long"]];
//! let mut run = Run { threads: 0, watch: &mut |_done| Ok(()) };
//! let counts = metric::count(bleu.as_ref(), &systems, &references, &mut run)?;
//! let stats = SuffStats::new(&counts, 2, 2, bleu.columns().len())?;
//! let observed: Vec<f64> = stats.totals().chunks(10).map(|totals| bleu.score(totals)).collect();
//! let plan = (Plan::Seeded { seed: 12345, first: 0 }, 9999);
//! let criterion = (Alternative::TwoSided, [(observed[0] - observed[1]).abs()]);
//! let scored = [Scored::new(bleu.as_ref(), stats)?];
//! let exceedances = shuffle::tally(&scored, &[(0, 1)], (criterion.0, &criterion.1), plan, &mut run)?[0];
//! assert!((0.45..0.55).contains(&((exceedances + 1) as f64 / 10_000.0)));
//! # Ok(())
//! # }
//! ```
//!
//! # Cost
//! With S segments, C columns that say something new among the K counts of k systems, and R replicates: counting reads every
//! text once; a shuffle takes S/8 random bytes and C·S/6 additions of bytes, 64 to an instruction where there are such; a draw
//! S random bytes and C·S products of them; every pair and metric then costs two scores per replicate. Memory is the counts,
//! packed copies of the C columns and a block per thread: it does not grow with R unless the replicates are asked for.
//!
//! # Exactness
//! Counts are integers until the formula, and replicate r is a pure function of the seed and r. So results are the same
//! bytes for any number of threads and any block size, and equal sums are equal scores.

pub mod conllu;
mod edit;
pub mod error;
mod math;
pub mod metric;
mod ngram;
pub mod pool;
#[cfg(feature = "python")]
mod py;
pub mod resample;
pub mod simd;
pub mod stats;
pub mod stream;
pub mod tokenize;

pub use error::{Error, Result};
