//! Histograms of replicates, whose bins do not depend on the order of the replicates or on the number of threads.
//!
//! The values of a series fall into bins of width 2^e whose ends are multiples of 2^e. e is the smallest integer for
//! which all values lie within 256 bins. While values arrive, e is at most its final value; when a value falls outside
//! the bins, neighbouring bins are merged and e grows. Since ⌊⌊x⌋/2⌋ = ⌊x/2⌋, the counts are then those that the wider
//! bins would have had from the start.

use super::reduce::state::{Field, Reader, foreign};
use crate::error::{Error, Result};
use crate::memory::{collected, filled, room, zeros};
use crate::pool::{self, Run, Stop};
use crate::simd::{Simd, dispatch};

/// The number of fine bins of a series. With the smallest possible e, more than half of them are used.
const BINS: usize = 256;

/// The bins of a [`Histogram`]. Three or four bins of a series are joined, so more than two thirds of them are used.
pub const SHOWN: usize = 64;

/// Values are added in pieces of this many.
const STEP: usize = 64;

/// The values of a series that wait to be counted: those of a block of shuffles. With many series, the counts of all of
/// them do not fit in the cache, and counting every [`STEP`] values of each took five times as long.
const WAITING: usize = 512;

/// Bins have at least 2^−52 of the size of the largest value, so that numbers of bins are exact in a float.
const MANTISSA_BITS: i32 = 51;

/// The smallest exponent of a bin's width, so that the inverse of its width is a float.
const SMALLEST_EXPONENT: i32 = -1000;

/// Adding this to a small integer puts the integer into the lowest bits of the float.
const MAGIC: f64 = (1u64 << 52) as f64;

/// A histogram of [`SHOWN`] bins of equal width. If all values are equal, `low` is that value, `width` is 0, and the
/// first bin has all values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Histogram {
    /// The lower end of the first bin.
    pub low: f64,
    /// The width of each bin.
    pub width: f64,
    /// The number of values in each bin.
    pub counts: [u64; SHOWN],
}

/// The bins of a series: bin i is [(first + i)/scale, (first + i + 1)/scale).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Grid {
    /// The smallest and the largest value.
    lowest: f64,
    highest: f64,
    /// 2^−e; NaN before the first value.
    scale: f64,
    first: f64,
}

impl Grid {
    /// Before the first value.
    const EMPTY: Self = Grid { lowest: f64::INFINITY, highest: f64::NEG_INFINITY, scale: f64::NAN, first: 0.0 };

    /// The smallest grid for values from `lowest` to `highest`, with the bins in use in the middle.
    fn over(lowest: f64, highest: f64) -> Self {
        let size = lowest.abs().max(highest.abs());
        // Smaller bins cannot hold the range.
        let least = exponent_of(highest - lowest) - BINS.ilog2() as i32;
        let mut exponent = least.max(exponent_of(size) - MANTISSA_BITS).max(SMALLEST_EXPONENT);
        let mut grid = Grid { lowest, highest, scale: power_of_two(-exponent), first: 0.0 };
        while grid.used() > BINS as f64 {
            exponent += 1;
            grid.scale = power_of_two(-exponent);
        }
        grid.first = grid.bin(lowest) - ((BINS as f64 - grid.used()) / 2.0).floor();
        grid
    }

    /// The number of a value's bin on the whole axis.
    fn bin(&self, value: f64) -> f64 {
        (value * self.scale).floor()
    }

    /// The number of bins from the lowest value to the highest.
    fn used(&self) -> f64 {
        self.bin(self.highest) - self.bin(self.lowest) + 1.0
    }

    /// Do the bins contain all values from `low` to `high`?
    fn holds(&self, low: f64, high: f64) -> bool {
        low * self.scale >= self.first && high * self.scale < self.first + BINS as f64
    }

