//! The random numbers of a replicate: a pure function of (seed, purpose, replicate).
//!
//! The generator is Philox4x32-10 (Salmon et al. 2011, doi:10.1145/2063384.2063405). The seed is its key; its counter
//! is (block, purpose, replicate mod 2^32, replicate div 2^32). Every block of four 32-bit outputs is a function of its
//! counter, so no result depends on which thread asks for it, or in which order. Two outputs make one 64-bit value, the
//! first being the low half. docs/design/random-numbers.md rebuilds a replicate in a few lines of numpy.
//!
//! numpy's own Philox4x64 was tried first. It needs 128-bit products, for which there are no vector instructions, and
//! took a third of the time of a shuffle and more than that of a draw. Philox4x32 multiplies for eight blocks with one
//! instruction.

use crate::error::{Result, named};
use crate::simd::{Simd, dispatch};

/// The name of the generator in signatures. It changes if and only if the random bits or indices of a replicate change.
pub const GENERATOR: &str = "philox4x32-10";

/// What a stream is for. Streams of different purposes are independent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// Flips of approximate randomization.
    Shuffle = 0,
    /// Most of the weights of a bootstrap draw.
    Draw = 1,
    /// The few weights of a draw that a random byte does not determine.
    DrawResidual = 2,
    /// The units that are added to a draw to bring its size to S.
    DrawRest = 3,
    /// The codes of units in a subgroup of flips.
    Code = 4,
    /// Derived seeds: see [`derive()`].
    Derive = 5,
    /// Permutations of the systems within units.
    Permutation = 6,
    /// The units of a simulated test set, and the systems that a draw of systems takes.
    Selection = 7,
    /// The units of a simulated test set in which two systems are swapped.
    Assignment = 8,
    /// The random numbers of optimizers of weights.
    Tuning = 9,
    /// The order in which tuning visits the sentences.
    Visit = 10,
    /// The pairs of candidates that tuning draws.
    Pairs = 11,
}

/// The kinds of derived seeds, and the number by which each kind enters the counter.
const DERIVED: [(&str, u32); 4] = [("test-set", 1), ("simulation", SIMULATION), ("run", 3), ("restart", 4)];

/// The kind of seed of a simulation.
pub(crate) const SIMULATION: u32 = 2;

/// A seed for the `index`-th test set, simulation, run or restart: the first value of a stream with a purpose of its
/// own, whose part is the kind and whose replicate is the index. Derived seeds can be derived from again.
///
/// # Errors
/// [`crate::Error::UnknownName`] for an unknown kind.
pub fn derive(seed: u64, kind: &str, index: u64) -> Result<u64> {
    Ok(derived(seed, named("kind of seed", kind, &DERIVED)?, index))
}

/// As [`derive()`], by the number of the kind.
pub(crate) fn derived(seed: u64, kind: u32, index: u64) -> u64 {
    Stream::new(seed, Purpose::Derive, index).part(kind).value(0)
}

const MULTIPLIER_0: u64 = 0xD251_1F53;
const MULTIPLIER_1: u64 = 0xCD9E_8D57;
const WEYL_0: u32 = 0x9E37_79B9;
const WEYL_1: u32 = 0xBB67_AE85;

/// The number of blocks that are computed together, so that their chains of ten multiplications overlap.
pub(crate) const BLOCKS_TOGETHER: usize = 16;

/// Computes the four 32-bit outputs of each counter, in the low halves of its 64-bit lanes. The high halves hold
/// garbage.
#[inline(always)]
fn philox<const N: usize>(counters: &mut [[u64; N]; 4], mut key: [u32; 2]) {
    let low = |x: u64| x & 0xFFFF_FFFF;
    for _ in 0..10 {
        let (k, l) = (u64::from(key[0]), u64::from(key[1]));
        let [a, b, c, d] = &mut *counters;
        for (((a, b), c), d) in a.iter_mut().zip(b).zip(c).zip(d) {
            let product_0 = MULTIPLIER_0 * low(*a);
            let product_1 = MULTIPLIER_1 * low(*c);
            (*a, *b) = (product_1 >> 32 ^ *b ^ k, product_1);
            (*c, *d) = (product_0 >> 32 ^ *d ^ l, product_0);
        }
        key = [key[0].wrapping_add(WEYL_0), key[1].wrapping_add(WEYL_1)];
    }
}

/// The stream of one replicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    seed: u64,
    replicate: u64,
    purpose: u32,
}

impl Stream {
    /// The stream of `replicate` under `seed`.
    pub fn new(seed: u64, purpose: Purpose, replicate: u64) -> Self {
        Stream { seed, replicate, purpose: purpose as u32 }
    }

