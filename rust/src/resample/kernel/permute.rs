//! The kernel of permutations: in every unit the k systems' rows are permuted at random.
//!
//! Position i of a replicate gets the row of system π_u(i) in unit u, where π_u is uniform and independent of those of
//! other units. Rows are taken relative to the first system, so position i has the totals T_0 + Σ_u d_u,π(i). The sums
//! of the differences d are exact: they are added up in narrow lanes, and widened before they can overflow.

use std::ops::Range;

use super::{Kernel, Out, Scratch};
use crate::error::{Error, Result};
use crate::memory::{copied, reserved, zeros};
use crate::pool::Stop;
use crate::resample::design::packed::Integer;
use crate::resample::design::permuted::DifferingColumns;
use crate::resample::{BATCH, Strided, length};
use crate::simd::{Simd, dispatch};
use crate::stream::{BLOCKS_TOGETHER, Purpose, Stream};

/// Units whose permutations are drawn together. Each step of the shuffle takes one 32-bit number for each of them.
pub(super) const UNITS_PER_GROUP: usize = 64;

/// The number of blocks of the generator that make [`UNITS_PER_GROUP`] 32-bit numbers.
const BLOCKS_PER_STEP: usize = UNITS_PER_GROUP / 4;
const _: () = assert!(BLOCKS_PER_STEP == BLOCKS_TOGETHER);

/// From this many systems on, units are permuted one after the other. Side by side the number of operations grows with
/// the square of the number of systems.
const SIDE_BY_SIDE: usize = 128;

/// A label for every unit of a group: which system's row a position gets.
pub(super) type Labels = [u16; UNITS_PER_GROUP];

/// The largest number of systems: labels have 16 bits.
const MAX_SYSTEMS: usize = 1 << 16;

/// The generator's blocks are numbered with 32 bits.
const MAX_BLOCKS: u64 = 1 << 32;

/// Checks that there are labels and random numbers for all systems and units.
pub(super) fn check_size(systems: usize, units: usize) -> Result<()> {
    let invalid = |option: &str, expected, got: usize| Err(Error::invalid(option, expected, got));
    if systems > MAX_SYSTEMS {
        return invalid("the number of systems to permute", format!("at most {MAX_SYSTEMS}"), systems);
    }
    let per_group = (BLOCKS_PER_STEP * systems.max(2) - BLOCKS_PER_STEP) as u64;
    let most = UNITS_PER_GROUP as u64 * (MAX_BLOCKS / per_group);
    if units as u64 > most {
        let expected = format!("at most {most} for {systems} systems");
        return invalid("the number of segments to permute systems in", expected, units);
    }
    Ok(())
}

/// Draws the permutations of one group of units: `labels[i][lane]` is the label at position i in unit `lane`.
///
/// This is the "inside-out" version of the Fisher-Yates shuffle. Step j = 1 … k − 1 of unit u draws r uniformly from
/// 0 … j, moves the label at position r to position j, and puts the label j at position r. With
/// w = 64·((u div 64)·(k − 1) + j − 1) + u mod 64, it takes the 32-bit number w of the stream, or if that is rejected
/// the number w of part 1 of the stream, then of part 2, and so on. (Lemire 2019, doi:10.1145/3230636.)
pub(super) fn permute_group(simd: Simd, stream: Stream, group: usize, labels: &mut [Labels]) {
    labels[0] = [0; UNITS_PER_GROUP];
    for j in 1..labels.len() {
        let block = (BLOCKS_PER_STEP * (group * (labels.len() - 1) + j - 1)) as u32;
        let mut chosen = [0; UNITS_PER_GROUP];
        if choose(simd, stream, block, j as u32, &mut chosen) {
            choose_again(stream, block, j as u32, &mut chosen);
        }
        match labels.len() < SIDE_BY_SIDE {
            true => step_side_by_side(simd, j, &chosen, labels),
            false => step_one_by_one(j, &chosen, labels),
        }
    }
}

/// The cost of the labels of a unit, in additions, roughly.
pub(super) fn cost_of_labels(systems: usize) -> usize {
    systems * (systems.min(SIDE_BY_SIDE) / 16 + 1)
}

/// The values of a 32-bit number that have to be rejected for a uniform integer from 0 … j: those whose product with
/// j + 1 has a low half below this.
#[inline(always)]
fn rejected_below(j: u32) -> u32 {
    (j + 1).wrapping_neg() % (j + 1)
}

