//! Sums over flipped units with sixteen columns side by side, in lanes as narrow as their sums allow.
//!
//! The sums of all subsets of eight rows are stored in a table, so that a byte of flips costs one addition of a row.
//! The speed is limited by the number of bytes added per replicate. Counts of a segment are small, so most columns fit
//! 16-bit lanes; running sums are widened to 64 bits before they can overflow.

use std::ops::Range;

use crate::error::Result;
use crate::memory::{reserved, zeros};
use crate::pool::Stop;
use crate::resample::Strided;
use crate::resample::design::packed::{Integer, Packed};

/// Columns per tile. A row of 16-bit lanes is half a cache line.
const COLUMNS: usize = 16;

/// Units that are added at a time, with two tables of eight.
const UNITS_AT_ONCE: usize = 16;

/// A row of a tile.
type Row<T> = [T; COLUMNS];

#[inline(always)]
fn add<T: Integer>(a: &Row<T>, b: &Row<T>) -> Row<T> {
    let mut sum = *a;
    for (sum, &b) in sum.iter_mut().zip(b) {
        *sum = sum.plus(b);
    }
    sum
}

/// The running sums of a block of replicates in the lanes of one tile, widened before they can overflow.
struct RunningSums<'a, T> {
    /// A row of sums for each replicate.
    rows: Vec<Row<T>>,
    bound: i64,
    /// The column of each lane.
    columns: &'a [usize],
}

impl<'a, T: Integer> RunningSums<'a, T> {
    fn new(replicates: usize, columns: &'a [usize]) -> Self {
        RunningSums { rows: vec![[T::cut(0); COLUMNS]; replicates], bound: 0, columns }
    }

    /// Widens the sums into `out` unless an addition of up to `more` in absolute value fits.
    fn make_room(&mut self, more: i64, out: Strided<&mut [i64]>) {
        if self.bound.saturating_add(more) > T::LARGEST {
            self.flush(out);
        }
        self.bound += more;
    }

    /// Adds the sums to the columns of `out`, and resets them to 0.
    #[inline(always)]
    fn flush(&mut self, mut out: Strided<&mut [i64]>) {
        for (lane, column) in self.columns.iter().enumerate() {
            for (out, sums) in out.column_mut(*column).iter_mut().zip(&self.rows) {
                *out += sums[lane].to_i64();
            }
        }
        self.rows.fill([T::cut(0); COLUMNS]);
        self.bound = 0;
    }
}

/// Sixteen columns, padded with rows of zeros to whole groups of rows.
struct Tile<T> {
    rows: Vec<Row<T>>,
    /// For each group of rows, an upper bound of the absolute value of its sums.
    bounds: Vec<i64>,
    /// The column of each lane.
    columns: Vec<usize>,
}

impl<T: Integer> Tile<T> {
    fn new(columns: &[usize], groups: &[i64], packed: &Packed, stop: &Stop<'_>) -> Result<Self> {
        let bound = |bounds: &[i64]| columns.iter().map(|&column| bounds[column]).max().unwrap_or(0);
        let units = packed.units().next_multiple_of(UNITS_AT_ONCE);
        let mut rows: Vec<Row<T>> = reserved(units)?;
        let mut values = [0; COPIED];
        for piece in packed.pieces(COPIED) {
            stop.charge(piece.len() * COLUMNS)?;
            rows.resize(piece.end.next_multiple_of(UNITS_AT_ONCE), [T::cut(0); COLUMNS]);
            for (lane, &column) in columns.iter().enumerate() {
                let values = &mut values[..piece.len()];
                packed.column(column).copy(piece.start, values);
                for (row, &value) in rows[piece.start..].iter_mut().zip(&*values) {
                    row[lane] = T::cut(value);
                }
            }
        }
        let bounds = groups.chunks_exact(packed.len()).map(bound).collect();
        Ok(Tile { rows, bounds, columns: columns.to_vec() })
    }
}

/// Values of a column that are widened at a time.
const COPIED: usize = 256;

/// A tile with lanes of any width.
enum AnyTile {
    Narrow(Tile<i16>),
    Middle(Tile<i32>),
    Wide(Tile<i64>),
}

/// All columns, arranged in tiles.
pub(in crate::resample) struct Tiles(Vec<AnyTile>);

