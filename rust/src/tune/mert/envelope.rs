//! The upper envelope of lines: which entry of a list is best where.

use std::cmp::Ordering;

use crate::simd::{Simd, dispatch};
use crate::tune::candidates::heights;

/// Numbers that are compared together.
const COMPARED: usize = 16;

/// As many of the few entries that have been kept are looked at together.
const LANES: usize = 8;

/// Entries whose comparisons fit into a number of as many bits.
const BITS: usize = 64;

/// Fewer entries than this are sorted by insertion.
const FEW: usize = 32;

/// Where the best entry of a list changes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Corner {
    /// The place on the line.
    pub x: f64,
    /// The best entry to the left.
    pub from: u32,
    /// The best entry to the right.
    pub to: u32,
}

/// An entry as a line: its score is height + slope·x.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    slope: f64,
    height: f64,
    /// From where on it is the best of the entries of at most its slope.
    from: f64,
    number: u32,
}

/// Memory for the computation of envelopes.
#[derive(Default)]
pub(super) struct Envelope {
    kept: Kept,
    entries: Vec<Entry>,
}

/// Entries that may be on the envelope, in their order in the list.
#[derive(Default)]
struct Kept {
    numbers: Vec<u32>,
    heights: Vec<f64>,
    slopes: Vec<f64>,
}

/// The scores of the entries of a list, and the first of the best ones.
pub(super) fn best(simd: Simd, features: &[f64], weights: &[f64], out: &mut Vec<f64>) -> usize {
    heights(simd, features, weights, features.len() / weights.len(), out);
    let highest = ends(simd, out)[1];
    first(out, highest)
}

/// An entry of the smallest and one of the largest slope.
pub(super) fn outer(simd: Simd, slopes: &[f64]) -> [usize; 2] {
    ends(simd, slopes).map(|end| first(slopes, end))
}

#[inline(always)]
fn first(numbers: &[f64], number: f64) -> usize {
    numbers.iter().position(|&x| x == number).unwrap_or(0)
}

dispatch! {
    /// The smallest and the largest of the numbers.
    fn ends(numbers: &[f64]) -> [f64; 2] {
        let less = |a: f64, b: f64| if a < b { a } else { b };
        let more = |a: f64, b: f64| if a > b { a } else { b };
        let (whole, rest) = numbers.as_chunks::<COMPARED>();
        let (mut low, mut high) = ([f64::INFINITY; COMPARED], [f64::NEG_INFINITY; COMPARED]);
        for numbers in whole {
            for i in 0..COMPARED {
                low[i] = less(numbers[i], low[i]);
                high[i] = more(numbers[i], high[i]);
            }
        }
        let rest = || rest.iter().copied();
        [rest().fold(extreme(low, less), less), rest().fold(extreme(high, more), more)]
    }
}

