//! The matrix that the kernels add rows of: columns packed sixteen abreast, each as narrow as its sums allow.
//!
//! A kernel is bound by how many bytes it adds per replicate. Counts of a segment are small, so most columns fit
//! 16-bit lanes, with the running sums widened to 64 bits before they could overflow; columns that are zero
//! throughout (the reference length, in a difference of two systems) are left out.

use std::ops::Add;

/// Columns per tile: a row of 16-bit lanes is half a cache line.
pub(super) const LANES: usize = 16;

/// How a kernel adds rows: `rows` of them at a time, each up to `times` over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub rows: usize,
    pub times: i64,
}

impl Group {
    /// For each group of rows of a column, a bound on the absolute value of what a kernel may add for it.
    fn bounds(self, rows: usize, value: impl Fn(usize) -> i64) -> impl Iterator<Item = i64> {
        (0..rows).step_by(self.rows).map(move |first| {
            let group = first..(first + self.rows).min(rows);
            group.map(|row| self.times.saturating_mul(value(row).abs())).fold(0, i64::saturating_add)
        })
    }
}

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

/// The sums of a block of replicates in the lanes of one tile, widened before they could overflow.
pub(super) struct RunningSums<T> {
    sums: Vec<Row<T>>,
    bound: i64,
    /// The tile's first lane, and the lanes of all tiles together.
    lanes: (usize, usize),
}

impl<T: Lane> RunningSums<T> {
    pub fn new(replicates: usize, lanes: (usize, usize)) -> Self {
        RunningSums { sums: vec![[T::default(); LANES]; replicates], bound: 0, lanes }
    }

    /// Widens the sums into `out` unless up to `more` in absolute value fits on top.
    pub fn make_room(&mut self, more: i64, out: &mut [i64]) {
        if self.bound.saturating_add(more) > T::LARGEST {
            self.flush(out);
        }
        self.bound += more;
    }

    /// Adds a row to each replicate's sums.
    #[inline(always)]
    pub fn add(&mut self, rows: impl Iterator<Item = Row<T>>) {
        for (sums, row) in self.sums.iter_mut().zip(rows) {
            *sums = add(sums, &row);
        }
    }

    /// Widens the sums into `out` and starts again.
    pub fn flush(&mut self, out: &mut [i64]) {
        let (lane, width) = self.lanes;
        for (sums, out) in self.sums.iter_mut().zip(out.chunks_exact_mut(width)) {
            for (out, sum) in out[lane..lane + LANES].iter_mut().zip(std::mem::take(sums)) {
                *out += sum.into();
            }
        }
        self.bound = 0;
    }
}

/// Sixteen columns of the matrix, padded with rows of zeros to whole groups.
pub(super) struct Tile<T> {
    pub rows: Vec<Row<T>>,
    /// For each group of rows, a bound on the absolute value of what a kernel may add for it.
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
    pub fn new(rows: usize, columns: usize, group: Group, value: impl Fn(usize, usize) -> i64) -> Self {
        let mut by_width: [Vec<usize>; 3] = Default::default();
        for column in 0..columns {
            let bound = group.bounds(rows, |row| value(row, column)).max().unwrap_or(0);
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
                    0 => AnyTile::Narrow(Tile::new(rows, columns, group, &value)),
                    1 => AnyTile::Middle(Tile::new(rows, columns, group, &value)),
                    _ => AnyTile::Wide(Tile::new(rows, columns, group, &value)),
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
    fn new(rows: usize, columns: &[usize], group: Group, value: &impl Fn(usize, usize) -> i64) -> Self {
        let mut packed = vec![[T::default(); LANES]; rows.next_multiple_of(group.rows)];
        let mut bounds = vec![0; packed.len() / group.rows];
        let mut largest = 0;
        for (lane, &column) in columns.iter().enumerate() {
            for (row, packed) in packed.iter_mut().take(rows).enumerate() {
                let value = value(row, column);
                packed[lane] = T::try_from(value).unwrap_or_else(|_| unreachable!("the lane was chosen to fit"));
                largest = largest.max(value.abs());
            }
            for (bound, of_column) in bounds.iter_mut().zip(group.bounds(rows, |row| value(row, column))) {
                *bound = of_column.max(*bound);
            }
        }
        Tile { rows: packed, bounds, largest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_to_the_narrowest_lane_that_holds_a_group_and_zeros_nowhere() {
        let columns = [0, 2047, 2048, 1 << 26, 1 << 27, 1 << 40];
        let tiles = Tiles::new(40, columns.len(), Group { rows: 16, times: 1 }, |row, column| {
            columns[column] * [1, -1][row % 2]
        });
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