    /// One of 2^24 independent streams of the same replicate and purpose.
    pub fn part(self, part: u32) -> Self {
        debug_assert!(part < 1 << 24);
        Stream { purpose: self.purpose & 0xFF | part << 8, ..self }
    }

    /// The stream of the same replicate and part for another purpose.
    pub fn for_purpose(self, purpose: Purpose) -> Self {
        Stream { purpose: self.purpose & !0xFF | purpose as u32, ..self }
    }

    #[inline(always)]
    fn key(&self) -> [u32; 2] {
        [self.seed as u32, (self.seed >> 32) as u32]
    }

    /// The 64-bit values number 2·`block` and 2·`block` + 1.
    #[inline(always)]
    pub fn block(&self, block: u32) -> [u64; 2] {
        let mut counter = [[block.into()], [self.purpose.into()], [self.replicate], [self.replicate >> 32]];
        philox(&mut counter, self.key());
        pack(&counter, 0)
    }

    /// The 64-bit value number `index`.
    pub fn value(&self, index: u64) -> u64 {
        self.block((index / 2) as u32)[index as usize % 2]
    }

    /// All 64-bit values in order, without end.
    pub fn values(self) -> impl Iterator<Item = u64> {
        (0..).flat_map(move |block| self.block(block))
    }

    /// Fills `out` with the values from number 2·`block` on.
    #[inline(always)]
    pub fn fill(&self, block: u32, out: &mut [u64]) {
        let (whole, rest) = out.as_chunks_mut::<{ 2 * BLOCKS_TOGETHER }>();
        let after = block.wrapping_add((whole.len() * BLOCKS_TOGETHER) as u32);
        for (i, values) in whole.iter_mut().enumerate() {
            *values = self.blocks(block.wrapping_add((i * BLOCKS_TOGETHER) as u32));
        }
        if !rest.is_empty() {
            rest.copy_from_slice(&self.blocks(after)[..rest.len()]);
        }
    }

    /// The values of `BLOCKS_TOGETHER` blocks from number `first` on.
    #[inline(always)]
    fn blocks(&self, first: u32) -> [u64; 2 * BLOCKS_TOGETHER] {
        let counters = self.words(first);
        let mut values = [0; 2 * BLOCKS_TOGETHER];
        for (i, pair) in values.as_chunks_mut().0.iter_mut().enumerate() {
            *pair = pack(&counters, i);
        }
        values
    }

    /// The four 32-bit words of each of `BLOCKS_TOGETHER` blocks from number `first` on, in the low halves; the high halves
    /// hold garbage. The first words of all blocks come first, then the second ones, and so on.
    #[inline(always)]
    pub(crate) fn words(&self, first: u32) -> [[u64; BLOCKS_TOGETHER]; 4] {
        let mut counters = self.counters(first);
        for (counter, block) in counters[0].iter_mut().zip(0..) {
            *counter = u64::from(first.wrapping_add(block));
        }
        philox(&mut counters, self.key());
        counters
    }

    /// The two values of a block in the streams of `BLOCKS_TOGETHER` consecutive replicates, the first of which is `ahead` after
    /// this one.
    #[inline(always)]
    fn side_by_side(&self, block: u32, ahead: usize) -> [[u64; BLOCKS_TOGETHER]; 2] {
        let mut counters = self.counters(block);
        let [_, _, low, high] = &mut counters;
        for (i, (low, high)) in low.iter_mut().zip(high).enumerate() {
            let replicate = self.replicate.wrapping_add((ahead + i) as u64);
            (*low, *high) = (replicate, replicate >> 32);
        }
        philox(&mut counters, self.key());
        let mut values = [[0; BLOCKS_TOGETHER]; 2];
        let [even, odd] = &mut values;
        for (i, (even, odd)) in even.iter_mut().zip(odd).enumerate() {
            [*even, *odd] = pack(&counters, i);
        }
        values
    }

    #[inline(always)]
    fn counters(&self, block: u32) -> [[u64; BLOCKS_TOGETHER]; 4] {
        let all = |x: u64| [x; BLOCKS_TOGETHER];
        [all(block.into()), all(self.purpose.into()), all(self.replicate), all(self.replicate >> 32)]
    }

    /// An endless sequence of indices drawn uniformly from 0..`bound`.
    pub fn indices(self, bound: u32) -> Indices {
        Indices::new(self, bound)
    }
}

/// The two 64-bit values of the `i`-th counter.
#[inline(always)]
fn pack<const N: usize>(counters: &[[u64; N]; 4], i: usize) -> [u64; 2] {
    let low = |x: u64| x & 0xFFFF_FFFF;
    [low(counters[0][i]) | counters[1][i] << 32, low(counters[2][i]) | counters[3][i] << 32]
}

