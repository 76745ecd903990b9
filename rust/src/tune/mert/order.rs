//! Corners in the order of their places.

use super::envelope::Corner;
use crate::error::Result;
use crate::pool::{self, Stop};

/// Fewer corners are sorted directly, and more by the sort that can be stopped.
const SIZES: std::ops::Range<usize> = 64..1 << 16;

/// Buckets on each side of 0: for places of 2^−20 ([`LEAST`]) to 2^12. Those beyond share the first or the last bucket.
const SIDE: usize = 1024;

/// Buckets for every power of two.
const STEPS: u64 = 32;

/// Places whose absolute value is below 2 to this power share a bucket.
const LEAST: i64 = -20;

/// Memory for sorting.
#[derive(Default)]
pub(super) struct Sorter {
    ends: Vec<u32>,
    sorted: Vec<Corner>,
}

/// The bucket of a place: in each power of two there are some of equal width, so that few corners of lists share one.
fn bucket(x: f64) -> usize {
    // The exponent's 11 bits and the first 5 bits after them.
    let magnitude = (x.abs().to_bits() >> (52 - STEPS.ilog2())) as i64;
    let number = (magnitude - (1023 + LEAST) * STEPS as i64).clamp(0, SIDE as i64 - 1) as usize;
    if x.is_sign_negative() { SIDE - 1 - number } else { SIDE + number }
}

impl Sorter {
    /// Sorts corners by their places.
    pub fn sort(&mut self, corners: &mut Vec<Corner>, stop: &Stop<'_>) -> Result<()> {
        if !SIZES.contains(&corners.len()) {
            return pool::sort(corners, |a, b| a.x.total_cmp(&b.x), stop);
        }
        let Sorter { ends, sorted } = self;
        ends.clear();
        ends.resize(2 * SIDE, 0);
        for corner in corners.iter() {
            ends[bucket(corner.x)] += 1;
        }
        let mut start = 0;
        for end in ends.iter_mut() {
            start += std::mem::replace(end, start);
        }
        sorted.clear();
        sorted.resize(corners.len(), Corner::default());
        for corner in corners.iter() {
            let end = &mut ends[bucket(corner.x)];
            sorted[*end as usize] = *corner;
            *end += 1;
        }
        let mut start = 0;
        for &end in ends.iter() {
            sorted[start..end as usize].sort_unstable_by(|a, b| a.x.total_cmp(&b.x));
            start = end as usize;
        }
        std::mem::swap(corners, sorted);
        Ok(())
    }
}
