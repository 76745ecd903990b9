//! Runs of an optimizer, one for each seed, and their random numbers.

use crate::error::Result;
use crate::memory::reserved;
use crate::pool::{self, Run, Stop};
use crate::stream::{Purpose, Stream};

/// Runs an optimizer once for each seed, side by side. `one` returns weights and a record of the run. Returns those of
/// all runs, in the order of the seeds.
pub(in crate::tune) fn each_seed(
    seeds: &[u64],
    width: usize,
    cost: u64,
    run: &mut Run<'_>,
    one: impl Fn(u64, &Stop<'_>) -> Result<(Vec<f64>, Vec<f64>)> + Sync,
) -> Result<(Vec<f64>, Vec<f64>)> {
    let (mut weights, mut records) = (reserved(seeds.len().saturating_mul(width))?, Vec::new());
    let runs = pool::each(seeds.len(), cost, run, || (), |(), i, stop| one(seeds[i], stop))?;
    runs.into_iter().for_each(|(of_run, record)| {
        weights.extend(of_run);
        records.extend(record);
    });
    Ok((weights, records))
}

/// The order in which a run visits the sentences in an epoch.
pub(in crate::tune) fn shuffle(seed: u64, epoch: u64, order: &mut Vec<u32>, sentences: usize) {
    order.clear();
    order.extend(0..sentences as u32);
    let stream = Stream::new(seed, Purpose::Visit, epoch);
    // Each exchange takes a random number of its own: the high half of 64 random bits times the number of places. No
    // place is more likely than another one by more than 2^-32.
    for (i, value) in (1..sentences).rev().zip(stream.values()) {
        order.swap(i, ((u128::from(value) * (i as u128 + 1)) >> 64) as usize);
    }
}