    /// Could it have values, which its bins hold?
    fn is_valid(&self) -> bool {
        let Grid { lowest, highest, scale, first } = *self;
        let ordered = lowest.is_finite() && highest.is_finite() && lowest <= highest;
        let power = [scale, 1.0 / scale].into_iter().all(f64::is_normal) && scale == power_of_two(exponent_of(scale));
        // All numbers of bins are exact.
        let exact = first.fract() == 0.0 && first.abs() <= MAGIC + BINS as f64;
        // A grid grows with its values, so its bins are not larger than those of a new one.
        ordered && power && exact && self.holds(lowest, highest) && {
            (SMALLEST_EXPONENT..=Grid::over(lowest, highest).exponent()).contains(&self.exponent())
        }
    }

    /// Could these be the counts of at most `most` values: are there some in the bins of the lowest and the highest value,
    /// but none beyond?
    fn can_have(&self, counts: &[u64], most: u64) -> bool {
        let [low, high] = [self.lowest, self.highest].map(|value| (self.bin(value) - self.first) as usize);
        let total: u128 = counts.iter().map(|&count| u128::from(count)).sum();
        let beyond = counts[..low].iter().chain(&counts[high + 1..]).any(|count| *count > 0);
        counts[low] > 0 && counts[high] > 0 && !beyond && total <= u128::from(most)
    }

    /// e.
    fn exponent(&self) -> i32 {
        -exponent_of(self.scale)
    }

    /// The grid with room for values from `low` to `high`, too.
    fn with(&self, low: f64, high: f64) -> Self {
        Grid::over(self.lowest.min(low), self.highest.max(high))
    }

    /// Adds the counts on this grid to those on a grid that holds all of its values.
    fn pour<T: Copy + Into<u64>>(&self, counts: &[T; BINS], to: &Grid, out: &mut [u64; BINS]) {
        if self.scale.is_nan() {
            return; // no values
        }
        // A number of a bin has 52 bits, so larger factors give 0 or −1, too.
        let factor = power_of_two((self.exponent() - to.exponent()).max(-60));
        for (i, &count) in counts.iter().enumerate() {
            let count: u64 = count.into();
            if count > 0 {
                let bin = ((self.first + i as f64) * factor).floor() - to.first;
                out[bin as usize] += count;
            }
        }
    }
}

/// ⌊log2 x⌋ for x > 0; −1023 for smaller numbers than normal ones, and 0.
fn exponent_of(x: f64) -> i32 {
    (x.abs().to_bits() >> 52) as i32 - 1023
}

/// 2^e, for e from −1022 to 1023.
fn power_of_two(e: i32) -> f64 {
    f64::from_bits(((e + 1023) as u64) << 52)
}

/// The bins of several series.
#[derive(Debug, Clone)]
pub struct Bins {
    simd: Simd,
    grids: Vec<Grid>,
    /// The bins of the values that wait to be counted, and how many wait.
    waiting: Vec<[u8; WAITING]>,
    n_waiting: Vec<u16>,
    /// The counts of recent values. Small numbers keep more of them in the cache.
    recent: Vec<[u16; BINS]>,
    /// The counts of earlier values; empty if there are none.
    earlier: Vec<[u64; BINS]>,
    /// How many values per series `recent` may have.
    n_recent: usize,
}

impl Bins {
    /// Empty bins for this many series.
    pub fn new(series: usize, simd: Simd) -> Result<Self> {
        let grids = filled(series, Grid::EMPTY)?;
        let (waiting, n_waiting, recent) = (zeros(&[series])?, zeros(&[series])?, zeros(&[series])?);
        Ok(Bins { simd, grids, waiting, n_waiting, recent, earlier: Vec::new(), n_recent: 0 })
    }

    /// The number of series.
    pub fn len(&self) -> usize {
        self.grids.len()
    }

    /// Whether there are no series.
    pub fn is_empty(&self) -> bool {
        self.grids.is_empty()
    }