dispatch! {
    /// Writes the values from number 2·`block` on of the streams of consecutive replicates: the first value of every
    /// replicate, then the second of every replicate, and so on.
    pub fn fill_by_replicate(first: Stream, replicates: usize, block: u32, out: &mut [u64]) {
        for (block, out) in (block..).zip(out.chunks_mut(2 * replicates)) {
            let (even, odd) = out.split_at_mut(replicates);
            let (whole_even, rest_even) = even.as_chunks_mut();
            let (whole_odd, rest_odd) = odd.as_chunks_mut();
            let done = whole_even.len();
            for (i, even) in whole_even.iter_mut().enumerate() {
                let values = first.side_by_side(block, i * BLOCKS_TOGETHER);
                *even = values[0];
                // With an odd number of values per replicate, the second value of the last block is dropped.
                if let Some(odd) = whole_odd.get_mut(i) {
                    *odd = values[1];
                }
            }
            if !rest_even.is_empty() {
                let values = first.side_by_side(block, done * BLOCKS_TOGETHER);
                rest_even.copy_from_slice(&values[0][..rest_even.len()]);
                rest_odd.copy_from_slice(&values[1][..rest_odd.len()]);
            }
        }
    }
}

/// The values of a stream as 32-bit numbers, the low half of each first.
#[derive(Debug, Clone)]
pub struct U32Stream {
    stream: Stream,
    next_block: u32,
    numbers: [u32; 4 * BLOCKS_TOGETHER],
    used: usize,
}

impl U32Stream {
    /// From the beginning of the stream.
    pub fn new(stream: Stream) -> Self {
        U32Stream { stream, next_block: 0, numbers: [0; 4 * BLOCKS_TOGETHER], used: 4 * BLOCKS_TOGETHER }
    }

    /// The next number.
    #[inline(always)]
    pub fn next_u32(&mut self) -> u32 {
        if self.used == self.numbers.len() {
            self.refill();
        }
        let number = self.numbers[self.used];
        self.used += 1;
        number
    }

    /// Between one and `most` of the next numbers.
    #[inline(always)]
    fn up_to(&mut self, most: usize) -> &[u32] {
        if self.used == self.numbers.len() {
            self.refill();
        }
        let end = self.numbers.len().min(self.used + most);
        let numbers = &self.numbers[self.used..end];
        self.used = end;
        numbers
    }

    #[cold]
    fn refill(&mut self) {
        let mut values = [0; 2 * BLOCKS_TOGETHER];
        fill(Simd::best(), &self.stream, self.next_block, &mut values);
        for (pair, value) in self.numbers.as_chunks_mut().0.iter_mut().zip(values) {
            *pair = [value as u32, (value >> 32) as u32];
        }
        self.next_block = self.next_block.wrapping_add(BLOCKS_TOGETHER as u32);
        self.used = 0;
    }
}

dispatch! {
    /// As [`Stream::fill`].
    pub(crate) fn fill(stream: &Stream, block: u32, out: &mut [u64]) {
        stream.fill(block, out);
    }
}

/// Uniform indices below a bound.
///
/// Each 32-bit number is mapped to an index by multiplication; the rare ones that would bias the result are rejected
/// (Lemire 2019, doi:10.1145/3230636).
#[derive(Debug, Clone)]
pub struct Indices {
    numbers: U32Stream,
    bound: u32,
    rejected_below: u32,
}

impl Indices {
    fn new(stream: Stream, bound: u32) -> Self {
        assert!(bound > 0, "indices need a bound above 0");
        Indices { numbers: U32Stream::new(stream), bound, rejected_below: bound.wrapping_neg() % bound }
    }

    /// The next index.
    pub fn draw(&mut self) -> u32 {
        let mut index = [0];
        self.fill(&mut index);
        index[0]
    }

