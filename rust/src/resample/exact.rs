//! What exact tests need to know: where a pair differs, and the law of a sum of coins.

use super::Pair;
use crate::error::{Error, Result};
use crate::pool::{PIECE, Patience, Run, Stop};
use crate::stats::SuffStats;

/// For each pair the number of units in which it differs, and the only column that differs, or None.
///
/// Stops counting when `most` units and more than one column are passed, so that a pair that differs much costs little.
///
/// # Errors
/// [`Error::OutOfRange`] for a pair of systems that are not there, and what `run.watch` returned.
pub fn differing(
    stats: &SuffStats<'_>,
    pairs: &[Pair],
    most: usize,
    run: &mut Run<'_>,
) -> Result<Vec<(usize, Option<usize>)>> {
    run.alone(|stop, _| {
        let mut patience = Patience::default();
        pairs.iter().map(|&pair| differing_of(stats, pair, most, (&mut patience, stop))).collect()
    })
}

fn differing_of(
    stats: &SuffStats<'_>,
    (x, y): Pair,
    most: usize,
    (patience, stop): (&mut Patience, &Stop<'_>),
) -> Result<(usize, Option<usize>)> {
    let (index, len) = (x.max(y), stats.systems());
    if index >= len {
        return Err(Error::OutOfRange { what: "system".into(), index, len });
    }
    let (mut units, mut column, mut several) = (0, None, false);
    for unit in 0..stats.segments() {
        patience.spend(stats.columns(), stop)?;
        let (of_x, of_y) = (stats.row(x, unit), stats.row(y, unit));
        let mut here = (0..of_x.len()).filter(|&c| of_x[c] != of_y[c]).peekable();
        units += usize::from(here.peek().is_some());
        for c in here {
            several |= *column.get_or_insert(c) != c;
        }
        if several && units > most {
            break;
        }
    }
    Ok((units, column.filter(|_| !several)))
}

/// P(Σ of the steps whose coin shows heads = j) for j = 0…Σ: the convolution of laws of two points, one after the other.
///
/// Nothing is subtracted, so each of n steps adds a relative error of 2^-53 to each probability, at most; probabilities
/// below 10^-308 lose digits, those below 10^-323 are 0. The law is as symmetric as mathematics has it, to the last bit.
/// Cost: less than n·Σ additions, on one thread; memory: 16·Σ bytes.
///
/// # Errors
/// [`crate::Error::Memory`] if there is no room for Σ probabilities, and what `run.watch` returned.
pub fn law(steps: &[u64], run: &mut Run<'_>) -> Result<Vec<f64>> {
    // The small ones first: the law stays short for longer.
    let mut steps: Vec<usize> = steps.iter().map(|&step| usize::try_from(step).unwrap_or(usize::MAX)).collect();
    steps.sort_unstable();
    let length = steps.iter().fold(1, |sum: usize, &step| sum.saturating_add(step));
    let (mut law, mut next): (Vec<f64>, Vec<f64>) = (super::zeros(&[length])?, super::zeros(&[length])?);
    law[0] = 1.0;
    run.alone(|stop, done| {
        let mut patience = Patience::default();
        let mut end = 1;
        for (tossed, &step) in (1..).zip(&steps) {
            end += step;
            for (from, next) in (0..).step_by(PIECE).zip(next[..end].chunks_mut(PIECE)) {
                patience.spend(next.len(), stop)?;
                toss(&law[..end], step, from, next);
            }
            std::mem::swap(&mut law, &mut next);
            done.set(tossed);
        }
        Ok(())
    })?;
    Ok(law)
}

/// One more fair flip: the mean of the distributions with and without the step. Sets the values of `next` from `from` on.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn toss(law: &[f64], step: usize, from: usize, next: &mut [f64]) {
    toss_inline(law, step, from, next);
}

