//! The matrix that the kernels add rows of: columns packed sixteen abreast, each as narrow as its sums allow.
//!
//! A kernel is bound by how many bytes it adds per replicate. Counts of a segment are small, so most columns fit
//! 16-bit lanes, with the running sums widened to 64 bits before they could overflow; columns that are zero
//! throughout (the reference length, in a difference of two systems) are left out.

use std::ops::Add;

/// Columns per tile: a row of 16-bit lanes is half a cache line.
pub(super) const LANES: usize = 16;

/// Units whose sum must fit a lane; the shuffle kernel adds that many at a time.
pub(super) const GROUP: usize = 16;

/// A row of a tile.
pub(super) type Row<T> = [T; LANES];

/// An integer that sums are kept in between widenings.
pub(super) trait Lane: Copy + Default + Add<Output = Self> + Into<i64> + TryFrom<i64> + Send + Sync {
    /// The largest sum it holds.
    const LARGEST: i64;
}

impl Lane for i16 {
    const LARGEST: i64 = i16::MAX as i64;
}

impl Lane for i32 {
    const LARGEST: i64 = i32::MAX as i64;
}

impl Lane for i64 {
    const LARGEST: i64 = i64::MAX;
}

#[inline(always)]
pub(super) fn add<T: Lane>(a: &Row<T>, b: &Row<T>) -> Row<T> {
    let mut sum = *a;
    for (sum, &b) in sum.iter_mut().zip(b) {
        *sum = *sum + b;
    }
    sum
}

#[inline(always)]
pub(super) fn widen_into<T: Lane>(out: &mut [i64], sums: &Row<T>) {
    for (out, &sum) in out.iter_mut().zip(sums) {
        *out += sum.into();
    }
}

/// Sixteen columns of the matrix, padded with rows of zeros to whole groups.
pub(super) struct Tile<T> {
    pub rows: Vec<Row<T>>,
    /// For each group of rows, a bound on the absolute value of any sum of some of them.
    pub bounds: Vec<i64>,
    /// The largest absolute value.
    pub largest: i64,
}

/// A tile of any width of lane.
pub(super) enum AnyTile {
    Narrow(Tile<i16>),
    Middle(Tile<i32>),
    Wide(Tile<i64>),
}

/// A matrix of S rows and any number of columns, packed.
pub(super) struct Tiles {
    pub tiles: Vec<AnyTile>,
    /// Where each column went, in lanes from the first tile's first; `None` for a column of zeros.
    pub slots: Vec<Option<usize>>,
}

impl Tiles {
    /// Packs the matrix whose entries `value(row, column)` gives.
    pub fn new(rows: usize, columns: usize, value: impl Fn(usize, usize) -> i64) -> Self {
        let mut by_width: [Vec<usize>; 3] = Default::default();
        for column in 0..columns {
            let bound = group_bounds(rows, |row| value(row, column)).max().unwrap_or(0);
            match bound {
                0 => {}
                1..=i16::LARGEST => by_width[0].push(column),
                ..=i32::LARGEST => by_width[1].push(column),
                _ => by_width[2].push(column),
            }
        }
        let mut slots = vec![None; columns];
        let mut tiles = Vec::new();
        for (width, packed) in by_width.iter().enumerate() {
            for columns in packed.chunks(LANES) {
                for (lane, &column) in columns.iter().enumerate() {
                    slots[column] = Some(tiles.len() * LANES + lane);
                }
                tiles.push(match width {
                    0 => AnyTile::Narrow(Tile::new(rows, columns, &value)),
                    1 => AnyTile::Middle(Tile::new(rows, columns, &value)),
                    _ => AnyTile::Wide(Tile::new(rows, columns, &value)),
                });
            }
        }
        Tiles { tiles, slots }
    }

    /// Lanes of all tiles together.
    pub fn width(&self) -> usize {
        self.tiles.len() * LANES
    }
}

impl<T: Lane> Tile<T> {
    fn new(rows: usize, columns: &[usize], value: &impl Fn(usize, usize) -> i64) -> Self {
        let mut packed = vec![[T::default(); LANES]; rows.next_multiple_of(GROUP)];
        let mut bounds = vec![0; packed.len() / GROUP];
        let mut largest = 0;
        for (lane, &column) in columns.iter().enumerate() {
            for (row, packed) in packed.iter_mut().take(rows).enumerate() {
                let value = value(row, column);
                packed[lane] = T::try_from(value).unwrap_or_else(|_| unreachable!("the lane was chosen to fit"));
                largest = largest.max(value.abs());
            }
            for (bound, of_column) in bounds.iter_mut().zip(group_bounds(rows, |row| value(row, column))) {
                *bound = of_column.max(*bound);
            }
        }
        Tile { rows: packed, bounds, largest }
    }
}

fn group_bounds(rows: usize, value: impl Fn(usize) -> i64) -> impl Iterator<Item = i64> {
    (0..rows.div_ceil(GROUP)).map(move |g| (g * GROUP..((g + 1) * GROUP).min(rows)).map(|row| value(row).abs()).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_to_the_narrowest_lane_that_holds_a_group_and_zeros_nowhere() {
        let columns = [0, 2047, 2048, 1 << 26, 1 << 27, 1 << 40];
        let tiles =
            Tiles::new(40, columns.len(), |row, column| if row % 2 == 0 { columns[column] } else { -columns[column] });
        let kinds: Vec<_> = tiles
            .tiles
            .iter()
            .map(|t| match t {
                AnyTile::Narrow(t) => ("narrow", t.largest, t.bounds.clone()),
                AnyTile::Middle(t) => ("middle", t.largest, t.bounds.clone()),
                AnyTile::Wide(t) => ("wide", t.largest, t.bounds.clone()),
            })
            .collect();
        let expected = [("narrow", 2047), ("middle", 1 << 26), ("wide", 1 << 40)]
            .map(|(kind, largest)| (kind, largest, vec![16 * largest, 16 * largest, 8 * largest]));
        assert_eq!(expected.as_slice(), kinds);
        assert_eq!([None, Some(0), Some(16), Some(17), Some(32), Some(33)], tiles.slots.as_slice());
    }
}