    /// Prepares for at most `n` values of each series, which [`Bins::add`] is to add before the next call.
    pub fn make_room(&mut self, n: usize) -> Result<()> {
        debug_assert!(n <= usize::from(u16::MAX));
        self.n_recent += n;
        if self.n_recent > usize::from(u16::MAX) {
            self.n_recent = n;
            if self.earlier.is_empty() {
                self.earlier = zeros(&[self.grids.len()])?;
            }
            for (earlier, recent) in self.earlier.iter_mut().zip(&mut self.recent) {
                earlier.iter_mut().zip(&mut *recent).for_each(|(earlier, recent)| *earlier += u64::from(*recent));
                recent.fill(0);
            }
        }
        Ok(())
    }

    /// Adds values to a series, which [`Bins::count`] counts. Infinite and undefined ones are left out.
    pub fn add(&mut self, series: usize, values: &[f64]) {
        for values in values.chunks(STEP) {
            if usize::from(self.n_waiting[series]) + values.len() > WAITING {
                self.count_series(series);
            }
            let Extremes { low, high, check } = self.place(series, values);
            if check.is_nan() {
                self.add_finite(series, values);
                continue;
            }
            let grid = &mut self.grids[series];
            if grid.holds(low, high) {
                (grid.lowest, grid.highest) = (grid.lowest.min(low), grid.highest.max(high));
            } else {
                self.extend(series, low, high);
                self.place(series, values);
            }
            self.n_waiting[series] += values.len() as u16;
        }
        // With many series the next one is not in the cache. Reading it now hides the delay.
        std::hint::black_box(self.grids.get(series + 1).map(|next| next.scale));
    }

    /// Writes the bins of at most [`STEP`] values behind those that wait.
    fn place(&mut self, series: usize, values: &[f64]) -> Extremes {
        let Grid { scale, first, .. } = self.grids[series];
        let bins = &mut self.waiting[series][usize::from(self.n_waiting[series])..][..values.len()];
        place(self.simd, values, (scale, first), bins)
    }

    /// Counts the values that wait. This has to come before [`Bins::make_room`], [`Bins::merge`] and
    /// [`Bins::histogram`].
    pub fn count(&mut self) {
        (0..self.len()).for_each(|series| self.count_series(series));
    }

    fn count_series(&mut self, series: usize) {
        let (n, counts) = (&mut self.n_waiting[series], &mut self.recent[series]);
        self.waiting[series][..usize::from(*n)].iter().for_each(|&bin| counts[usize::from(bin)] += 1);
        *n = 0;
    }

    /// Adds those of at most [`STEP`] values that are finite.
    #[cold]
    fn add_finite(&mut self, series: usize, values: &[f64]) {
        let (mut finite, mut n) = ([0.0; STEP], 0);
        for &value in values.iter().filter(|value| value.is_finite()) {
            finite[n] = value;
            n += 1;
        }
        if n > 0 {
            self.add(series, &finite[..n]);
        }
    }

    /// Moves the counts of a series to the grid that also has room for `low` and `high`.
    #[cold]
    fn extend(&mut self, series: usize, low: f64, high: f64) {
        self.count_series(series);
        let old = self.grids[series];
        let grid = old.with(low, high);
        let mut out = [0; BINS];
        old.pour(&self.recent[series], &grid, &mut out);
        self.recent[series] = out.map(|count| count as u16); // there is room: see `Bins::make_room`
        if let Some(earlier) = self.earlier.get_mut(series) {
            let mut out = [0; BINS];
            old.pour(earlier, &grid, &mut out);
            *earlier = out;
        }
        self.grids[series] = grid;
    }

    /// Adds the counts of the same series of other bins.
    pub fn merge(&mut self, other: &Bins) -> Result<()> {
        if self.earlier.is_empty() {
            self.earlier = zeros(&[self.grids.len()])?;
        }
        for (series, from) in other.grids.iter().enumerate() {
            if from.scale.is_nan() {
                continue;
            }
            let Grid { lowest, highest, .. } = *from;
            let to = &mut self.grids[series];
            // Even a grid with room for all values can have smaller bins: where the smallest ones are twice as large.
            if to.holds(lowest, highest) && to.exponent() >= from.exponent() {
                (to.lowest, to.highest) = (to.lowest.min(lowest), to.highest.max(highest));
            } else {
                self.extend(series, lowest, highest);
            }
            let (to, out) = (&self.grids[series], &mut self.earlier[series]);
            from.pour(&other.recent[series], to, out);
            if let Some(earlier) = other.earlier.get(series) {
                from.pour(earlier, to, out);
            }
        }
        Ok(())
    }

