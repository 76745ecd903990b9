//! The flip masks of exchanges between two systems with several runs each.
//!
//! A *row* is one output, or one output's difference from another, in all segments. Units are in the order group of 64
//! segments, row, segment: unit 64·(g·rows + i) + lane is row i in segment 64·g + lane. So the masks of a group's rows
//! follow each other, and all of them come from one permutation per segment.

use std::fmt;
use std::ops::Range;

use super::permute::{Labels, UNITS_PER_GROUP, check_size, cost_of_labels, permute_group};
use crate::error::{Error, Result};
use crate::memory::{resize, zeros};
use crate::pool::Stop;
use crate::resample::{Strided, length};
use crate::simd::{Simd, dispatch};
use crate::stream::{Purpose, Stream, fill_by_replicate};

/// From this many runs on, MultEval's masks are made segment by segment. Side by side the number of operations grows with
/// the square of the number of runs.
const SIDE_BY_SIDE: usize = 16;

/// How the outputs of two systems with several runs each are exchanged within each segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchange {
    /// All outputs of a segment are permuted: the first of these numbers are those of one system, the second those of
    /// the other. A row is an output, and is swapped if it is now the other system's.
    Pooled(usize, usize),
    /// MultEval's shuffles of two systems with this many runs each. The first rows are those of side X: row j is swapped
    /// if the coin of the place that the permutation moves it to is 1. Then follow those of side Y: the same with the
    /// inverse permutation.
    MultEval(usize),
}

impl Exchange {
    /// The number of rows of a segment.
    pub fn rows(self) -> usize {
        match self {
            Exchange::Pooled(first, second) => first.saturating_add(second),
            Exchange::MultEval(runs) => runs.saturating_mul(2),
        }
    }

    /// The number of labels that are permuted in a segment.
    fn labels(self) -> usize {
        match self {
            Exchange::Pooled(..) => self.rows(),
            Exchange::MultEval(runs) => runs,
        }
    }

    /// Checks the numbers of runs, and that units are whole groups of segments.
    fn check(self, units: usize) -> Result<()> {
        let runs = match self {
            Exchange::Pooled(first, second) => first.min(second),
            Exchange::MultEval(runs) => runs,
        };
        if runs == 0 {
            return Err(Error::invalid("the number of runs of a system", "at least 1", "0"));
        }
        let per_group = self.rows().saturating_mul(UNITS_PER_GROUP);
        if !units.is_multiple_of(per_group) {
            return Err(Error::invalid(
                format!("the number of segments for the exchange {self}"),
                format!("a multiple of {per_group}, {UNITS_PER_GROUP} segments of {} rows each", self.rows()),
                units,
            ));
        }
        check_size(self.labels(), units / self.rows())
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exchange::Pooled(first, second) => write!(f, "pooled of {first} and {second} runs"),
            Exchange::MultEval(runs) => write!(f, "multeval of {runs} and {runs} runs"),
        }
    }
}

/// The exchanges of a seed.
#[derive(Debug, Clone, Copy)]
pub(in crate::resample) struct Exchanges {
    exchange: Exchange,
    seed: u64,
}

/// The masks of one group of segments in a block of replicates, and buffers to make them.
#[derive(Default)]
pub(super) struct GroupMasks {
    group: Option<usize>,
    /// The masks, row by row of the group: one for each replicate of the block, then as much padding as its sums have.
    masks: Vec<u64>,
    /// Coins: value v of the streams of all replicates side by side, then value v + 1, and so on. The first v is even,
    /// because streams make values in pairs.
    coins: Vec<u64>,
    labels: Vec<Labels>,
    spread: Vec<Labels>,
}

impl GroupMasks {
    /// Forgets the masks, because a block of other replicates begins.
    pub fn clear(&mut self) {
        self.group = None;
    }
}

