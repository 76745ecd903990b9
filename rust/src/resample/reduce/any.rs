//! The table of reductions, and a reduction of any kind.

use std::ops::Range;

use super::*;
use crate::pool::Run;
use crate::resample::{Plan, Resampler};

/// Calls a macro with the table of reductions.
///
/// - `one_pass` ones read the replicates once, and share the pass; `own_passes` ones run them themselves.
/// - `in_parts` ones can be computed in parts by other processes. For the others there are words that say why not.
macro_rules! reductions {
    ($then:ident) => {
        $then! {
            /// Counts of shuffles that reach each threshold.
            Tally: one_pass in_parts,
            /// Tests that end when a rule stops them.
            SequentialTally: one_pass "SequentialTally, which takes the shuffles in order",
            /// Root mean squares of statistics.
            Spread: one_pass in_parts,
            /// Counts of permutations that reach each threshold.
            PermutedTally: one_pass in_parts,
            /// Histograms of statistics.
            Histograms: one_pass in_parts,
            /// Step-down maxT.
            MaxT: one_pass in_parts,
            /// Step-down minP.
            MinP: own_passes "MinP, which ranks each shuffle among all",
            /// The statistics of all shuffles.
            Series: one_pass in_parts,
            /// The scores of all draws.
            Draws: one_pass in_parts,
            /// Means and standard deviations of scores.
            Moments: one_pass in_parts,
            /// The sums of counts of all replicates.
            Sums: one_pass in_parts
        }
    };
}
#[cfg(feature = "python")]
pub(crate) use reductions;

macro_rules! as_one_pass {
    ($reduction:ident one_pass) => {
        Some($reduction)
    };
    ($reduction:ident own_passes) => {{
        let _ = $reduction;
        None
    }};
}

macro_rules! as_state {
    ($reduction:ident in_parts) => {
        Ok($reduction)
    };
    ($reduction:ident $why:literal) => {{
        let _ = $reduction;
        Err(Error::invalid("a reduction whose state is read", "one that other processes can compute in parts", $why))
    }};
}

macro_rules! any {
    ($($(#[$about:meta])* $class:ident: $passes:ident $parts:tt),*) => {
        /// A reduction of any kind.
        #[derive(Clone)]
        pub enum AnyReduction {
            $($(#[$about])* $class($class)),*
        }

        impl AnyReduction {
            /// As [`Ranged::replicates`].
            ///
            /// # Errors
            /// [`Error::InvalidOption`] before a run.
            pub fn replicates(&self) -> Result<Range<u64>> {
                match self {
                    $(AnyReduction::$class(reduction) => reduction.replicates()),*
                }
            }

            /// As [`Ranged::merge`].
            ///
            /// # Errors
            /// As [`Ranged::merge`], and [`Error::InvalidOption`] for a reduction of another kind.
            pub fn merge(&mut self, later: &Self, stop: &Stop<'_>) -> Result<()> {
                match (self, later) {
                    $((AnyReduction::$class(these), AnyReduction::$class(later)) => these.merge(later, stop),)*
                    _ => Err(Error::invalid("a reduction to merge", "one of the same class", "one of another class")),
                }
            }

            /// The reduction, if it reads the replicates in one pass.
            pub(super) fn as_one_pass(&mut self) -> Option<&mut dyn Reduction> {
                match self {
                    $(AnyReduction::$class(reduction) => as_one_pass!(reduction $passes)),*
                }
            }

            /// The state after a run.
            ///
            /// # Errors
            /// As [`State::state`], and [`Error::InvalidOption`] if other processes cannot compute parts of it.
            pub fn state(&self) -> Result<Vec<u64>> {
                let state: Result<&dyn State> = match self {
                    $(AnyReduction::$class(reduction) => as_state!(reduction $parts)),*
                };
                state?.state()
            }

            /// Replaces the result by the one with this state.
            ///
            /// # Errors
            /// As [`State::set_state`], and [`Error::InvalidOption`] if other processes cannot compute parts of it.
            pub fn set_state(&mut self, words: &[u64]) -> Result<()> {
                let state: Result<&mut dyn State> = match self {
                    $(AnyReduction::$class(reduction) => as_state!(reduction $parts)),*
                };
                state?.set_state(words)
            }
        }
    };
}

reductions!(any);

/// Runs reductions over the same replicates. Those that read them once share one pass.
///
/// # Errors
/// As [`Resampler::run`].
pub fn run_all(
    resampler: &Resampler,
    (plan, replicates): (Plan<'_>, Range<u64>),
    reductions: &mut [AnyReduction],
    run: &mut Run<'_>,
) -> Result<()> {
    let mut of_one_pass: Vec<_> = reductions.iter_mut().filter_map(AnyReduction::as_one_pass).collect();
    if !of_one_pass.is_empty() {
        resampler.run((plan, replicates.clone()), &mut of_one_pass, run)?;
    }
    reductions.iter_mut().try_for_each(|reduction| match reduction {
        AnyReduction::MinP(min_p) => min_p.run(resampler, (plan, replicates.clone()), run),
        _ => Ok(()),
    })
}