dispatch! {
    /// Draws uniform integers from 0 … j. Returns whether one of them has to be drawn again.
    fn choose(stream: Stream, block: u32, j: u32, chosen: &mut Labels) -> bool {
        let (bound, rejected_below) = (u64::from(j) + 1, rejected_below(j));
        let [first, second, third, fourth] = stream.words(block);
        let product = |word: u64| (word & 0xFFFF_FFFF) * bound;
        let mut least = u64::MAX;
        // The four integers of a block side by side, because moving single 16-bit numbers takes longer than to draw them.
        let mut fours = [0_u64; BLOCKS_PER_STEP];
        for (i, four) in fours.iter_mut().enumerate() {
            let [a, b, c, d] = [product(first[i]), product(second[i]), product(third[i]), product(fourth[i])];
            *four = a >> 32 | (b >> 32) << 16 | (c >> 32) << 32 | (d >> 32) << 48;
            let low = |product: u64| product & 0xFFFF_FFFF;
            least = least.min(low(a)).min(low(b)).min(low(c)).min(low(d));
        }
        let bytes = fours.map(u64::to_le_bytes);
        for (chosen, bytes) in chosen.iter_mut().zip(bytes.as_flattened().as_chunks().0) {
            *chosen = u16::from_le_bytes(*bytes);
        }
        least < rejected_below.into()
    }
}

/// As [`choose`], with numbers from the next parts of the stream for those that are rejected.
#[cold]
fn choose_again(stream: Stream, block: u32, j: u32, chosen: &mut Labels) {
    let (bound, rejected_below) = (u64::from(j) + 1, rejected_below(j));
    for (lane, chosen) in chosen.iter_mut().enumerate() {
        let number = |part: u32| {
            let value = stream.part(part).block(block.wrapping_add((lane / 4) as u32))[lane / 2 % 2];
            value >> (32 * (lane % 2)) & 0xFFFF_FFFF
        };
        let products = (0..).map(|part| number(part) * bound);
        let accepted = products.into_iter().find(|&product| product as u32 >= rejected_below);
        *chosen = (accepted.unwrap_or(0) >> 32) as u16;
    }
}

dispatch! {
    /// One step of the shuffle of a group of units, for all units at once.
    fn step_side_by_side(j: usize, chosen: &Labels, labels: &mut [Labels]) {
        let (before, rest) = labels.split_at_mut(j);
        let mut last = [j as u16; UNITS_PER_GROUP];
        for (position, labels) in (0_u16..).zip(before) {
            for ((label, last), &chosen) in labels.iter_mut().zip(&mut last).zip(chosen) {
                // All bits or none, so that no branch is needed.
                let here = u16::from(chosen == position).wrapping_neg();
                *last = *last & !here | *label & here;
                *label = *label & !here | j as u16 & here;
            }
        }
        rest[0] = last;
    }
}

/// The same, unit by unit.
fn step_one_by_one(j: usize, chosen: &Labels, labels: &mut [Labels]) {
    for (lane, &chosen) in chosen.iter().enumerate() {
        labels[j][lane] = labels[usize::from(chosen)][lane];
        labels[usize::from(chosen)][lane] = j as u16;
    }
}

/// The permutations of one replicate: for each unit the k labels, position by position.
///
/// # Errors
/// [`Error::Empty`] without systems or units and [`Error::InvalidOption`] if there are too many of them.
pub fn permutations((seed, replicate): (u64, u64), systems: usize, units: usize, stop: &Stop<'_>) -> Result<Vec<u16>> {
    crate::stats::check_shape([systems, units, 1])?;
    check_size(systems, units)?;
    let mut labels: Vec<Labels> = zeros(&[systems])?;
    let mut out = zeros(&[units, systems])?;
    let stream = Stream::new(seed, Purpose::Permutation, replicate);
    for (group, out) in out.chunks_mut(UNITS_PER_GROUP * systems).enumerate() {
        stop.charge(UNITS_PER_GROUP * systems.min(SIDE_BY_SIDE) * systems)?;
        permute_group(Simd::best(), stream, group, &mut labels);
        for (lane, out) in out.chunks_exact_mut(systems).enumerate() {
            out.iter_mut().zip(&labels).for_each(|(out, labels)| *out = labels[lane]);
        }
    }
    Ok(out)
}