impl Exchanges {
    /// Exchanges between rows in `units` units.
    pub fn new(exchange: Exchange, seed: u64, units: usize) -> Result<Self> {
        exchange.check(units)?;
        Ok(Exchanges { exchange, seed })
    }

    /// The cost of a replicate's masks for so many units, in additions, roughly.
    pub fn cost(&self, units: usize) -> u64 {
        let groups = units / (UNITS_PER_GROUP * self.exchange.rows());
        (groups * self.cost_of_group()) as u64
    }

    fn cost_of_group(&self) -> usize {
        UNITS_PER_GROUP * (cost_of_labels(self.exchange.labels()) + self.exchange.rows())
    }

    /// Writes masks from number `from` on, a column for each.
    pub(super) fn fill(
        &self,
        simd: Simd,
        (replicates, from): (Range<u64>, usize),
        mut out: Strided<&mut [u64]>,
        held: &mut GroupMasks,
        stop: &Stop<'_>,
    ) -> Result<()> {
        let (rows, stride) = (self.exchange.rows(), out.rows());
        for (mask, out) in (from..).zip(out.columns_mut()) {
            if held.group != Some(mask / rows) {
                self.make(simd, (replicates.clone(), stride), mask / rows, held, stop)?;
            }
            out.copy_from_slice(Strided::new(&held.masks[..], stride).column(mask % rows));
        }
        Ok(())
    }

    /// Makes the masks of a group of segments in a block of replicates.
    fn make(
        &self,
        simd: Simd,
        (replicates, stride): (Range<u64>, usize),
        group: usize,
        held: &mut GroupMasks,
        stop: &Stop<'_>,
    ) -> Result<()> {
        let GroupMasks { group: made, masks, coins, labels, spread } = held;
        *made = None;
        resize(masks, self.exchange.rows() * stride)?;
        if labels.len() != self.exchange.labels() {
            *labels = zeros(&[self.exchange.labels()])?;
            *spread = zeros(&[self.exchange.labels()])?;
        }
        let n = length(&replicates);
        if let Exchange::MultEval(runs) = self.exchange {
            let values = group * runs % 2 + runs;
            resize(coins, values * n)?;
            let first = Stream::new(self.seed, Purpose::Shuffle, replicates.start);
            fill_by_replicate(simd, first, n, (group * runs / 2) as u32, coins);
        }
        for (place, replicate) in replicates.enumerate() {
            stop.charge(self.cost_of_group())?;
            permute_group(simd, Stream::new(self.seed, Purpose::Permutation, replicate), group, labels);
            let mut masks = Strided::new(&mut masks[..], stride);
            let masks = masks.rows_from_mut(place);
            match self.exchange {
                Exchange::Pooled(first, _) => pooled(simd, labels, first as u16, masks),
                Exchange::MultEval(runs) => {
                    let coins = Strided::new(&coins[group * runs % 2 * n..], n);
                    let coins = coins.rows_from(place);
                    match runs < SIDE_BY_SIDE {
                        true => mult_eval_side_by_side(simd, labels, coins, spread, masks),
                        false => mult_eval_one_by_one(labels, coins, masks),
                    }
                }
            }
        }
        *made = Some(group);
        Ok(())
    }
}

dispatch! {
    /// A mask for each position: whether its label is on the other side of `first` than the position.
    fn pooled(labels: &[Labels], first: u16, masks: Strided<&mut [u64]>) {
        let mut masks = masks;
        for ((place, labels), mask) in labels.iter().enumerate().zip(masks.first_row_mut()) {
            let here = packed(&labels.map(|label| u16::from(label < first)));
            *mask = if place < usize::from(first) { !here } else { here };
        }
    }
}

