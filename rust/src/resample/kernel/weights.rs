//! Bootstrap weights: how often a draw of S out of S units takes each unit, overall or within each stratum.
//!
//! Drawing S indices costs 32 random bits and a random memory access each. Here a draw costs a little more than 8
//! random bits per unit, and all steps are vectorized:
//!
//! 1. Give every unit an independent Poisson(λ) weight, λ a little below 1. A random byte is looked up in the
//!    distribution function, in steps of 1/256. The few bytes at which the function jumps are refined by further random
//!    bits.
//! 2. Conditional on their sum T, independent Poisson weights have the distribution of T uniform draws. If T > S, start
//!    again with other bytes: this depends on T alone. Otherwise add S − T uniform draws.
//!
//! The result is exactly multinomial(S; 1/S, …, 1/S), because step 2 does not depend on λ. The Poisson probabilities of
//! step 1 have the 53 bits of a float; the weights of 18 or more that are left out have a probability below 2^-52. λ is
//! chosen so that P(N = 0) is a multiple of 1/256. All constants are computed by additions, multiplications, divisions
//! and a square root, so they are the same on every machine.
//!
//! Each stratum has its own distribution and its own streams, so the draws of strata are independent. The first stratum
//! is drawn like the same number of units without strata.

use crate::error::{Error, Result, check_length};
use crate::memory::{reserved, zeros};
use crate::pool::{PIECE, Stop};
use crate::simd::{Simd, dispatch};
use crate::stream::{Purpose, Stream, U32Stream};

/// The largest weight of step 1.
const LARGEST: usize = 17;

/// By how many of its standard deviations E(T) is below S, so that restarts are rare and few draws have to be added.
const DEVIATIONS: f64 = 1.5;

/// All weights above this one lie in the last byte: λ ≤ 1, so P(N ≤ 4) > 255/256.
const STEPS: usize = 4;

/// Marks a weight whose byte has to be refined.
const UNDECIDED: u8 = 0x80;

/// Weights are generated in chunks of this many units, so that a byte can index a unit of the chunk.
const CHUNK: usize = 256;

/// A stream's part holds the number of the attempt in this many low bits and the stratum in the other 16. One attempt
/// in fifteen fails, so 2^8 attempts are never exhausted.
const ATTEMPT_BITS: u32 = 8;

/// The largest number of strata that a stream's part can hold.
const MOST_STRATA: usize = 1 << (24 - ATTEMPT_BITS);

/// Consecutive groups of units. A draw takes as many units from each as it has.
pub(in crate::resample) struct Strata {
    strata: Vec<Distribution>,
}

impl Strata {
    /// Strata of these sizes; without sizes, all units are one stratum.
    pub fn new(units: usize, sizes: &[usize], simd: Simd) -> Result<Self> {
        if sizes.is_empty() {
            return Ok(Strata { strata: vec![Distribution::new(units, simd)] });
        }
        if sizes.len() > MOST_STRATA {
            return Err(Error::invalid("the number of strata", format!("at most {MOST_STRATA}"), sizes.len()));
        }
        if let Some(empty) = sizes.iter().position(|&size| size == 0) {
            return Err(Error::Empty { what: format!("segments of stratum {}", empty + 1) });
        }
        let got = sizes.iter().fold(0, |sum: usize, &size| sum.saturating_add(size));
        check_length("segments of all strata", units, got)?;
        Ok(Strata { strata: sizes.iter().map(|&size| Distribution::new(size, simd)).collect() })
    }

    /// The number of units for which weights are generated, padding included.
    pub fn cost(&self) -> usize {
        self.strata.iter().map(|distribution| distribution.units.next_multiple_of(CHUNK)).sum()
    }

    /// Draws a weight for each unit. `weights` has room for at least S; the rest is filled with zeros.
    pub fn draw(&self, seed: u64, replicate: u64, weights: &mut [u8], stop: &Stop<'_>) -> Result<()> {
        let mut rest = weights;
        for (stratum, distribution) in (0..).zip(&self.strata) {
            let (stratum_weights, others) = rest.split_at_mut(distribution.units);
            distribution.draw((seed, replicate), stratum, stratum_weights, stop)?;
            rest = others;
        }
        rest.fill(0);
        Ok(())
    }
}

