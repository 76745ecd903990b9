//! The random words of a replicate: a pure function of (seed, purpose, replicate).
//!
//! The generator is Philox4x64-10 (Salmon et al. 2011, doi:10.1145/2063384.2063405). A stream is keyed by
//! (seed, replicate) and its counter starts at (0, 0, 0, purpose), so that it equals
//! `numpy.random.Philox(key=[seed, replicate], counter=[0, 0, 0, purpose])` word for word, and a reader can
//! rebuild any replicate without this crate. No result depends on which thread asks, or in which order.

/// Named in every signature. It changes when, and only when, a replicate's words, bits or indices change.
pub const GENERATOR: &str = "philox4x64-10";

/// What a stream is for. Different purposes never share words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Purpose {
    /// Flips of approximate randomization.
    Shuffle = 0,
    /// Most of the weights of a bootstrap draw.
    Draw = 1,
    /// The few weights of a draw that sixteen bits do not decide.
    DrawResidual = 2,
    /// The units that are added to or taken from a draw to make it S.
    DrawRest = 3,
    /// Which units may be taken from a draw.
    DrawRemoval = 4,
}

const MULTIPLIER_0: u64 = 0xD2E7_470E_E14C_6C93;
const MULTIPLIER_1: u64 = 0xCA5A_8263_9512_1157;
const WEYL_0: u64 = 0x9E37_79B9_7F4A_7C15;
const WEYL_1: u64 = 0xBB67_AE85_84CA_A73B;

#[inline(always)]
fn multiply(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    ((product >> 64) as u64, product as u64)
}

#[inline(always)]
fn philox(mut counter: [u64; 4], mut key: [u64; 2]) -> [u64; 4] {
    for _ in 0..10 {
        let (high_0, low_0) = multiply(MULTIPLIER_0, counter[0]);
        let (high_1, low_1) = multiply(MULTIPLIER_1, counter[2]);
        counter = [high_1 ^ counter[1] ^ key[0], low_1, high_0 ^ counter[3] ^ key[1], low_0];
        key = [key[0].wrapping_add(WEYL_0), key[1].wrapping_add(WEYL_1)];
    }
    counter
}

/// The stream of one replicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stream {
    seed: u64,
    replicate: u64,
    purpose: u64,
}

impl Stream {
    /// The stream of `replicate` under `seed`.
    pub fn new(seed: u64, purpose: Purpose, replicate: u64) -> Self {
        Stream { seed, replicate, purpose: purpose as u64 }
    }

    /// Words 4·`block` to 4·`block` + 3.
    #[inline(always)]
    pub fn block(&self, block: u64) -> [u64; 4] {
        // numpy's generator steps its counter before it fills its buffer: the first four words are those of 1.
        let (low, carry) = block.overflowing_add(1);
        philox([low, u64::from(carry), 0, self.purpose], [self.seed, self.replicate])
    }

    /// Word `index`.
    pub fn word(&self, index: u64) -> u64 {
        self.block(index / 4)[index as usize % 4]
    }

    /// The words in order, without end.
    pub fn words(self) -> impl Iterator<Item = u64> {
        (0..).flat_map(move |block| self.block(block))
    }

    /// Indices drawn uniformly from 0..`bound`, without end.
    pub fn indices(self, bound: u32) -> Indices {
        Indices::new(self, bound)
    }
}

/// Uniform indices below a bound.
///
/// Each 64-bit word gives two 32-bit halves, the low one first; a half is mapped by multiplication and the rare
/// half that would favour an index is passed over (Lemire 2019, doi:10.1145/3230636). This is what
/// `numpy.random.Generator(Philox(…)).integers(bound, size=n)` does today.
#[derive(Debug, Clone)]
pub struct Indices {
    stream: Stream,
    bound: u32,
    rejected_below: u32,
    next_block: u64,
    halves: [u32; 64],
    used: usize,
}

impl Indices {
    fn new(stream: Stream, bound: u32) -> Self {
        assert!(bound > 0, "an index needs something to point at");
        let rejected_below = bound.wrapping_neg() % bound;
        Indices { stream, bound, rejected_below, next_block: 0, halves: [0; 64], used: 64 }
    }

    /// Fills `out` with the next indices.
    pub fn fill(&mut self, out: &mut [u32]) {
        let mut filled = 0;
        while filled < out.len() {
            if self.used == self.halves.len() {
                self.refill();
            }
            let fitting = (self.halves.len() - self.used).min(out.len() - filled);
            for &half in &self.halves[self.used..self.used + fitting] {
                // An index is stored before it is known whether it counts: no branch in the hot loop.
                let product = u64::from(half) * u64::from(self.bound);
                out[filled] = (product >> 32) as u32;
                filled += usize::from(product as u32 >= self.rejected_below);
            }
            self.used += fitting;
        }
    }

    /// Several blocks at a time: a block is a chain of ten multiplications, and the chains overlap.
    fn refill(&mut self) {
        for halves in self.halves.as_chunks_mut::<8>().0 {
            for (pair, word) in halves.as_chunks_mut::<2>().0.iter_mut().zip(self.stream.block(self.next_block)) {
                *pair = [word as u32, (word >> 32) as u32];
            }
            self.next_block += 1;
        }
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_gives_the_known_answers_of_random123() {
        // Random123 1.14.0, tests/kat_vectors, lines "philox4x64 10".
        let zeros = [0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b];
        assert_eq!(zeros, philox([0; 4], [0; 2]));
        let ones = [0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0];
        assert_eq!(ones, philox([u64::MAX; 4], [u64::MAX; 2]));
    }

    #[test]
    fn words_equal_those_of_numpy() {
        let cases: [(u64, Purpose, u64, [u64; 8]); 3] = include!("../../tests/data/philox_known_answers.in");
        for (seed, purpose, replicate, expected) in cases {
            let got: Vec<u64> = Stream::new(seed, purpose, replicate).words().take(8).collect();
            assert_eq!(expected.as_slice(), got);
        }
    }

    #[test]
    fn indices_are_below_the_bound_and_equal_however_they_are_asked_for() {
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

    #[test]
    fn a_bound_that_does_not_divide_the_range_loses_the_halves_that_would_favour_an_index() {
        // Just above 2^31 nearly every second half is passed over: the reference takes them one at a time.
        let bound = (1u32 << 31) + 1;
        let stream = Stream::new(1, Purpose::Draw, 0);
        let expected: Vec<u32> = stream
            .words()
            .flat_map(|word| [word as u32, (word >> 32) as u32])
            .filter_map(|half| {
                let product = u64::from(half) * u64::from(bound);
                (product % (1 << 32) >= (1 << 32) % u64::from(bound)).then_some((product >> 32) as u32)
            })
            .take(500)
            .collect();
        let mut got = vec![0; 500];
        stream.indices(bound).fill(&mut got);
        assert_eq!(expected, got);
    }
}
