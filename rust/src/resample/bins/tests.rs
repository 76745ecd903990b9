use super::*;
use crate::resample::tests::with_run;
use crate::stream::{Purpose, Stream};
use proptest::prelude::*;

/// The slow, obvious way, for values that are multiples of 2^−40 below 2^20: integers, and all widths from the smallest.
fn slow(values: &[f64]) -> Option<Histogram> {
    let scaled = |value: f64| (value * 2f64.powi(40)) as i128;
    let all: Vec<i128> = values.iter().copied().map(scaled).collect();
    let (lowest, highest) = (*all.iter().min()?, *all.iter().max()?);
    let mut counts = [0; SHOWN];
    if lowest == highest {
        counts[0] = values.len() as u64;
        return Some(Histogram { low: values[0], width: 0.0, counts });
    }
    let smallest = exponent_of(values.iter().fold(0.0, |a: f64, b| a.max(b.abs()))) - 51 + 40;
    // Bins below the resolution of these values are finer by a whole factor.
    let (finer, exponents) = (1i128 << 40, smallest.max(-40)..);
    let bin = |value: i128, e: i32| (value * finer).div_euclid(1i128 << (e + 40));
    let fits = |e: &i32| bin(highest, *e) - bin(lowest, *e) < BINS as i128;
    let e = exponents.into_iter().find(fits).unwrap();
    let used = bin(highest, e) - bin(lowest, e) + 1;
    let joined = (used as usize).div_ceil(SHOWN) as i128;
    let first = bin(lowest, e) - (joined * SHOWN as i128 - used) / 2;
    values.iter().for_each(|&value| counts[((bin(scaled(value), e) - first) / joined) as usize] += 1);
    let unit = 2f64.powi(e - 40);
    Some(Histogram { low: first as f64 * unit, width: joined as f64 * unit, counts })
}

/// Values of many sizes, some of them equal.
fn values() -> impl Strategy<Value = Vec<f64>> {
    let grid = |shift: i64| (-(1i64 << 50)..1 << 50).prop_map(move |x| (x >> shift) as f64 * 2f64.powi(-40));
    let sizes = prop::sample::select(vec![0, 10, 25, 40, 45, 49]);
    let near = (-1i64 << 20..1 << 20, prop::collection::vec(-200i64..200, 1..300)).prop_map(|(base, off)| {
        off.iter().map(|x| (base << 30) as f64 * 2f64.powi(-40) + *x as f64 * 2f64.powi(-30)).collect()
    });
    prop_oneof![sizes.prop_flat_map(move |shift| prop::collection::vec(grid(shift), 0..300)), near]
}

fn binned(values: &[f64], simd: Simd) -> Bins {
    let mut bins = Bins::new(1, simd).unwrap();
    bins.make_room(values.len()).unwrap();
    bins.add(0, values);
    bins.count();
    bins
}

proptest! {
    #![proptest_config(crate::testing::cases(200))]
    #[test]
    fn bins_equal_the_slow_twin_on_every_path(
        values in values(),
        simd in prop::sample::select(Simd::tested()),
    ) {
        let got = binned(&values, simd).histogram(0);
        prop_assert_eq!(slow(&values), got);
        if let Some(Histogram { width, counts, .. }) = got && width > 0.0 {
            let used = |counts: &[u64]| counts.iter().rposition(|n| *n > 0).unwrap() - counts.iter().position(|n| *n > 0).unwrap();
            let distinct = values.iter().any(|x| (x - values[0]).abs() > values[0].abs() * 1e-12);
            prop_assert!(!distinct || used(&counts) >= 42, "two thirds of the bins are used: {:?}", counts);
        }
    }

    #[test]
    fn the_order_and_the_split_of_values_do_not_matter(
        values in values(),
        ends in prop::collection::vec(0..300usize, 0..4),
        seed in any::<u64>(),
    ) {
        let simd = Simd::best();
        let expected = binned(&values, simd).histogram(0);
        let mut shuffled = values.clone();
        for (i, word) in (1..values.len()).zip(Stream::new(seed, Purpose::Draw, 0).values()) {
            shuffled.swap(i, word as usize % (i + 1));
        }
        let mut ends: Vec<usize> = ends.into_iter().map(|end| end.min(values.len())).collect();
        ends.extend([0, values.len()]);
        ends.sort_unstable();
        let mut merged = binned(&[], simd);
        for pair in ends.windows(2) {
            merged.merge(&binned(&shuffled[pair[0]..pair[1]], simd)).unwrap();
        }
        prop_assert_eq!(expected, merged.histogram(0));
        // In batches, with values that wait in between.
        let mut batches = Bins::new(1, simd).unwrap();
        for pair in ends.windows(2) {
            batches.make_room(pair[1] - pair[0]).unwrap();
            batches.add(0, &shuffled[pair[0]..pair[1]]);
            batches.count();
        }
        prop_assert_eq!(expected, batches.histogram(0));
    }
}