impl Tiles {
    pub fn new(packed: &Packed, stop: &Stop<'_>) -> Result<Self> {
        let width = packed.len();
        // Upper bounds of the absolute sums of each group of rows: group by group, column by column.
        let mut bounds: Vec<i64> = zeros(&[packed.units().div_ceil(UNITS_AT_ONCE), width])?;
        let mut largest = vec![0; width];
        let mut values = [0; COPIED];
        for piece in packed.pieces(COPIED) {
            stop.charge(piece.len() * width)?;
            for ((column, values_of), largest) in packed.iter().enumerate().zip(&mut largest) {
                let values = &mut values[..piece.len()];
                values_of.copy(piece.start, values);
                let groups = bounds[piece.start / UNITS_AT_ONCE * width + column..].iter_mut().step_by(width);
                for (bound, group) in groups.zip(values.chunks(UNITS_AT_ONCE)) {
                    *bound = group.iter().fold(0, |sum: i64, value| sum.saturating_add(value.saturating_abs()));
                    *largest = *bound.max(largest);
                }
            }
        }
        let mut by_width: [Vec<usize>; 3] = Default::default();
        for (column, bound) in largest.into_iter().enumerate() {
            by_width[usize::from(bound > i16::LARGEST) + usize::from(bound > i32::LARGEST)].push(column);
        }
        let make_tiles = |(width, columns): (usize, &Vec<usize>)| {
            let tile = |columns: &[usize]| match width {
                0 => Tile::new(columns, &bounds, packed, stop).map(AnyTile::Narrow),
                1 => Tile::new(columns, &bounds, packed, stop).map(AnyTile::Middle),
                _ => Tile::new(columns, &bounds, packed, stop).map(AnyTile::Wide),
            };
            columns.chunks(COLUMNS).map(tile).collect::<Vec<_>>()
        };
        by_width.iter().enumerate().flat_map(make_tiles).collect::<Result<_>>().map(Tiles)
    }

    /// The number of tiles.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds the units that the masks flip, from mask number `first` on, to the sums of each column in `out`.
    pub fn add(&self, tile: usize, first: usize, masks: Strided<&[u64]>, out: Strided<&mut [i64]>) {
        let units = 64 * first..64 * (first + masks.width());
        match &self.0[tile] {
            AnyTile::Narrow(tile) => add_flipped(tile, units, masks, out),
            AnyTile::Middle(tile) => add_flipped(tile, units, masks, out),
            AnyTile::Wide(tile) => add_flipped(tile, units, masks, out),
        }
    }
}

fn add_flipped<T: Integer>(tile: &Tile<T>, units: Range<usize>, masks: Strided<&[u64]>, mut out: Strided<&mut [i64]>) {
    let mut tables = [[T::cut(0); COLUMNS]; 512];
    let mut sums = RunningSums::<T>::new(masks.rows(), &tile.columns);
    let groups = units.start / UNITS_AT_ONCE..units.end.min(tile.rows.len()) / UNITS_AT_ONCE;
    for (i, group) in groups.enumerate() {
        if tile.bounds[group] == 0 {
            continue;
        }
        sums.make_room(tile.bounds[group], out.reborrow());
        let (low, high) = tile.rows[group * UNITS_AT_ONCE..(group + 1) * UNITS_AT_ONCE].split_at(8);
        let (low_table, high_table) = tables.split_at_mut(256);
        subset_sums(low, low_table);
        subset_sums(high, high_table);
        #[allow(clippy::expect_used, reason = "the length that a byte can index is known to the compiler")]
        let [low_table, high_table]: [&[Row<T>; 256]; 2] =
            [&*low_table, &*high_table].map(|table| table.try_into().expect("256 entries"));
        for (sums, mask) in sums.rows.iter_mut().zip(masks.column(i / 4)) {
            let flips = (mask >> (i % 4 * 16)) as u16;
            *sums = add(sums, &add(&low_table[usize::from(flips as u8)], &high_table[usize::from(flips >> 8)]));
        }
    }
    sums.flush(out);
}

