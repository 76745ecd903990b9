//! Quadratic forms of swaps: counts of pairs, of which each depends on whether either cell is swapped.
//!
//! A count s(f, g) of a pair with swaps f, g ∈ {0, 1} is s00 + f·(s10 − s00) + g·(s01 − s00) + f·g·(s11 − s10 − s01 + s00). The
//! sum over many pairs is a constant, a sum over cells and a sum over pairs. The other metric has all swaps reversed, which
//! changes the constant and the sum over cells only. Hence the difference between both metrics needs no sum over pairs.

use crate::resample::BATCH;
use crate::simd::dispatch;

/// A number with a place in a register.
pub(super) trait Lane: Copy + PartialOrd + Send + Sync + 'static {
    const ZERO: Self;
    fn new(value: f64) -> Self;
    fn plus(self, other: Self) -> Self;
    /// This number if the mask is −1, 0 if it is 0.
    fn masked(self, mask: i8) -> Self;
    fn as_f64(self) -> f64;
}

macro_rules! integer_lanes {
    ($($integer:ty),*) => {$(
        impl Lane for $integer {
            const ZERO: Self = 0;

            #[inline(always)]
            fn new(value: f64) -> Self {
                debug_assert!(f64::from(value as $integer) == value);
                value as $integer
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn masked(self, mask: i8) -> Self {
                self & <$integer>::from(mask)
            }

            #[inline(always)]
            fn as_f64(self) -> f64 {
                f64::from(self)
            }
        }
    )*};
}

integer_lanes!(i16, i32);

impl Lane for f64 {
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn new(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn masked(self, mask: i8) -> Self {
        f64::from_bits(self.to_bits() & i64::from(mask) as u64)
    }

    #[inline(always)]
    fn as_f64(self) -> f64 {
        self
    }
}

/// A count of pairs as a function of swaps, for metrics A and B after the swaps.
pub(super) struct Form {
    /// The count for A and for B without swaps.
    constants: [i64; 2],
    /// For each cell, what its swap adds to the counts of A and B.
    linear: [Vec<i32>; 2],
    /// Where the pairs of each cell begin in `others`, and what a swap of both cells adds.
    starts: Vec<u32>,
    others: Vec<(u32, i32)>,
}

impl Form {
    /// Adds up counts of pairs. `pairs` calls its argument with cells i > j, in ascending order of i, and
    /// [s00, s10, s01, s11], where the first digit is the swap of i.
    pub fn new(cells: usize, pairs: impl FnOnce(&mut dyn FnMut(usize, usize, [i32; 4]))) -> Self {
        let mut form =
            Form { constants: [0; 2], linear: [vec![0; cells], vec![0; cells]], starts: vec![0], others: Vec::new() };
        pairs(&mut |i, j, [s00, s10, s01, s11]| {
            while form.starts.len() <= i {
                form.starts.push(form.others.len() as u32);
            }
            let both = s11 - s10 - s01 + s00;
            form.constants[0] += i64::from(s00);
            form.constants[1] += i64::from(s11);
            form.linear[0][i] += s10 - s00;
            form.linear[0][j] += s01 - s00;
            form.linear[1][i] += s01 - s11;
            form.linear[1][j] += s10 - s11;
            if both != 0 {
                form.others.push((j as u32, both));
            }
        });
        while form.starts.len() <= cells {
            form.starts.push(form.others.len() as u32);
        }
        form
    }

    /// Whether the counts are always the constants.
    pub fn is_constant(&self) -> bool {
        self.others.is_empty() && self.linear.iter().flatten().all(|weight| *weight == 0)
    }

    pub fn constants(&self) -> [i64; 2] {
        self.constants
    }
}

dispatch! {
    /// The counts of A and B in a block of replicates, given the bytes of swaps of the cells.
    pub(super) fn counts<T: Lane>(form: &Form, rows: &[[i8; BATCH]], cells: &[u32], out: &mut [[T; BATCH]; 2]) {
        let mut counts = form.constants.map(|constant| [T::new(constant as f64); BATCH]);
        for (i, &cell) in cells.iter().enumerate() {
            let others = &form.others[form.starts[i] as usize..form.starts[i + 1] as usize];
            if others.is_empty() && form.linear[0][i] == 0 && form.linear[1][i] == 0 {
                continue;
            }
            let row = &rows[cell as usize];
            let mut with = [T::new(f64::from(form.linear[0][i])); BATCH];
            let mut pairs = [T::ZERO; BATCH];
            for &(j, both) in others {
                let (other, both) = (&rows[cells[j as usize] as usize], T::new(f64::from(both)));
                for lane in 0..BATCH {
                    pairs[lane] = pairs[lane].plus(both.masked(other[lane]));
                }
            }
            let reversed = T::new(f64::from(form.linear[1][i]));
            let [a, b] = &mut counts;
            for lane in 0..BATCH {
                with[lane] = with[lane].plus(pairs[lane]);
                a[lane] = a[lane].plus(with[lane].masked(row[lane]));
                b[lane] = b[lane].plus(reversed.plus(pairs[lane]).masked(row[lane]));
            }
        }
        *out = counts;
    }
}

dispatch! {
    /// The difference of the counts of A and B in a block of replicates.
    pub(super) fn difference<T: Lane>(form: &Form, rows: &[[i8; BATCH]], cells: &[u32], out: &mut [T; BATCH]) {
        let mut difference = [T::new((form.constants[0] - form.constants[1]) as f64); BATCH];
        for (i, &cell) in cells.iter().enumerate() {
            let weight = T::new(f64::from(form.linear[0][i] - form.linear[1][i]));
            for (sum, &flip) in difference.iter_mut().zip(&rows[cell as usize]) {
                *sum = sum.plus(weight.masked(flip));
            }
        }
        *out = difference;
    }
}