/// Columns that are added up side by side: running sums of one width in sixteen bytes.
struct Tile<T, const N: usize> {
    /// The row of every system in every unit: unit by unit, system by system.
    rows: Vec<[T; N]>,
    /// For each group of units, an upper bound of the absolute value of its sums.
    bounds: Vec<i64>,
    /// The sum of each lane in a replicate begins at this column of the output for position 0.
    columns: Vec<usize>,
    systems: usize,
}

impl<T: Integer, const N: usize> Tile<T, N> {
    fn new(differing: &DifferingColumns<'_, '_>, tile: &[usize], stop: &Stop<'_>) -> Result<Self> {
        let (systems, units) = (differing.systems(), differing.units());
        let mut rows: Vec<[T; N]> = zeros(&[units, systems])?;
        let mut bounds: Vec<i64> = zeros(&[units.div_ceil(UNITS_PER_GROUP)])?;
        for (unit, rows) in rows.chunks_exact_mut(systems).enumerate() {
            stop.charge(4 * systems * tile.len())?;
            let bound = &mut bounds[unit / UNITS_PER_GROUP];
            let mut largest = 0;
            for (system, row) in rows.iter_mut().enumerate() {
                for (lane, &column) in tile.iter().enumerate() {
                    let difference = differing.difference(column, system, unit);
                    largest = difference.unsigned_abs().max(largest);
                    row[lane] = T::cut(difference);
                }
            }
            *bound = bound.saturating_add(largest.try_into().unwrap_or(i64::MAX));
        }
        Ok(Tile { rows, bounds, columns: copied(tile)?, systems })
    }
}

/// Adds up the permuted rows of one tile.
trait Rows: Send + Sync {
    /// Makes the running sums of a block of replicates.
    fn running<'a>(&'a self, replicates: usize) -> Result<Box<dyn Running + 'a>>;
}

/// The running sums of a block of replicates in one tile.
trait Running {
    /// Widens the sums into `out`, unless the sums of a group fit.
    fn make_room(&mut self, group: usize, out: Strided<&mut [i64]>);

    /// Adds the rows of a group of units, permuted by `labels`, to the sums of a replicate.
    fn add(&mut self, simd: Simd, group: usize, replicate: usize, labels: &[Labels]);

    /// Adds the sums to `out`.
    fn flush(&mut self, out: Strided<&mut [i64]>);
}

impl<T: Integer, const N: usize> Rows for Tile<T, N> {
    fn running<'a>(&'a self, replicates: usize) -> Result<Box<dyn Running + 'a>> {
        Ok(Box::new(Sums { tile: self, sums: zeros(&[replicates, self.systems])?, bound: 0 }))
    }
}

struct Sums<'a, T, const N: usize> {
    tile: &'a Tile<T, N>,
    /// Replicate by replicate, position by position.
    sums: Vec<[T; N]>,
    bound: i64,
}

impl<T: Integer, const N: usize> Running for Sums<'_, T, N> {
    fn make_room(&mut self, group: usize, out: Strided<&mut [i64]>) {
        let more = self.tile.bounds[group];
        if self.bound.saturating_add(more) > T::LARGEST {
            self.flush(out);
        }
        self.bound = self.bound.saturating_add(more);
    }

    fn add(&mut self, simd: Simd, group: usize, replicate: usize, labels: &[Labels]) {
        let systems = self.tile.systems;
        let rows = &self.tile.rows[group * UNITS_PER_GROUP * systems..];
        let rows = &rows[..rows.len().min(UNITS_PER_GROUP * systems)];
        add_permuted(simd, rows, labels, &mut self.sums[replicate * systems..][..systems]);
    }

    fn flush(&mut self, mut out: Strided<&mut [i64]>) {
        let systems = self.tile.systems;
        for (lane, column) in self.tile.columns.iter().enumerate() {
            let [_, mut out] = out.split_at(column * systems);
            for (position, out) in out.columns_mut().take(systems).enumerate() {
                let sums = self.sums[position..].iter().step_by(systems);
                out.iter_mut().zip(sums).for_each(|(out, sum)| *out = out.wrapping_add(sum[lane].to_i64()));
            }
        }
        self.sums.fill([T::cut(0); N]);
        self.bound = 0;
    }
}