/// Fills `table[b]` with the sum of the rows whose bits are set in b.
#[inline(always)]
fn subset_sums<T: Integer>(rows: &[Row<T>], table: &mut [Row<T>]) {
    table[0] = [T::cut(0); COLUMNS];
    for (bit, row) in rows.iter().enumerate() {
        let (without, with) = table.split_at_mut(1 << bit);
        for (without, with) in without.iter().zip(with) {
            *with = add(without, row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::SuffStats;
    use crate::stream::{Purpose, Stream};
    use proptest::prelude::*;

    #[test]
    fn columns_go_to_the_narrowest_lane_that_holds_a_group() {
        let sizes = [2047, 2048, 1 << 26, 1 << 27, 1 << 40];
        let counts: Vec<i64> = (0..40).flat_map(|unit| sizes.map(|size| size * [1, -1][unit * 7 % 3 % 2])).collect();
        let all = [SuffStats::new(&counts, 1, 40, 5).unwrap()];
        let seen: Vec<_> = Tiles::new(&Packed::from_stats(&all[0]), &Stop::never())
            .unwrap()
            .0
            .iter()
            .map(|tile| match tile {
                AnyTile::Narrow(t) => ("narrow", t.columns.clone(), t.bounds.clone()),
                AnyTile::Middle(t) => ("middle", t.columns.clone(), t.bounds.clone()),
                AnyTile::Wide(t) => ("wide", t.columns.clone(), t.bounds.clone()),
            })
            .collect();
        let bounds = |largest: i64| vec![16 * largest, 16 * largest, 8 * largest];
        let expected = [
            ("narrow", vec![0], bounds(2047)),
            ("middle", vec![1, 2], bounds(1 << 26)),
            ("wide", vec![3, 4], bounds(1 << 40)),
        ];
        assert_eq!(expected.as_slice(), seen);
    }

    #[test]
    fn sums_of_groups_that_together_exceed_a_lane_by_one_are_exact() {
        for (largest, rest) in [(2047, 1), ((1 << 27) - 1, 1)] {
            let counts = [[largest; 16], [rest; 16]].concat();
            let all = [SuffStats::new(&counts, 1, 32, 1).unwrap()];
            let tiles = Tiles::new(&Packed::from_stats(&all[0]), &Stop::never()).unwrap();
            let mut sums = [0];
            tiles.add(0, 0, Strided::new(&[u64::MAX], 1), Strided::new(&mut sums[..], 1));
            assert_eq!([16 * (largest + rest)], sums);
        }
    }

    /// What [`Tiles::add`] adds to the sums, unit by unit.
    fn obvious(stats: &SuffStats<'_>, first: usize, masks: Strided<&[u64]>, mut out: Strided<&mut [i64]>) {
        for (unit, bit) in (64 * first..stats.segments()).zip((0..64).cycle()).take(64 * masks.width()) {
            for (replicate, mask) in masks.column(unit / 64 - first).iter().enumerate() {
                if mask >> bit & 1 == 1 {
                    let sums = out.columns_mut().zip(stats.row(0, unit));
                    sums.for_each(|(sums, count)| sums[replicate] += count);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(crate::testing::cases(16))]
        #[test]
        fn sums_are_those_of_adding_units_one_by_one(
            units in 1..400usize,
            (first, count) in (0..3usize, 1..5usize),
            // Groups of units that just fit a lane or just do not, in one or two tiles of a width.
            sizes in prop::collection::vec(
                prop::sample::select(vec![0, 9, 2047, 2048, (1 << 27) - 1, 1 << 27, 1 << 45]),
                1..40,
            ),
            // The places after the replicates are not written.
            (replicates, beyond) in (1..70usize, 0..3usize),
            seed in any::<u64>(),
        ) {
            let mut random = Stream::new(seed, Purpose::Draw, 0).values();
            let mut sign = || [1, 1, -1, 0][random.next().unwrap() as usize % 4];
            let counts: Vec<i64> =
                sizes.iter().cycle().take(units * sizes.len()).map(|size| size * sign()).collect();
            let all = [SuffStats::new(&counts, 1, units, sizes.len()).unwrap()];
            let tiles = Tiles::new(&Packed::from_stats(&all[0]), &Stop::never()).unwrap();
            let first = first.min(units.div_ceil(64) - 1);
            let masks: Vec<u64> = random.take(count.min(units.div_ceil(64) - first) * replicates).collect();
            let masks = Strided::new(&masks[..], replicates);
            let stride = replicates + beyond;
            let before = || vec![7; stride * sizes.len()];
            let mut expected = before();
            obvious(&all[0], first, masks, Strided::new(&mut expected[..], stride));
            let mut got = before();
            (0..tiles.len()).for_each(|tile| tiles.add(tile, first, masks, Strided::new(&mut got[..], stride)));
            prop_assert_eq!(expected, got);
        }
    }
}
