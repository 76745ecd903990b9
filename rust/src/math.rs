//! Functions of real numbers that are vectorized and give the same bits on every machine, and a common divisor.

const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// ln 2 in two parts. The first has so few bits that small multiples of it are exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];
/// Adding this constant leaves the integer part of a number in its last bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2^52

/// e^x for x ≤ 0, with an error of at most 2 ulp; 0 where the result would be below 10^-307.
///
/// The last bit of the C library's exponential differs between systems, and compilers cannot vectorize it. This one has
/// no branches, only additions, multiplications and shifts.
#[inline(always)]
pub fn exp_of_negative(x: f64) -> f64 {
    let within = x.max(-708.0);
    let shifted = within * LOG2_E + ROUNDER;
    let n = shifted - ROUNDER;
    let r = within - n * LN_2[0] - n * LN_2[1];
    // |r| ≤ ln 2 / 2, so the terms of the series after r^13/13! are below 10^-17.
    let mut sum = 1.0 / 6_227_020_800.0;
    for reciprocal in [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        sum = sum * r + reciprocal;
    }
    let exponent = shifted.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(1023);
    let power = sum * f64::from_bits(exponent << 52);
    if x < -708.0 { 0.0 } else { power }
}

/// The sum of the products of two vectors.
pub(crate) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The greatest common divisor.
pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ends_are_exact() {
        assert_eq!([1.0, 0.0, 0.0], [0.0, -1e6, f64::NEG_INFINITY].map(exp_of_negative));
        assert_eq!(1.0, exp_of_negative(-0.0));
    }

    proptest! {
        #![proptest_config(crate::testing::cases(128))]
        #[test]
        fn it_is_the_exponential(x in prop_oneof![-1.0..0.0, -707.0..0.0, -1e-9..0.0]) {
            let (expected, got) = (f64::exp(x), exp_of_negative(x));
            let apart = (expected.to_bits() as i64 - got.to_bits() as i64).abs();
            prop_assert!(apart <= 2, "{} {} {}", x, expected, got);
        }
    }
}