#[test]
fn counts_do_not_overflow() {
    let n = 40_000;
    let mut bins = Bins::new(2, Simd::best()).unwrap();
    for _ in 0..5 {
        bins.make_room(n).unwrap();
        let mut values = vec![0.5; n];
        bins.add(0, &values);
        values[0] = 1.5;
        bins.add(1, &values);
        bins.count();
    }
    let all_equal = bins.histogram(0).unwrap();
    assert_eq!((0.5, 0.0, 200_000), (all_equal.low, all_equal.width, all_equal.counts[0]));
    let counts = bins.histogram(1).unwrap().counts;
    assert_eq!(200_000, counts.iter().sum::<u64>());
    assert_eq!(199_995, *counts.iter().max().unwrap());
}

#[test]
fn infinite_and_undefined_values_are_left_out() {
    let odd = [f64::NAN, 1.0, f64::INFINITY, f64::NEG_INFINITY, 2.0, f64::NAN];
    for simd in Simd::tested() {
        assert_eq!(slow(&[1.0, 2.0]), binned(&odd, simd).histogram(0));
        assert_eq!(None, binned(&odd[2..4], simd).histogram(0));
        assert_eq!(None, binned(&[], simd).histogram(0));
    }
}

#[test]
fn values_of_any_size_are_counted() {
    let tiny = f64::from_bits(1);
    for values in [
        vec![0.0, tiny],
        vec![-tiny, 0.0, tiny],
        vec![1e-300, 1.0, 1e300],
        vec![-1e300, 1e300],
        vec![1.0, f64::from_bits(1f64.to_bits() + 1)],
        vec![f64::MIN_POSITIVE, -f64::MIN_POSITIVE, 1e-310],
        vec![1e15, 1e15 + 0.125],
    ] {
        let histogram = binned(&values, Simd::best()).histogram(0).unwrap();
        assert_eq!(values.len() as u64, histogram.counts.iter().sum::<u64>(), "{values:?}");
        let high = histogram.low + histogram.width * SHOWN as f64;
        assert!(values.iter().all(|&value| histogram.low <= value && value < high), "{values:?} {histogram:?}");
    }
    // Bins beyond the largest number have no ends.
    assert_eq!(None, binned(&[-f64::MAX, f64::MAX], Simd::best()).histogram(0));
}

#[test]
fn bins_on_both_sides_of_a_power_of_two_are_merged() {
    let beside = |steps: i64| f64::from_bits(2f64.to_bits().wrapping_add_signed(steps));
    let (below, above) = ([beside(-3), beside(-1)], [beside(0), beside(1)]);
    let expected = binned(&[below, above].concat(), Simd::best()).histogram(0);
    for (first, second) in [(below, above), (above, below)] {
        let mut bins = binned(&first, Simd::best());
        bins.merge(&binned(&second, Simd::best())).unwrap();
        assert_eq!(expected, bins.histogram(0));
    }
}

#[test]
fn histograms_of_differences_equal_those_of_single_values_on_any_number_of_threads() {
    let n = 70_000;
    let scores: Vec<f64> =
        Stream::new(1, Purpose::Draw, 0).values().take(3 * n).map(|word| (word >> 40) as f64 * 1e-3).collect();
    let of = |system: usize| &scores[system * n..][..n];
    let wanted = [(0, Some(1), 0.25), (2, None, 0.0), (2, Some(2), 0.0)];
    let expected = wanted.map(|(system, minus, centre)| {
        let minus = minus.map(of);
        let value = |i: usize| of(system)[i] - minus.map_or(0.0, |minus| minus[i]) - centre;
        let values: Vec<f64> = (0..n).map(value).collect();
        let mut bins = Bins::new(1, Simd::best()).unwrap();
        for values in values.chunks(1000) {
            bins.make_room(values.len()).unwrap();
            bins.add(0, values);
            bins.count();
        }
        bins.histogram(0)
    });
    for threads in [1, 2, 5] {
        let wanted = wanted.map(|(system, minus, centre)| Values { system, minus, centre });
        let got = with_run(threads, |run| histograms((&scores, n), &wanted, run)).unwrap();
        assert_eq!(expected.as_slice(), got);
    }
    let absent = [Values { system: 0, minus: Some(3), centre: 0.0 }];
    let error = with_run(1, |run| histograms((&scores, n), &absent, run)).unwrap_err();
    assert_eq!(Error::OutOfRange { what: "system".into(), index: 3, len: 3 }, error);
}