/// The Poisson distribution of step 1 for S units.
struct Distribution {
    units: usize,
    /// The weight of a byte is the number of these that are smaller than the byte …
    above: [u8; STEPS],
    /// … unless the byte is one of these, which have to be refined.
    undecided: [u8; STEPS],
    /// The same as a table of all bytes, with a mark on those that have to be refined.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
    table: [u8; 256],
    simd: Simd,
    /// P(N ≤ k) in fixed point: multiples of 2^-40, and the remainder in multiples of 2^-72. The last few entries are
    /// 1.
    steps: [(u64, u32); LARGEST + 4],
}

impl Distribution {
    fn new(units: usize, simd: Simd) -> Self {
        let mean = (1.0 - DEVIATIONS / (units as f64).sqrt()).max(0.0);
        // P(N = 0) = e^-λ, rounded up to a multiple of 1/256.
        let mut probability = (256.0 * exp(-mean)).ceil() / 256.0;
        let lambda = ln(1.0 / probability);
        let mut cumulative = [1.0; LARGEST + 4];
        let mut below = 0.0;
        for (k, cumulative) in cumulative[..LARGEST].iter_mut().enumerate() {
            below += probability;
            probability *= lambda / (k + 1) as f64;
            *cumulative = below.min(1.0);
        }
        let steps = cumulative.map(|p| {
            let step = p * 2f64.powi(40);
            (step as u64, (step.fract() * 2f64.powi(32)) as u32)
        });
        let bytes = |k: usize| cumulative[k] * 256.0;
        let above: [_; STEPS] = std::array::from_fn(|k| (bytes(k).ceil() - 1.0) as u8);
        // The first jump lies between two bytes, and the jumps after the fourth lie in the last byte.
        let undecided: [_; STEPS] = std::array::from_fn(|k| if k + 1 < STEPS { bytes(k + 1) as u8 } else { u8::MAX });
        let table = std::array::from_fn(|byte| {
            let weight = above.iter().filter(|a| byte > usize::from(**a)).count() as u8;
            if undecided.contains(&(byte as u8)) { weight | UNDECIDED } else { weight }
        });
        Distribution { units, above, undecided, table, simd, steps }
    }

    /// Draws a weight for each of the S units.
    fn draw(&self, (seed, replicate): (u64, u64), stratum: u32, weights: &mut [u8], stop: &Stop<'_>) -> Result<()> {
        let stream = |purpose, attempt| Stream::new(seed, purpose, replicate).part(stratum << ATTEMPT_BITS | attempt);
        // Some attempt comes to few enough.
        let mut attempt = 0;
        loop {
            let total = self.poisson(stream(Purpose::Draw, attempt), weights, stop)?;
            if let Some(missing) = self.units.checked_sub(total) {
                let mut indices = stream(Purpose::DrawRest, 0).indices(self.units as u32);
                let mut rest = [0; 64];
                for from in (0..missing).step_by(rest.len()) {
                    stop.charge(8 * rest.len())?;
                    let rest = &mut rest[..64.min(missing - from)];
                    indices.fill(rest);
                    rest.iter().for_each(|&unit| weights[unit as usize] += 1);
                }
                return Ok(());
            }
            attempt += 1;
        }
    }

    /// Step 1: independent Poisson weights. Returns their sum.
    fn poisson(&self, stream: Stream, weights: &mut [u8], stop: &Stop<'_>) -> Result<usize> {
        let mut random = U32Stream::new(stream.for_purpose(Purpose::DrawResidual));
        let (mut decided, mut places) = ([0; CHUNK], [0; 2 * CHUNK]);
        for (i, weights) in weights.chunks_mut(CHUNK).enumerate() {
            stop.charge(CHUNK)?;
            let count = decide(self.simd, self, (stream, i), &mut decided, &mut places);
            weights.copy_from_slice(&decided[..weights.len()]);
            for &place in &places[..count] {
                // The chunk may be longer than the rest of the units.
                if let Some(weight) = weights.get_mut(usize::from(place)) {
                    *weight = self.decide(*weight & !UNDECIDED, &mut random);
                }
            }
        }
        Ok(total(self.simd, weights))
    }