#[inline(always)]
fn toss_inline(law: &[f64], step: usize, from: usize, next: &mut [f64]) {
    let length = next.len();
    let (below, above) = next.split_at_mut(step.saturating_sub(from).min(length));
    let without = &law[from..];
    let with = &law[(from + below.len()).saturating_sub(step)..];
    below.iter_mut().zip(without).for_each(|(next, p)| *next = 0.5 * p);
    for ((next, with), without) in above.iter_mut().zip(with).zip(&without[below.len()..]) {
        *next = 0.5 * (with + without);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instructions::instruction_sets;
    use proptest::prelude::*;

    fn law_of(steps: &[u64]) -> Vec<f64> {
        law(steps, &mut Run { threads: 1, watch: &mut |_| Ok(()) }).unwrap()
    }

    #[test]
    fn laws_of_equal_steps_are_binomial() {
        assert_eq!([1.0].as_slice(), law_of(&[]));
        assert_eq!([0.125, 0.375, 0.375, 0.125].as_slice(), law_of(&[1, 1, 1]));
        assert_eq!([0.25, 0.0, 0.0, 0.5, 0.0, 0.0, 0.25].as_slice(), law_of(&[3, 3]));
        // C(3000, k)/2^3000 by its recurrence from the middle: relative errors stay small to where floats end.
        let law = law_of(&[1; 3000]);
        let mut ratio = 1.0;
        for k in 1500..2400 {
            ratio *= (3000 - k) as f64 / (k + 1) as f64;
            assert!((law[k + 1] / (law[1500] * ratio) - 1.0).abs() < 1e-12, "{k}");
        }
        assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_watcher_stops_a_long_convolution() {
        let mut watch = |_| Err(Error::Interrupted);
        assert_eq!(Err(Error::Interrupted), law(&[1 << 15; 2000], &mut Run { threads: 1, watch: &mut watch }));
        let mut watch = |_| Ok(());
        let too_large = law(&[u64::MAX, u64::MAX], &mut Run { threads: 1, watch: &mut watch });
        assert!(matches!(too_large, Err(Error::Memory { .. })));
    }

    fn differing_in(
        counts: &[i64],
        (systems, segments, columns): (usize, usize, usize),
        most: usize,
    ) -> Result<(usize, Option<usize>)> {
        let stats = SuffStats::new(counts, systems, segments, columns).unwrap();
        let mut run = Run { threads: 1, watch: &mut |_| Ok(()) };
        differing(&stats, &[(0, 1)], most, &mut run).map(|found| found[0])
    }

    #[test]
    fn units_and_columns_that_differ_are_found() {
        let rows = |changed: &[(usize, i64)]| {
            let mut rows = vec![7; 40];
            changed.iter().for_each(|&(place, value)| rows[place] = value);
            rows
        };
        let of = |changed: &[(usize, i64)], most| {
            let counts = [rows(&[]), rows(changed)].concat();
            differing_in(&counts, (2, 10, 4), most).unwrap()
        };
        assert_eq!((0, None), of(&[], 5));
        assert_eq!((3, Some(2)), of(&[(2, 1), (18, 9), (38, 0)], 5));
        assert_eq!((2, None), of(&[(2, 1), (3, 1), (18, 9)], 5));
        assert_eq!((3, None), of(&[(0, 1), (1, 1), (4, 1), (8, 9), (12, 1)], 2));
        assert_eq!((4, Some(0)), of(&[(0, 1), (4, 1), (8, 9), (12, 1)], 2));
        let alone = differing_in(&[1, 2], (1, 2, 1), 5);
        assert_eq!(Err(Error::OutOfRange { what: "system".into(), index: 1, len: 1 }), alone);
    }

    proptest! {
        #[test]
        fn a_toss_is_the_same_by_all_instructions_and_in_pieces(
            law in prop::collection::vec(0.0..1.0f64, 1..300),
            step in 0..350usize,
            piece in 1..200usize,
        ) {
            let old = |i: usize| law.get(i).copied().unwrap_or(0.0);
            let length = law.len() + step;
            let expected: Vec<f64> =
                (0..length).map(|j| 0.5 * (old(j) + j.checked_sub(step).map_or(0.0, old))).collect();
            let padded = [law.clone(), vec![0.0; step]].concat();
            for (set, toss) in instruction_sets!(toss_inline, fn(law: &[f64], step: usize, from: usize, next: &mut [f64])) {
                let mut got = vec![9.0; length];
                for (from, next) in (0..).step_by(piece).zip(got.chunks_mut(piece)) {
                    toss(&padded, step, from, next);
                }
                prop_assert_eq!(&expected, &got, "{}", set);
            }
        }

        #[test]
        fn laws_are_those_of_all_patterns(steps in prop::collection::vec(0..30u64, 0..12)) {
            let mut expected = vec![0.0; 1 + steps.iter().sum::<u64>() as usize];
            for pattern in 0..1usize << steps.len() {
                let heads = steps.iter().enumerate().filter(|(bit, _)| pattern >> bit & 1 == 1);
                expected[heads.map(|(_, step)| *step as usize).sum::<usize>()] += 0.5_f64.powi(steps.len() as i32);
            }
            let got = law_of(&steps);
            prop_assert_eq!(&expected, &got);
            prop_assert!(got.iter().eq(got.iter().rev()));
        }
    }
}