    /// Appends the counts to the state of a reduction. No values may wait to be counted.
    pub(crate) fn save(&self, out: &mut Vec<u64>) -> Result<()> {
        self.len().save(out)?;
        for (series, grid) in self.grids.iter().enumerate() {
            if grid.scale.is_nan() {
                vec![0u64; 0].save(out)?; // no values
                continue;
            }
            room(out, 1 + 4 + BINS)?;
            out.push((4 + BINS) as u64);
            out.extend([grid.lowest, grid.highest, grid.scale, grid.first].map(f64::to_bits));
            let earlier = self.earlier.get(series).unwrap_or(&[0; BINS]);
            out.extend(self.recent[series].iter().zip(earlier).map(|(&recent, earlier)| u64::from(recent) + earlier));
        }
        Ok(())
    }

    /// What [`Bins::save`] has written for this many series, each of at most `most` values.
    pub(crate) fn loaded((series, most): (usize, u64), simd: Simd, from: &mut Reader<'_>) -> Result<Self> {
        let mut n = 0;
        n.load(from)?;
        if n != series {
            return Err(foreign());
        }
        // Before anything is allocated: a series takes at least one word.
        from.check_left(series)?;
        let mut bins = Bins::new(series, simd)?;
        bins.earlier = zeros(&[series])?;
        for (grid, earlier) in bins.grids.iter_mut().zip(&mut bins.earlier) {
            match from.word()? {
                0 => continue,
                n if n == (4 + BINS) as u64 => {}
                _ => return Err(foreign()),
            }
            let (of_grid, counts) = from.words(4 + BINS)?.split_at(4);
            let [lowest, highest, scale, first] = [0, 1, 2, 3].map(|i| f64::from_bits(of_grid[i]));
            *grid = Grid { lowest, highest, scale, first };
            if !grid.is_valid() || !grid.can_have(counts, most) {
                return Err(foreign());
            }
            earlier.copy_from_slice(counts);
        }
        Ok(bins)
    }

    /// The histograms of all series.
    pub fn histograms(&self) -> Result<Vec<Option<Histogram>>> {
        collected((0..self.len()).map(|series| self.histogram(series)))
    }

    /// The histogram of a series; None if it has no finite values, or too large ones.
    pub fn histogram(&self, series: usize) -> Option<Histogram> {
        let from = &self.grids[series];
        if from.scale.is_nan() {
            return None;
        }
        let mut counts = [0; BINS];
        let grid = Grid::over(from.lowest, from.highest);
        from.pour(&self.recent[series], &grid, &mut counts);
        if let Some(earlier) = self.earlier.get(series) {
            from.pour(earlier, &grid, &mut counts);
        }
        let mut shown = [0; SHOWN];
        if grid.lowest == grid.highest {
            shown[0] = counts.iter().sum();
            return Some(Histogram { low: grid.lowest, width: 0.0, counts: shown });
        }
        let (used, lowest) = (grid.used(), grid.bin(grid.lowest));
        let joined = (used / SHOWN as f64).ceil();
        let first = lowest - ((joined * SHOWN as f64 - used) / 2.0).floor();
        for (i, count) in counts.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            shown[((grid.first + i as f64 - first) / joined) as usize] += count;
        }
        // The inverse of a scale can be smaller than normal numbers, and the ends of the bins can be too large.
        let [low, width] = [first / grid.scale, joined / grid.scale];
        let high = low + width * SHOWN as f64;
        (low.is_finite() && high.is_finite()).then_some(Histogram { low, width, counts: shown })
    }
}