    /// Fills `out` with the next indices.
    pub fn fill(&mut self, out: &mut [u32]) {
        let (bound, rejected_below) = (u64::from(self.bound), self.rejected_below);
        let mut filled = 0;
        while filled < out.len() {
            let numbers = self.numbers.up_to(out.len() - filled);
            let out = &mut out[filled..][..numbers.len()];
            let mut rejected = false;
            for (out, &number) in out.iter_mut().zip(numbers) {
                let product = u64::from(number) * bound;
                *out = (product >> 32) as u32;
                rejected |= (product as u32) < rejected_below;
            }
            if !rejected {
                filled += out.len();
                continue;
            }
            // A number was rejected: map this piece again without it.
            let accepted =
                numbers.iter().map(|&number| u64::from(number) * bound).filter(|&p| p as u32 >= rejected_below);
            filled += out.iter_mut().zip(accepted).map(|(out, product)| *out = (product >> 32) as u32).count();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_the_known_answers_of_random123() {
        // Random123 1.14.0, tests/kat_vectors, lines "philox4x32 10".
        let cases = [
            ([0; 4], [0; 2], [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]),
            ([0xffffffff; 4], [0xffffffff; 2], [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]),
            (
                [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
                [0xa4093822, 0x299f31d0],
                [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
            ),
        ];
        for (counter, key, expected) in cases {
            let mut counters = counter.map(|value: u64| [value; 3]);
            philox(&mut counters, key);
            assert_eq!([expected; 3], [0, 1, 2].map(|i| counters.map(|lanes| lanes[i] & 0xffff_ffff)));
        }
    }

    #[test]
    fn values_are_the_same_one_by_one_in_rows_and_by_replicate() {
        for (seed, purpose, replicate) in [(0, Purpose::Shuffle, 0), (u64::MAX, Purpose::Draw, u64::MAX - 7)] {
            let stream = Stream::new(seed, purpose, replicate).part(5);
            for (block, length) in [(0, 1), (0, 100), (7, 33), (1, 4)] {
                let expected: Vec<u64> = stream.values().skip(2 * block as usize).take(length).collect();
                assert_eq!(expected[length - 1], stream.value(2 * u64::from(block) + length as u64 - 1));
                let mut row = vec![0; length];
                stream.fill(block, &mut row);
                assert_eq!(expected, row);
            }
            for replicates in [1, 15, 16, 40] {
                let mut values = vec![0; 5 * replicates];
                fill_by_replicate(Simd::best(), stream, replicates, 2, &mut values);
                for (i, &value) in values.iter().enumerate() {
                    let of = Stream { replicate: replicate.wrapping_add((i % replicates) as u64), ..stream };
                    assert_eq!(of.value(4 + (i / replicates) as u64), value);
                }
            }
        }
    }

    #[test]
    fn all_paths_make_the_same_values() {
        let stream = Stream::new(1 << 63 | 5, Purpose::Code, u64::MAX - 3);
        for simd in Simd::tested() {
            let mut got = vec![0; 100];
            fill(simd, &stream, 3, &mut got);
            assert_eq!(stream.values().skip(6).take(100).collect::<Vec<_>>(), got, "{simd:?}");
            let mut got = vec![0; 5 * 37];
            fill_by_replicate(simd, stream, 37, 3, &mut got);
            let value = |i: usize| {
                let replicate = stream.replicate.wrapping_add((i % 37) as u64);
                Stream { replicate, ..stream }.value(6 + (i / 37) as u64)
            };
            assert_eq!((0..5 * 37).map(value).collect::<Vec<_>>(), got, "{simd:?}");
        }
    }

    #[test]
    fn values_are_those_of_another_implementation() {
        let cases: [(u64, Purpose, u64, [u64; 4]); 3] = include!("../../tests/data/philox_known_answers.in");
        for (seed, purpose, replicate, expected) in cases {
            let got: Vec<u64> = Stream::new(seed, purpose, replicate).values().take(4).collect();
            assert_eq!(expected.as_slice(), got);
        }
    }

    #[test]
    fn derived_seeds_are_all_different_and_nest() {
        let mut seen = std::collections::HashSet::new();
        for seed in [0, 1, u64::MAX] {
            assert!(seen.insert(seed));
            for (kind, index) in DERIVED.iter().flat_map(|(kind, _)| [0, 1, 2, u64::MAX].map(|index| (*kind, index))) {
                let derived = derive(seed, kind, index).unwrap();
                assert!(seen.insert(derived), "{seed} {kind} {index}");
                assert!(seen.insert(derive(derived, kind, index).unwrap()), "{seed} {kind} {index}");
            }
        }
        let error = derive(0, "optimizer", 0).unwrap_err().to_string();
        assert_eq!("unknown kind of seed \"optimizer\"; known: test-set, simulation, run, restart", error);
    }

    #[test]
    fn indices_are_below_the_bound_and_do_not_depend_on_how_they_are_requested() {
        for bound in [1, 2, 3, 7, 3004, 1 << 31, u32::MAX] {
            let stream = Stream::new(7, Purpose::Draw, 3);
            let mut whole = vec![0; 1000];
            stream.indices(bound).fill(&mut whole);
            assert!(whole.iter().all(|&i| i < bound));
            let mut piecewise = vec![0; 1000];
            let mut indices = stream.indices(bound);
            for piece in piecewise.chunks_mut(13) {
                indices.fill(piece);
            }
            assert_eq!(whole, piecewise);
        }
    }
}