dispatch! {
    /// Row j of side X has the coin of the position that holds label j, and row j of side Y the coin of the position whose
    /// number is the label at position j.
    fn mult_eval_side_by_side(
        labels: &[Labels],
        coins: Strided<&[u64]>,
        spread: &mut [Labels],
        masks: Strided<&mut [u64]>,
    ) {
        let mut masks = masks;
        for (spread, coin) in spread.iter_mut().zip(coins.first_row()) {
            *spread = unpacked(*coin);
        }
        for row in 0..labels.len() {
            let (mut x, mut y) = ([0; UNITS_PER_GROUP], [0; UNITS_PER_GROUP]);
            for (place, (coins, labels_there)) in (0_u16..).zip(spread.iter().zip(labels)) {
                let lanes = x.iter_mut().zip(&mut y).zip(coins).zip(labels_there.iter().zip(&labels[row]));
                for (((x, y), coin), (label_there, label)) in lanes {
                    *x |= coin & u16::from(*label_there == row as u16);
                    *y |= coin & u16::from(*label == place);
                }
            }
            masks.column_mut(row)[0] = packed(&x);
            masks.column_mut(labels.len() + row)[0] = packed(&y);
        }
    }
}

/// The same, segment by segment.
fn mult_eval_one_by_one(labels: &[Labels], coins: Strided<&[u64]>, mut masks: Strided<&mut [u64]>) {
    masks.first_row_mut().take(2 * labels.len()).for_each(|mask| *mask = 0);
    for (place, labels_here) in labels.iter().enumerate() {
        for (lane, &label) in labels_here.iter().enumerate() {
            let coin = |place: usize| coins.column(place)[0] >> lane & 1;
            masks.column_mut(label.into())[0] |= coin(place) << lane;
            masks.column_mut(labels.len() + place)[0] |= coin(label.into()) << lane;
        }
    }
}

/// The bits of 64 numbers that are 0 or 1.
#[inline(always)]
fn packed(bits: &Labels) -> u64 {
    let bytes = bits.map(|bit| bit as u8);
    let (eights, _) = bytes.as_chunks::<8>();
    // The product moves bit 0 of byte i to bit 56 + i; nothing else reaches the highest byte.
    let byte = |i: usize| (u64::from_le_bytes(eights[i]).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8;
    u64::from_le_bytes(std::array::from_fn(byte))
}

/// 64 bits as numbers that are 0 or 1.
#[inline(always)]
fn unpacked(mask: u64) -> Labels {
    std::array::from_fn(|lane| ((mask >> (lane / 16 * 16)) as u16 >> (lane % 16)) & 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::testing::cases(64))]
        #[test]
        fn packing_is_the_inverse_of_unpacking(mask in any::<u64>()) {
            let bits = unpacked(mask);
            prop_assert!((0..64).all(|lane| u64::from(bits[lane]) == mask >> lane & 1));
            prop_assert_eq!(mask, packed(&bits));
        }

        #[test]
        fn both_ways_to_make_the_masks_of_multeval_agree(
            (seed, replicate) in any::<(u64, u64)>(),
            group in 0..5usize,
            runs in prop::sample::select(vec![1, 2, 3, 4, 9, SIDE_BY_SIDE - 1]),
        ) {
            let mut labels = vec![[0; UNITS_PER_GROUP]; runs];
            permute_group(Simd::Portable, Stream::new(seed, Purpose::Permutation, replicate), group, &mut labels);
            let coins: Vec<u64> =
                Stream::new(seed, Purpose::Shuffle, replicate).values().step_by(2).take(3 * runs).collect();
            let mut expected = vec![9; 2 * 2 * runs];
            let coins = Strided::new(&coins[..], 3);
            mult_eval_one_by_one(&labels, coins, Strided::new(&mut expected[..], 2));
            for simd in Simd::tested() {
                let mut got = vec![9; 2 * 2 * runs];
                let masks = Strided::new(&mut got[..], 2);
                mult_eval_side_by_side(simd, &labels, coins, &mut vec![[9; UNITS_PER_GROUP]; runs], masks);
                prop_assert_eq!(&expected, &got);
            }
        }
    }
}
