//! Simulated test sets, and whole tests on each of them: the engine of studies of type-I error and power.
//!
//! A [`Population`] holds the counts of two systems, checked and packed once. A [`Selection`] says how the test set of
//! a simulation is chosen from it: which units, and in which of them the two systems are swapped. An [`Experiment`] runs
//! tests on ranges of simulations. Simulation i is a pure function of the seed and i: everything random in it has the
//! seed `derive(seed, "simulation", i)`. Therefore results have the same bytes for any number of threads, and a range
//! has the results of its parts.
//!
//! What a simulation costs beyond its replicates is to gather the columns that have to be added up; which columns these
//! are, and how the others follow from them, is found once for the population. Memory is the population, a test set and a
//! block of replicates for each thread, and the results.

mod experiment;
mod gather;
mod population;
mod selection;
mod studentized;

pub use experiment::{Experiment, Shuffling};
pub use population::Population;
pub use selection::{Sampling, Selection};

#[cfg(test)]
mod tests;
