//! Pairs of cells, counted in buckets of differences.

use std::ops::Range;

use super::sorted::{Sorted, Window, key};
use crate::error::Result;
use crate::memory::zeros;
use crate::meta::pairs_of;
use crate::pool::Stop;
use crate::simd::{Simd, dispatch};

/// The number of buckets, and the binary digits of differences that a bucket ignores, at most: there are 128 buckets
/// for each power of two.
pub(super) const BUCKETS: usize = 1 << 11;
const MOST_IGNORED: u32 = 45;

/// The number of pairs that one block of work puts into buckets, roughly.
pub(super) const PAIRS_PER_BLOCK: u64 = 1 << 21;

/// How the keys of a window are divided into buckets.
#[derive(Clone, Copy)]
pub(super) struct Buckets {
    keys: Window,
    /// The smallest key of the first bucket, but for keys that are even smaller.
    first: u64,
    pub ignored: u32,
}

impl Buckets {
    pub fn new(window: Window) -> Self {
        let keys = window.to - window.after;
        let wanted = (0..MOST_IGNORED).find(|ignored| (keys - 1) >> ignored < BUCKETS as u64);
        let ignored = wanted.unwrap_or(MOST_IGNORED);
        let first = window.to.saturating_sub((BUCKETS as u64) << ignored).max(window.after) + 1;
        Buckets { keys: window, first, ignored }
    }

    #[inline(always)]
    fn of(&self, key: u64) -> usize {
        ((key.max(self.first) - self.first) >> self.ignored) as usize
    }

    /// The keys of neighbouring buckets.
    pub fn window(&self, some: Range<usize>) -> Window {
        let start = |bucket: usize| self.first - 1 + ((bucket as u64) << self.ignored);
        let after = if some.start == 0 { self.keys.after } else { start(some.start) };
        Window { after, to: start(some.end).min(self.keys.to) }
    }
}

/// The pairs of each bucket: discordant ones, gains, and losses.
type Histogram = Vec<[u64; BUCKETS]>;

/// The weights of the gains and losses of each bucket.
pub(super) type Weighted = Vec<[i128; 2]>;

/// The part of a metric's pairs that a block of work puts into buckets: some groups of a class, or some rows of a group.
pub(super) struct Part {
    pub metric: usize,
    pub weight: i128,
    pub groups: Range<usize>,
    pub rows: Option<Range<usize>>,
}

/// A metric's pairs in parts.
pub(super) fn parts(metric: usize, sorted: &Sorted, parts: &mut Vec<Part>) {
    for class in &sorted.classes {
        let length = sorted.groups[class.groups.start].len();
        let at_a_time = (PAIRS_PER_BLOCK / pairs_of(length)) as usize;
        if at_a_time > 0 {
            let starts = class.groups.clone().step_by(at_a_time);
            let groups = starts.map(|start| start..(start + at_a_time).min(class.groups.end));
            parts.extend(groups.map(|groups| Part { metric, weight: class.weight, groups, rows: None }));
            continue;
        }
        for group in class.groups.clone() {
            let rows = &sorted.groups[group];
            let mut first = rows.start;
            while first < rows.end {
                let at_a_time = (PAIRS_PER_BLOCK as usize).div_ceil(rows.end - first);
                let last = (first + at_a_time).min(rows.end);
                let groups = group..group + 1;
                parts.push(Part { metric, weight: class.weight, groups, rows: Some(first..last) });
                first = last;
            }
        }
    }
}

/// Pairs that are assigned to buckets before they are counted, and how many of them, far from each other, are counted in
/// turn.
const PAIRS_AT_ONCE: usize = 1 << 10;
const IN_TURN: usize = 16;

/// Counts the pairs of a row with cells above it by bucket.
#[inline(always)]
fn row_into(
    above: (&[f64], &[f64]),
    (metric, human): (f64, f64),
    buckets: Buckets,
    places: &mut [u32; PAIRS_AT_ONCE],
    histogram: &mut [[u64; BUCKETS]],
) {
    let flat = histogram.as_flattened_mut();
    for (scores, of_people) in above.0.chunks(PAIRS_AT_ONCE).zip(above.1.chunks(PAIRS_AT_ONCE)) {
        for ((place, &score), &other) in places.iter_mut().zip(scores).zip(of_people) {
            let kind = usize::from(other >= human) + usize::from(other > human);
            *place = (kind * BUCKETS + buckets.of(key(score - metric))) as u32;
        }
        // Neighbours tend to be in one bucket, and an addition to it would wait for the one before.
        let stride = scores.len().div_ceil(IN_TURN);
        for first in 0..stride {
            for &place in places[..scores.len()][first..].iter().step_by(stride) {
                flat[place as usize] += 1;
            }
        }
    }
}

dispatch! {
    /// Counts the pairs of some rows of a group with the cells above them by bucket.
    fn rows_into(
        sorted: &Sorted,
        group: &Range<usize>,
        rows: Range<usize>,
        buckets: Buckets,
        places: &mut [u32; PAIRS_AT_ONCE],
        histogram: &mut [[u64; BUCKETS]],
    ) {
        sorted.visit(group, rows, buckets.keys, |row, above| {
            let cells = (&sorted.metric[above.clone()], &sorted.human[above]);
            row_into(cells, (sorted.metric[row], sorted.human[row]), buckets, places, histogram);
        });
    }
}

/// How many pairs are counted between two checks whether to stop, at most; or a row.
const PAIRS_PER_CHECK: usize = 1 << 18;

impl Part {
    /// Puts the pairs of this part into buckets.
    pub fn histogram(&self, sorted: &Sorted, buckets: Buckets, stop: &Stop<'_>) -> Result<Histogram> {
        let (mut histogram, mut places) = (zeros(&[3])?, [0; PAIRS_AT_ONCE]);
        let simd = Simd::best();
        for group in &sorted.groups[self.groups.clone()] {
            let rows = self.rows.as_ref().unwrap_or(group);
            let at_a_time = (PAIRS_PER_CHECK / group.len()).max(1);
            for first in rows.clone().step_by(at_a_time) {
                let rows = first..(first + at_a_time).min(rows.end);
                stop.charge(4 * rows.len() * (group.end - first))?;
                rows_into(simd, sorted, group, rows, buckets, &mut places, &mut histogram);
            }
        }
        Ok(histogram)
    }

    pub fn add(&self, histogram: &Histogram, weighted: &mut Weighted) {
        for ((&gains, &losses), sum) in histogram[1].iter().zip(&histogram[2]).zip(weighted) {
            sum[0] += i128::from(gains) * self.weight;
            sum[1] += i128::from(losses) * self.weight;
        }
    }
}