/// Values of which a histogram is made: the scores of a system, or the differences of two, less a constant.
#[derive(Debug, Clone, Copy)]
pub struct Values {
    /// The system whose scores are read.
    pub system: usize,
    /// The system whose scores are subtracted, if any.
    pub minus: Option<usize>,
    /// What is subtracted from every value.
    pub centre: f64,
}

/// The histograms of values computed from the scores of systems on `n` replicates, system by system. None for values of
/// which none are finite.
pub fn histograms(
    (scores, n): (&[f64], usize),
    wanted: &[Values],
    run: &mut Run<'_>,
) -> Result<Vec<Option<Histogram>>> {
    let len = scores.len() / n.max(1);
    if let Some(index) = wanted.iter().flat_map(|of| [of.system, of.minus.unwrap_or(0)]).find(|&index| index >= len) {
        return Err(Error::OutOfRange { what: "system".into(), index, len });
    }
    let simd = Simd::best();
    let histogram = |(): &mut (), at: usize, stop: &Stop<'_>| {
        let Values { system, minus, centre } = wanted[at];
        let of = |system: usize| scores[system * n..][..n].chunks(STEP);
        let mut bins = Bins::new(1, simd)?;
        let mut others = minus.map(of);
        let mut values = [0.0; STEP];
        for (step, scores) in of(system).enumerate() {
            if step % PIECE == 0 {
                stop.check()?;
                bins.count();
                bins.make_room(PIECE * STEP)?;
            }
            let values = &mut values[..scores.len()];
            match others.as_mut().and_then(Iterator::next) {
                Some(others) => subtract(simd, (scores, others), centre, values),
                None => values.iter_mut().zip(scores).for_each(|(value, score)| *value = score - centre),
            }
            bins.add(0, values);
        }
        bins.count();
        Ok(bins.histogram(0))
    };
    // A value takes about two additions.
    pool::each(wanted.len(), 4 * n as u64, run, || (), histogram)
}

/// The steps between two checks for Ctrl-C.
const PIECE: usize = 512;

dispatch! {
    /// The differences of two lists of scores, less a constant.
    fn subtract(scores: (&[f64], &[f64]), centre: f64, out: &mut [f64]) {
        let (scores, others) = scores;
        out.iter_mut().zip(scores.iter().zip(others)).for_each(|(out, (score, other))| *out = score - other - centre);
    }
}

/// The smallest and the largest value, and NaN if any value is NaN or infinite.
struct Extremes {
    low: f64,
    high: f64,
    check: f64,
}

dispatch! {
    /// The extremes of at most [`STEP`] values, and their bins if the window holds them all.
    fn place(values: &[f64], grid: (f64, f64), bins: &mut [u8]) -> Extremes {
        let (scale, first) = grid;
        const LANES: usize = 8;
        let (mut low, mut high, mut check) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES], [0.0; LANES]);
        let mut step = |values: &[f64; LANES], bins: &mut [u8]| {
            for ((((&value, bin), low), high), check) in
                values.iter().zip(bins).zip(&mut low).zip(&mut high).zip(&mut check)
            {
                *low = if value < *low { value } else { *low };
                *high = if value > *high { value } else { *high };
                *check += value * 0.0;
                *bin = ((value * scale).floor() - first + MAGIC).to_bits() as u8;
            }
        };
        let (whole, rest) = values.as_chunks::<LANES>();
        for (values, bins) in whole.iter().zip(bins.chunks_exact_mut(LANES)) {
            step(values, bins);
        }
        if let [value, ..] = rest {
            let mut padded = [*value; LANES];
            padded[..rest.len()].copy_from_slice(rest);
            let mut last = [0; LANES];
            step(&padded, &mut last);
            bins[values.len() - rest.len()..values.len()].copy_from_slice(&last[..rest.len()]);
        }
        Extremes {
            low: low.into_iter().fold(f64::INFINITY, |low, value| if value < low { value } else { low }),
            high: high.into_iter().fold(f64::NEG_INFINITY, |high, value| if value > high { value } else { high }),
            check: check.iter().sum(),
        }
    }
}

#[cfg(test)]
mod tests;