    /// Refines a byte in which the distribution function jumps at the weight `least`.
    #[inline(always)]
    fn decide(&self, least: u8, random: &mut U32Stream) -> u8 {
        let steps = &self.steps[usize::from(least)..];
        // The last byte may have no jump at all.
        let position = (steps[0].0 >> 32).min(255) << 32 | u64::from(random.next_u32());
        // Counted without branches, which would be mispredicted: how many of the next few jumps lie below the position.
        let beyond = steps[..4].iter().map(|&(whole, _)| u8::from(position > whole)).sum::<u8>();
        let at_one = steps[..4].iter().fold(false, |any, &(whole, _)| any | (position == whole));
        if beyond == 4 || at_one { self.weight(least, position, || random.next_u32()) } else { least + beyond }
    }

    /// The weight at a position, at least `least`. At the very position of a jump, `further` bits decide.
    fn weight(&self, least: u8, position: u64, mut further: impl FnMut() -> u32) -> u8 {
        let reached =
            |&&(whole, rest): &&(u64, u32)| position > whole || (position == whole && (rest == 0 || further() >= rest));
        least + self.steps[usize::from(least)..].iter().take_while(reached).count() as u8
    }
}

dispatch! {
    fn total(weights: &[u8]) -> usize {
        // 32-bit sums do not overflow within a million bytes, and one instruction adds eight bytes to one.
        let sum = |weights: &[u8]| weights.iter().map(|&weight| u32::from(weight)).sum::<u32>() as usize;
        weights.chunks(1 << 20).map(sum).sum()
    }
}

/// Writes the weights of a chunk and marks those to be refined. The positions of the marks are written to `places`,
/// followed by garbage; returns their number. A list, because a branch for each byte would be mispredicted and cost
/// more than the rest of a draw.
fn decide(
    simd: Simd,
    distribution: &Distribution,
    chunk: (Stream, usize),
    weights: &mut [u8; CHUNK],
    places: &mut [u8; 2 * CHUNK],
) -> usize {
    match simd {
        Simd::Portable => {
            mark(simd, distribution, chunk, weights);
            list(weights, places)
        }
        #[cfg(target_arch = "x86_64")]
        Simd::Avx2(token) => {
            mark(simd, distribution, chunk, weights);
            avx2::list(token, weights, places)
        }
        #[cfg(target_arch = "x86_64")]
        Simd::Avx512(token) => vbmi::decide(token, distribution, chunk, weights, places),
    }
}

/// The random bytes of a chunk.
#[inline(always)]
fn bytes((stream, chunk): (Stream, usize)) -> [u8; CHUNK] {
    let mut words = [0; CHUNK / 8];
    stream.fill((chunk * CHUNK / 16) as u32, &mut words);
    let mut bytes = [0; CHUNK];
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
    bytes
}

dispatch! {
    /// Computes the weights of a chunk by comparisons, and marks those to be refined.
    fn mark(distribution: &Distribution, chunk: (Stream, usize), weights: &mut [u8; CHUNK]) {
        let (above, undecided) = (distribution.above, distribution.undecided);
        *weights = bytes(chunk);
        for byte in weights {
            let weight: u8 = above.iter().map(|a| u8::from(*byte > *a)).sum();
            let marked = undecided.iter().fold(0, |marked, u| marked | u8::from(*byte == *u));
            *byte = weight | (marked * UNDECIDED);
        }
    }
}

/// Lists the positions of the marks. Returns their number.
fn list(weights: &[u8; CHUNK], places: &mut [u8; 2 * CHUNK]) -> usize {
    let mut count = 0;
    for (eight, weights) in (0..).zip(weights.as_chunks::<8>().0) {
        // The product moves the marks of eight bytes into the eight bits of the uppermost byte.
        let marks = u64::from_le_bytes(*weights) >> 7 & ONES;
        let marks = (marks.wrapping_mul(0x0102_0408_1020_4080) >> 56) as usize;
        let marked = u64::from_le_bytes(MARKED[marks]) + ONES * 8 * eight;
        places[count..count + 8].copy_from_slice(&marked.to_le_bytes());
        count += marks.count_ones() as usize;
    }
    count
}

/// A 1 in each byte.
const ONES: u64 = u64::from_le_bytes([1; 8]);