/// The number of all lanes that is better than the others.
#[inline(always)]
fn extreme<const N: usize>(mut lanes: [f64; N], better: impl Fn(f64, f64) -> f64) -> f64 {
    let mut half = N / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = better(lanes[i], lanes[i + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// A point above which an entry must be at least at one place, to be on the envelope.
#[derive(Debug, Clone, Copy)]
struct Threshold {
    x: f64,
    y: f64,
}

impl Threshold {
    /// A point that every entry is below.
    const NOWHERE: Threshold = Threshold { x: 0.0, y: f64::INFINITY };

    /// Whether an entry is below the point. NaN, from places too far away to compute, is not below anything.
    #[inline(always)]
    fn is_over(self, height: f64, slope: f64) -> bool {
        height + slope * self.x < self.y
    }
}

dispatch! {
    /// Keeps the entries that are above one of the thresholds.
    fn above(heights: &[f64], slopes: &[f64], thresholds: [Threshold; 2], kept: &mut Kept) {
        let [left, right] = thresholds;
        let numbers = &mut kept.numbers;
        numbers.clear();
        numbers.resize(heights.len(), 0);
        let (mut n, mut start) = (0, 0);
        for (heights, slopes) in heights.chunks(BITS).zip(slopes.chunks(BITS)) {
            let mut mask = 0_u64;
            let (whole_heights, rest_heights) = heights.as_chunks::<8>();
            let (whole_slopes, rest_slopes) = slopes.as_chunks::<8>();
            let is_kept = |height, slope| !(left.is_over(height, slope) & right.is_over(height, slope));
            for (i, (heights, slopes)) in whole_heights.iter().zip(whole_slopes).enumerate() {
                let bits = (0..8).fold(0_u32, |bits, i| bits | u32::from(is_kept(heights[i], slopes[i])) << i);
                mask |= u64::from(bits) << (8 * i);
            }
            for (i, (&height, &slope)) in rest_heights.iter().zip(rest_slopes).enumerate() {
                mask |= u64::from(is_kept(height, slope)) << (8 * whole_heights.len() + i);
            }
            while mask != 0 {
                numbers[n] = start + mask.trailing_zeros();
                n += 1;
                mask &= mask - 1;
            }
            start += BITS as u32;
        }
        numbers.truncate(n);
        kept.heights.clear();
        kept.heights.extend(kept.numbers.iter().map(|&number| heights[number as usize]));
        kept.slopes.clear();
        kept.slopes.extend(kept.numbers.iter().map(|&number| slopes[number as usize]));
    }
}

/// Three entries of a list, as (slope, height): of the smallest slope, best at x = 0, of the largest slope.
///
/// Their own envelope has at most two corners. An entry that is nowhere above these corners is nowhere above that
/// envelope, because it is a line. The margins are much larger than rounding errors, so that the entries left out would
/// not change a bit of the result.
#[derive(Debug, Clone, Copy)]
struct Frame {
    low: (f64, f64),
    best: (f64, f64),
    high: (f64, f64),
    /// The sizes of slopes and of heights, for margins.
    steepest: f64,
    largest: f64,
}

impl Frame {
    fn new(low: (f64, f64), best: (f64, f64), high: (f64, f64)) -> Self {
        let steepest = low.0.abs().max(high.0.abs());
        Frame { low, best, high, steepest, largest: best.1.abs() + low.1.abs() + high.1.abs() }
    }

    /// The corner of two entries, if they are not parallel.
    #[inline(always)]
    fn corner(&self, left: (f64, f64), right: (f64, f64)) -> Threshold {
        const MARGIN: f64 = 1e-11;
        if left.0 >= right.0 {
            return Threshold::NOWHERE;
        }
        let x = (left.1 - right.1) / (right.0 - left.0);
        Threshold { x, y: right.1 + right.0 * x - MARGIN * (self.largest + self.steepest * x.abs()) }
    }

    fn corners(&self) -> [Threshold; 2] {
        [self.corner(self.low, self.best), self.corner(self.best, self.high)]
    }
}

dispatch! {
    /// Leaves out the entries below the envelope of the frame and the entries that are highest at its corners.
    fn refine(frame: &Frame, kept: &mut Kept) {
        let [left, right] = frame.corners();
        let Frame { low, best, high, .. } = *frame;
        let [a, b] = between(frame, left, (low, best), kept);
        let [c, d] = between(frame, right, (best, high), kept);
        let mut n = 0;
        for i in 0..kept.numbers.len() {
            let (height, slope) = (kept.heights[i], kept.slopes[i]);
            let below = a.is_over(height, slope)
                & b.is_over(height, slope)
                & c.is_over(height, slope)
                & d.is_over(height, slope);
            kept.numbers[n] = kept.numbers[i];
            kept.heights[n] = height;
            kept.slopes[n] = slope;
            n += usize::from(!below);
        }
        kept.numbers.truncate(n);
        kept.heights.truncate(n);
        kept.slopes.truncate(n);
    }
}

/// The corners of two entries of the frame with the entry that is highest at their own corner.
#[inline(always)]
fn between(frame: &Frame, corner: Threshold, (left, right): ((f64, f64), (f64, f64)), kept: &Kept) -> [Threshold; 2] {
    if left.0 >= right.0 {
        return [Threshold::NOWHERE; 2];
    }
    let highest = highest(&kept.heights, &kept.slopes, corner.x);
    let middle = (kept.slopes[highest], kept.heights[highest]);
    match left.0 <= middle.0 && middle.0 <= right.0 {
        true => [frame.corner(left, middle), frame.corner(middle, right)],
        // Rounding errors, or places too far away to compute.
        false => [corner, Threshold::NOWHERE],
    }
}

/// The first of the highest entries at a place.
#[inline(always)]
fn highest(heights: &[f64], slopes: &[f64], x: f64) -> usize {
    let more = |a: f64, b: f64| if a > b { a } else { b };
    let (whole_heights, rest_heights) = heights.as_chunks::<LANES>();
    let (whole_slopes, rest_slopes) = slopes.as_chunks::<LANES>();
    let mut lanes = [f64::NEG_INFINITY; LANES];
    for (heights, slopes) in whole_heights.iter().zip(whole_slopes) {
        for i in 0..LANES {
            lanes[i] = more(heights[i] + slopes[i] * x, lanes[i]);
        }
    }
    let rest = rest_heights.iter().zip(rest_slopes).map(|(height, slope)| height + slope * x);
    let most = rest.fold(extreme(lanes, more), |most, y| more(y, most));
    heights.iter().zip(slopes).position(|(height, slope)| height + slope * x == most).unwrap_or(0)
}

impl Envelope {
    /// Appends the corners of a list's envelope, and returns the best entry far to the left. `best` is the first entry
    /// of the largest height, `outer` are an entry of the smallest and one of the largest slope. Entries are numbered
    /// from `first` on in the corners.
    pub fn corners(
        &mut self,
        simd: Simd,
        (heights, slopes): (&[f64], &[f64]),
        (best, outer): (usize, [usize; 2]),
        first: usize,
        out: &mut Vec<Corner>,
    ) -> usize {
        let [low, high] = outer.map(|entry| (slopes[entry], heights[entry]));
        if low.0 == high.0 {
            return best;
        }
        let frame = Frame::new(low, (slopes[best], heights[best]), high);
        above(simd, heights, slopes, frame.corners(), &mut self.kept);
        if self.kept.numbers.len() > LANES {
            refine(simd, &frame, &mut self.kept);
        }
        self.entries.clear();
        let lines = self.kept.slopes.iter().zip(&self.kept.heights);
        for (&number, (slope, height)) in self.kept.numbers.iter().zip(lines) {
            // Adding 0 makes a positive zero of a negative one.
            self.entries.push(Entry { slope: slope + 0.0, height: height + 0.0, from: f64::NEG_INFINITY, number });
        }
        sort(&mut self.entries);
        stack(&mut self.entries);
        let first = first as u32;
        out.extend(self.entries.windows(2).map(|pair| Corner {
            x: pair[1].from,
            from: first + pair[0].number,
            to: first + pair[1].number,
        }));
        self.entries[0].number as usize
    }
}

/// Sorts entries by slope, the highest and then the first one of equal ones in front.
fn sort(entries: &mut [Entry]) {
    if entries.len() >= FEW {
        let order = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
        entries.sort_unstable_by(|a, b| {
            order(a.slope, b.slope).then(order(b.height, a.height)).then(a.number.cmp(&b.number))
        });
        return;
    }
    // They come in the order of their numbers, so that equal ones stay as they are.
    for i in 1..entries.len() {
        let entry = entries[i];
        let is_later =
            |other: &Entry| other.slope > entry.slope || (other.slope == entry.slope && other.height < entry.height);
        let mut place = i;
        while place > 0 && is_later(&entries[place - 1]) {
            entries[place] = entries[place - 1];
            place -= 1;
        }
        entries[place] = entry;
    }
}

/// Reduces sorted entries to those of the envelope, from left to right.
fn stack(entries: &mut Vec<Entry>) {
    let mut top = 0;
    for i in 1..entries.len() {
        let mut entry = entries[i];
        if entry.slope == entries[top].slope {
            continue;
        }
        loop {
            let under = entries[top];
            entry.from = (under.height - entry.height) / (entry.slope - under.slope);
            if entry.from > under.from {
                top += 1;
                break;
            }
            if top == 0 {
                entry.from = f64::NEG_INFINITY;
                break;
            }
            top -= 1;
        }
        entries[top] = entry;
    }
    entries.truncate(top + 1);
}