dispatch! {
    /// Adds the row with the label of each position, unit by unit.
    fn add_permuted<T: Integer>[const N: usize](rows: &[[T; N]], labels: &[Labels], sums: &mut [[T; N]]) {
        let systems = labels.len();
        for (sum, labels) in sums.iter_mut().zip(labels) {
            let mut position_sum = *sum;
            for (rows, &label) in rows.chunks_exact(systems).zip(labels) {
                // Differences of counts that add up to almost 2^62 may wrap around in 64 bits, but their sums with the
                // totals of the first system do not.
                for (sum, other) in position_sum.iter_mut().zip(rows[usize::from(label)]) {
                    *sum = sum.plus(other);
                }
            }
            *sum = position_sum;
        }
    }
}

/// The rows of all systems, prepared for permutations.
pub(in crate::resample) struct PermutedRows {
    tiles: Vec<Box<dyn Rows>>,
    systems: usize,
    units: usize,
}

impl PermutedRows {
    /// Packs the columns in which systems differ, each in the narrowest lanes in which the sums of a group of units fit.
    pub fn new(differing: &DifferingColumns<'_, '_>, stop: &Stop<'_>) -> Result<Self> {
        let (systems, units) = (differing.systems(), differing.units());
        check_size(systems, units)?;
        let mut by_width: [Vec<usize>; 3] = Default::default();
        for column in 0..differing.len() {
            let largest = differing.largest(column, stop)?.saturating_mul(UNITS_PER_GROUP as u64);
            by_width[usize::from(largest > i16::MAX as u64) + usize::from(largest > i32::MAX as u64)].push(column);
        }
        let mut tiles: Vec<Box<dyn Rows>> = Vec::new();
        let [narrow, middle, wide] = &by_width;
        for columns in narrow.chunks(8) {
            tiles.push(Box::new(Tile::<i16, 8>::new(differing, columns, stop)?));
        }
        for columns in middle.chunks(4) {
            tiles.push(Box::new(Tile::<i32, 4>::new(differing, columns, stop)?));
        }
        for columns in wide.chunks(2) {
            tiles.push(Box::new(Tile::<i64, 2>::new(differing, columns, stop)?));
        }
        Ok(PermutedRows { tiles, systems, units })
    }
}

/// The kernel for permutations.
pub(in crate::resample) struct Permutations<'a> {
    rows: &'a PermutedRows,
    seed: u64,
    simd: Simd,
}

impl<'a> Permutations<'a> {
    /// The permutations of a seed.
    pub fn new(rows: &'a PermutedRows, seed: u64, simd: Simd) -> Self {
        Permutations { rows, seed, simd }
    }

    /// The cost of a group of units in a replicate, in additions, roughly.
    fn cost_of_group(&self) -> usize {
        let PermutedRows { systems, tiles, .. } = self.rows;
        UNITS_PER_GROUP * (cost_of_labels(*systems) + systems * tiles.len())
    }
}

impl Kernel for Permutations<'_> {
    fn block(&self) -> usize {
        BATCH
    }

    fn cost(&self) -> u64 {
        (self.rows.units.div_ceil(UNITS_PER_GROUP) * self.cost_of_group()) as u64
    }

    /// Once: they are the totals of the first system.
    fn constants(&self) -> i64 {
        1
    }

    fn sums(&self, range: Range<u64>, _: &mut Scratch, mut out: Out<'_>, stop: &Stop<'_>) -> Result<()> {
        let PermutedRows { tiles, systems, units } = self.rows;
        let mut labels: Vec<Labels> = zeros(&[*systems])?;
        let mut running = reserved(tiles.len())?;
        for tile in tiles {
            running.push(tile.running(length(&range))?);
        }
        for group in 0..units.div_ceil(UNITS_PER_GROUP) {
            running.iter_mut().for_each(|sums| sums.make_room(group, out.reborrow()));
            for (place, replicate) in range.clone().enumerate() {
                stop.charge(self.cost_of_group())?;
                let stream = Stream::new(self.seed, Purpose::Permutation, replicate);
                permute_group(self.simd, stream, group, &mut labels);
                running.iter_mut().for_each(|sums| sums.add(self.simd, group, place, &labels));
            }
        }
        running.iter_mut().for_each(|sums| sums.flush(out.reborrow()));
        Ok(())
    }
}