/// The positions of the bits that are set, in order, padded with zeros.
const MARKED: [[u8; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut marks = 0;
    while marks < 256 {
        let (mut place, mut count) = (0, 0);
        while place < 8 {
            if marks >> place & 1 == 1 {
                places[marks][count] = place as u8;
                count += 1;
            }
            place += 1;
        }
        marks += 1;
    }
    places
};

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx2 {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_movemask_epi8};

    use super::CHUNK;
    use crate::simd::Avx2;

    /// As [`super::list`].
    pub fn list(_: Avx2, weights: &[u8; CHUNK], places: &mut [u8; 2 * CHUNK]) -> usize {
        // SAFETY: the processor has the instructions.
        unsafe { list_all(weights, places) }
    }

    #[target_feature(enable = "avx2,bmi1,popcnt")]
    fn list_all(weights: &[u8; CHUNK], places: &mut [u8; 2 * CHUNK]) -> usize {
        let mut count = 0;
        for (first, weights) in (0..).step_by(32).zip(weights.as_chunks::<32>().0) {
            // SAFETY: 32 bytes are as long as a register, and need no alignment here.
            let mut marks =
                unsafe { _mm256_movemask_epi8(_mm256_loadu_si256(weights.as_ptr().cast())) }.cast_unsigned();
            let end = count + marks.count_ones() as usize;
            // Writes two positions whether there are marks or not, so that the branch below is rarely taken.
            for count in [count, count + 1] {
                places[count] = (first + marks.trailing_zeros()) as u8;
                marks &= marks.wrapping_sub(1);
            }
            count += 2;
            while count < end {
                places[count] = (first + marks.trailing_zeros()) as u8;
                marks &= marks.wrapping_sub(1);
                count += 1;
            }
            count = end;
        }
        count
    }
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod vbmi {
    use std::arch::x86_64::*;

    use super::{CHUNK, Distribution, Stream, bytes};
    use crate::simd::Avx512;

    pub fn decide(
        _: Avx512,
        distribution: &Distribution,
        chunk: (Stream, usize),
        weights: &mut [u8; CHUNK],
        places: &mut [u8; 2 * CHUNK],
    ) -> usize {
        // SAFETY: the processor has the instructions.
        unsafe { look_up(distribution, chunk, weights, places) }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
    fn look_up(
        distribution: &Distribution,
        chunk: (Stream, usize),
        weights: &mut [u8; CHUNK],
        places: &mut [u8; 2 * CHUNK],
    ) -> usize {
        *weights = bytes(chunk);
        // SAFETY: 64 bytes are as long as a register, and need no alignment here.
        let load = |bytes: &[u8; 64]| unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        let quarters = distribution.table.as_chunks().0;
        let [first, second, third, fourth] = std::array::from_fn(|i| load(&quarters[i]));
        let numbers: [u8; 64] = std::array::from_fn(|i| i as u8);
        let mut here = load(&numbers);
        let mut count = 0;
        for weights in weights.as_chunks_mut::<64>().0 {
            let bytes = load(weights);
            // Seven bits of the index choose from two registers; the eighth chooses between the two results.
            let low = _mm512_permutex2var_epi8(first, bytes, second);
            let high = _mm512_permutex2var_epi8(third, bytes, fourth);
            let looked_up = _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high);
            let marks = _mm512_movepi8_mask(looked_up);
            let out = &mut places[count..][..64];
            // SAFETY: as above.
            unsafe {
                _mm512_storeu_si512(weights.as_mut_ptr().cast(), looked_up);
                _mm512_storeu_si512(out.as_mut_ptr().cast(), _mm512_maskz_compress_epi8(marks, here));
            }
            count += marks.count_ones() as usize;
            here = _mm512_add_epi8(here, _mm512_set1_epi8(64));
        }
        count
    }
}

/// e^x for small x.
fn exp(x: f64) -> f64 {
    (1..40).fold((1.0, 1.0), |(sum, term), k| (sum + term * x / f64::from(k), term * x / f64::from(k))).0
}

/// ln x for x near 1: 2 artanh((x − 1)/(x + 1)).
fn ln(x: f64) -> f64 {
    let z = (x - 1.0) / (x + 1.0);
    let mut power = z;
    (0..100).fold(0.0, |sum, k| {
        let term = power / f64::from(2 * k + 1);
        power *= z * z;
        sum + 2.0 * term
    })
}

/// Draws the weights of a replicate: how often it takes each unit, within strata of these sizes if there are any.
///
/// # Errors
/// [`Error::LengthMismatch`] if sizes do not add up to the number of units, [`Error::Empty`] if a size or the number of
/// units is 0 and [`Error::InvalidOption`] for more than 2^16 strata.
pub fn draw_weights((seed, replicate): (u64, u64), units: u32, strata: &[usize], stop: &Stop<'_>) -> Result<Vec<u32>> {
    if units == 0 {
        return Err(Error::Empty { what: "segments".into() });
    }
    let strata = Strata::new(units as usize, strata, Simd::best())?;
    let mut weights = zeros(&[units as usize])?;
    let mut out = reserved(weights.len())?;
    strata.draw(seed, replicate, &mut weights, stop)?;
    for weights in weights.chunks(PIECE) {
        stop.charge(weights.len())?;
        out.extend(weights.iter().map(|&weight| u32::from(weight)));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn draw_weights(seed: u64, replicate: u64, units: u32, strata: &[usize]) -> Result<Vec<u32>> {
        super::draw_weights((seed, replicate), units, strata, &Stop::never())
    }

    fn poisson(distribution: &Distribution, stream: Stream, weights: &mut [u8]) -> usize {
        distribution.poisson(stream, weights, &Stop::never()).unwrap()
    }

    const SIZES: [usize; 9] = [1, 2, 3, 4, 5, 50, 3004, 100_000, 1_000_000];

    #[test]
    fn every_byte_has_the_weight_that_the_steps_imply() {
        for units in SIZES {
            let distribution = Distribution::new(units, Simd::best());
            let positions = |byte: u64| [byte << 32, (byte << 32) + 0xffff_ffff];
            for byte in 0..=255u8 {
                // If the same steps are reached at two positions, nothing changes between them.
                let [first, last] = positions(byte.into()).map(|position: u64| {
                    distribution
                        .steps
                        .iter()
                        .filter(|(whole, rest)| position > *whole || (position == *whole && *rest == 0))
                        .count()
                });
                let weight = distribution.above.iter().filter(|a| byte > **a).count();
                assert_eq!(first, weight, "{units} {byte}");
                let marked = distribution.undecided.contains(&byte);
                assert!(first == last || marked, "{units} {byte}");
                assert!(first != last || !marked || byte == 255, "{units} {byte}");
                assert!(!marked || (distribution.steps[weight].0 >> 32).min(255) == u64::from(byte), "{units} {byte}");
            }
        }
    }

    /// The weights of one unit after another, from the stream's bytes and further bits.
    fn obvious(distribution: &Distribution, stream: Stream) -> Vec<u8> {
        let mut words = stream.values();
        let mut random =
            stream.for_purpose(Purpose::DrawResidual).values().flat_map(|word| [word as u32, (word >> 32) as u32]);
        let bytes: Vec<u8> = words.by_ref().take(distribution.units.div_ceil(8)).flat_map(u64::to_le_bytes).collect();
        let computed = |&byte: &u8| {
            let low = u64::from(byte) << 32;
            let at = if distribution.undecided.contains(&byte) { low + u64::from(random.next().unwrap()) } else { low };
            distribution.steps.iter().take_while(|(whole, _)| *whole <= at).count() as u8
        };
        bytes[..distribution.units].iter().map(computed).collect()
    }

    #[test]
    fn weights_equal_those_of_looking_up_one_position_at_a_time() {
        for (units, replicate) in SIZES[..7].iter().flat_map(|&units| (0..50).map(move |r| (units, r))) {
            for simd in Simd::tested() {
                let distribution = Distribution::new(units, simd);
                let stream = Stream::new(7, Purpose::Draw, replicate).part(1);
                let mut weights = vec![9; units];
                let total = poisson(&distribution, stream, &mut weights);
                assert_eq!(obvious(&distribution, stream), weights);
                assert_eq!(total, weights.iter().map(|&w| usize::from(w)).sum::<usize>());
            }
        }
    }

    #[test]
    fn all_paths_decide_the_same() {
        for (units, replicate) in SIZES.iter().flat_map(|&units| (0..30).map(move |replicate| (units, replicate))) {
            let distribution = Distribution::new(units, Simd::Portable);
            let chunk = (Stream::new(9, Purpose::Draw, replicate), replicate as usize);
            let bytes: Vec<u8> =
                chunk.0.values().skip(CHUNK / 8 * chunk.1).take(CHUNK / 8).flat_map(u64::to_le_bytes).collect();
            let undecided: Vec<u8> =
                (0..=u8::MAX).filter(|&i| distribution.undecided.contains(&bytes[usize::from(i)])).collect();
            let expected: Vec<u8> = bytes.iter().map(|&byte| distribution.table[usize::from(byte)]).collect();
            for simd in Simd::tested() {
                let (mut weights, mut places) = ([9; CHUNK], [9; 2 * CHUNK]);
                let count = decide(simd, &distribution, chunk, &mut weights, &mut places);
                assert_eq!((expected.as_slice(), undecided.as_slice()), (&weights[..], &places[..count]), "{simd:?}");
            }
        }
    }

    #[test]
    fn all_paths_give_the_same_total() {
        let bytes: Vec<u8> =
            Stream::new(9, Purpose::Draw, 0).values().flat_map(u64::to_le_bytes).take(70_001).collect();
        for simd in Simd::tested() {
            for length in [0, 1, 31, 64, 65, 70_001] {
                let expected: usize = bytes[..length].iter().map(|&byte| usize::from(byte)).sum();
                assert_eq!(expected, total(simd, &bytes[..length]), "{simd:?}");
            }
        }
    }

    #[test]
    #[ignore = "takes seconds without optimization"]
    fn totals_beyond_32_bits_do_not_wrap() {
        let bytes = vec![u8::MAX; (1 << 24) + (1 << 17)];
        Simd::tested().into_iter().for_each(|simd| assert_eq!(255 * bytes.len(), total(simd, &bytes)));
    }

    #[test]
    fn further_bits_decide_at_the_position_of_a_jump() {
        let distribution = Distribution::new(3004, Simd::best());
        let (whole, rest) = distribution.steps[2];
        assert!(rest > 0);
        let weight = |position, further| distribution.weight(2, position, || further);
        assert_eq!([2, 3], [weight(whole - 1, u32::MAX), weight(whole + 1, 0)]);
        assert_eq!([2, 3], [weight(whole, rest - 1), weight(whole, rest)]);
    }

    /// The probability of these weights under multinomial(S; 1/S …).
    fn multinomial(weights: &[u8]) -> f64 {
        let factorial = |k: u8| (1..=k).map(f64::from).product::<f64>();
        let units = weights.len() as f64;
        factorial(weights.len() as u8)
            / weights.iter().map(|&w| factorial(w)).product::<f64>()
            / units.powi(weights.len() as i32)
    }

    #[test]
    fn the_joint_distribution_of_a_few_units_is_multinomial() {
        // With six units λ = 0.37, so bytes, further bits, restarts and additions all occur.
        for (units, draws) in [(3u32, 5000), (5, 10_000), (6, 20_000)] {
            let distribution = Distribution::new(units as usize, Simd::best());
            let mut counts = HashMap::new();
            for replicate in 0..draws {
                let mut weights = vec![9; units as usize];
                distribution.draw((11, replicate), 0, &mut weights, &Stop::never()).unwrap();
                *counts.entry(weights).or_insert(0u32) += 1;
            }
            let mut chi2 = 0.0;
            let mut seen = 0.0;
            for (weights, &count) in &counts {
                let expected = multinomial(weights) * draws as f64;
                chi2 += (f64::from(count) - expected).powi(2) / expected;
                seen += expected;
            }
            chi2 += draws as f64 - seen; // compositions that did not occur
            let compositions: f64 =
                (0..u64::from(units)).fold(1.0, |c, i| c * (2 * u64::from(units) - 1 - i) as f64 / (i + 1) as f64);
            let freedom = compositions - 1.0;
            assert!((chi2 - freedom).abs() < 5.0 * (2.0 * freedom).sqrt(), "{units}: {chi2} of {freedom}");
        }
    }

    #[test]
    fn sizes_must_add_up_to_the_number_of_units() {
        let computed = |units, sizes: &[usize]| draw_weights(1, 0, units, sizes).map(|weights| weights.len());
        let apart = |got| Err(Error::LengthMismatch { what: "segments of all strata".into(), expected: 5, got });
        assert_eq!([apart(4), apart(usize::MAX)], [computed(5, &[2, 2]), computed(5, &[usize::MAX, 6])]);
        assert_eq!(Err(Error::Empty { what: "segments of stratum 2".into() }), computed(5, &[5, 0]));
        assert_eq!(apart(MOST_STRATA), computed(5, &vec![1; MOST_STRATA]));
        let (expected, got) = ("at most 65536".into(), "65537".into());
        let too_many = Error::InvalidOption { option: "the number of strata".into(), expected, got };
        assert_eq!(Err(too_many), computed(65_537, &vec![1; 65_537]));
    }
}
