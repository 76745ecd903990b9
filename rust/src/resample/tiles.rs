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
    /// One row for each replicate, to be added to.
    pub rows: Vec<Row<T>>,
    bound: i64,
    /// The tile's first lane, and the lanes of all tiles together.
    lanes: (usize, usize),
}

impl<T: Lane> RunningSums<T> {
    pub fn new(replicates: usize, lanes: (usize, usize)) -> Self {
        RunningSums { rows: vec![[T::default(); LANES]; replicates], bound: 0, lanes }
    }

    /// Widens the sums into `out` unless up to `more` in absolute value fits on top.
    pub fn make_room(&mut self, more: i64, out: &mut [i64]) {
        if self.bound.saturating_add(more) > T::LARGEST {
            self.flush(out);
        }
        self.bound += more;
    }

    /// Widens the sums into `out` and starts again.
    #[inline(always)]
    pub fn flush(&mut self, out: &mut [i64]) {
        let (lane, width) = self.lanes;
        for (sums, out) in self.rows.iter_mut().zip(out.chunks_exact_mut(width)) {
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

impl<T: Lane> Tile<T> {
    fn new(rows: usize, bounds: Vec<i64>) -> Self {
        Tile { rows: Vec::with_capacity(rows), bounds, largest: 0 }
    }

    fn push(&mut self, values: impl Iterator<Item = i64>) {
        let mut row = [T::default(); LANES];
        for (lane, value) in row.iter_mut().zip(values) {
            *lane = T::try_from(value).unwrap_or_else(|_| unreachable!("the lane was chosen to fit"));
            self.largest = self.largest.max(value.abs());
        }
        self.rows.push(row);
    }
}

/// A tile of any width of lane.
pub(super) enum AnyTile {
    Narrow(Tile<i16>),
    Middle(Tile<i32>),
    Wide(Tile<i64>),
}

impl AnyTile {
    fn push(&mut self, values: impl Iterator<Item = i64>) {
        match self {
            AnyTile::Narrow(tile) => tile.push(values),
            AnyTile::Middle(tile) => tile.push(values),
            AnyTile::Wide(tile) => tile.push(values),
        }
    }
}

/// A matrix of S rows and any number of columns, packed.
pub(super) struct Tiles {
    pub tiles: Vec<AnyTile>,
    /// Where each column went, in lanes from the first tile's first; `None` for a column of zeros.
    pub slots: Vec<Option<usize>>,
}

impl Tiles {
    /// Packs the matrix whose rows `fill(row, out)` writes.
    pub fn new(rows: usize, columns: usize, group: Group, fill: impl Fn(usize, &mut [i64])) -> Self {
        let mut values = vec![0; columns];
        // What a kernel may add for a group of rows, at most, in absolute value: group by group, column by column.
        let mut bounds = vec![0i64; rows.div_ceil(group.rows) * columns];
        let mut largest = vec![0; columns];
        for (g, bounds) in bounds.chunks_exact_mut(columns).enumerate() {
            for row in g * group.rows..((g + 1) * group.rows).min(rows) {
                fill(row, &mut values);
                for (bound, value) in bounds.iter_mut().zip(&values) {
                    *bound = bound.saturating_add(group.times.saturating_mul(value.abs()));
                }
            }
            largest.iter_mut().zip(bounds).for_each(|(largest, &mut bound)| *largest = bound.max(*largest));
        }

        let mut by_width: [Vec<usize>; 3] = Default::default();
        for (column, bound) in largest.into_iter().enumerate() {
            match bound {
                0 => {}
                1..=i16::LARGEST => by_width[0].push(column),
                ..=i32::LARGEST => by_width[1].push(column),
                _ => by_width[2].push(column),
            }
        }
        let padded = rows.next_multiple_of(group.rows);
        let mut slots = vec![None; columns];
        let mut tiles = Vec::new();
        for (width, packed) in by_width.iter().enumerate() {
            for packed in packed.chunks(LANES) {
                for (lane, &column) in packed.iter().enumerate() {
                    slots[column] = Some(tiles.len() * LANES + lane);
                }
                let bound = |bounds: &[i64]| packed.iter().map(|&column| bounds[column]).max().unwrap_or(0);
                let bounds = bounds.chunks_exact(columns).map(bound).collect();
                let tile = match width {
                    0 => AnyTile::Narrow(Tile::new(padded, bounds)),
                    1 => AnyTile::Middle(Tile::new(padded, bounds)),
                    _ => AnyTile::Wide(Tile::new(padded, bounds)),
                };
                tiles.push((tile, packed));
            }
        }
        for row in 0..padded {
            if row < rows {
                fill(row, &mut values);
            } else {
                values.fill(0);
            }
            for (tile, packed) in &mut tiles {
                tile.push(packed.iter().map(|&column| values[column]));
            }
        }
        Tiles { tiles: tiles.into_iter().map(|(tile, _)| tile).collect(), slots }
    }

    /// Lanes of all tiles together.
    pub fn width(&self) -> usize {
        self.tiles.len() * LANES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_to_the_narrowest_lane_that_holds_a_group_and_zeros_nowhere() {
        let columns = [0, 2047, 2048, 1 << 26, 1 << 27, 1 << 40];
        let tiles = Tiles::new(40, columns.len(), Group { rows: 16, times: 1 }, |row, out| {
            out.iter_mut().zip(columns).for_each(|(out, size)| *out = size * [1, -1][row % 2]);
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
