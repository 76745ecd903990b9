//! Tests of the columns that are added up.

use super::*;
use crate::resample::design::packed::{Column, Packed};
use crate::resample::design::{Design, Rule};
use crate::simd::Simd;
use proptest::prelude::*;

fn designed(all: &[SuffStats<'_>], relative: bool, threads: usize) -> Design {
    let samples: Vec<_> = all.iter().map(|stats| Sample::without_formula(stats.clone())).collect();
    with_run(threads, |run| Design::new(Simd::best(), &samples, relative, run)).unwrap()
}

/// A cell's value, by the definition.
fn value(all: &[SuffStats<'_>], relative: bool, cell: usize, unit: usize) -> i64 {
    let mut cell = cell;
    for stats in all {
        let cells = stats.systems() * stats.columns();
        if cell < cells {
            let (system, column) = (cell / stats.columns(), cell % stats.columns());
            let first = if relative { stats.row(0, unit)[column] } else { 0 };
            return stats.row(system, unit)[column] - first;
        }
        cell -= cells;
    }
    unreachable!("a cell of none")
}

/// A cell's value, by its rule.
fn by_rule(design: &Design, cell: usize, unit: usize) -> i64 {
    let Rule { dense, constant, exceptions } = design.rules[cell];
    let dense = dense.map_or(0, |dense| design.packed.column(dense).value(unit));
    let exceptions = exceptions.map_or(&[][..], |e| &design.exceptions[e].units);
    dense + constant + exceptions.iter().filter(|(u, _)| *u == unit).map(|(_, value)| value).sum::<i64>()
}

#[test]
fn columns_that_follow_from_others_are_not_added_up() {
    let units = 200;
    // Length, reference, match, bigrams, always 3; for two systems.
    let row = |system: usize, unit: usize| {
        let length = (unit * 7 + system * unit) as i64 % 23;
        [length, unit as i64 % 19, length / 2, (length - 1).max(if unit == 9 { 100 } else { -1 }), 3]
    };
    let counts: Vec<i64> = (0..2).flat_map(|s| (0..units).flat_map(move |u| row(s, u))).collect();
    let all = [SuffStats::new(&counts, 2, units, 5).unwrap()];
    for relative in [false, true] {
        let design = designed(&all, relative, 1);
        let dense: Vec<usize> = (0..10)
            .filter(|&cell| {
                let Rule { dense, .. } = design.rules[cell];
                dense.is_some_and(|dense| design.rules[..cell].iter().all(|before| before.dense != Some(dense)))
            })
            .collect();
        let expected: &[usize] = if relative { &[5, 7] } else { &[0, 1, 2, 5, 7] };
        assert_eq!(expected, dense);
    }
    let design = designed(&all, false, 1);
    assert_eq!(Rule { dense: Some(0), constant: -1, exceptions: Some(0) }, design.rules[3]);
    assert_eq!(vec![(9, 100 - (63 % 23 - 1))], design.exceptions[0].units);
    assert_eq!(3, design.exceptions[0].column);
    assert_eq!(Rule { dense: Some(1), constant: 0, exceptions: None }, design.rules[6]);
    assert_eq!(Rule { dense: None, constant: 3, exceptions: None }, design.rules[4]);
    assert_eq!(vec![0, 1, 2, 0, 2], design.columns);
}

#[test]
fn few_units_allow_no_exceptions() {
    let counts = [1, 2, 2, 3, 3, 5];
    let design = designed(&[SuffStats::new(&counts, 1, 3, 2).unwrap()], false, 1);
    assert_eq!((2, 0), (design.packed.len(), design.exceptions.len()));
}

#[test]
fn columns_are_as_narrow_as_their_values_allow() {
    let width = |largest: i64| match Packed::from_columns(&[vec![0, largest, -largest]]).column(0) {
        Column::I8(_) => 8,
        Column::I16(_) => 16,
        Column::I32(_) => 32,
        Column::I64(_) => 64,
    };
    let largest = [0, 127, 128, 32_767, 32_768, (1 << 31) - 1, 1 << 31, 1 << 62];
    assert_eq!([8, 8, 16, 16, 32, 32, 64, 64], largest.map(width));
}

proptest! {
    #![proptest_config(crate::testing::cases(48))]
    #[test]
    fn rules_reproduce_all_counts_on_any_number_of_threads(
        units in prop::sample::select(vec![1usize, 2, 63, 64, 127, 128, 129, 300]),
        systems in 1..5usize,
        // What a column is: noise of some size, the column before plus a constant, with or without an exception, or the
        // column of the first system.
        kinds in prop::collection::vec((0..4usize, 0..50u32, -3..4i64, any::<bool>()), 1..8),
        relative in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let mut words = crate::stream::Stream::new(seed, crate::stream::Purpose::Draw, 0).values();
        let mut random = |bits: u32| (words.next().unwrap() as i64) >> (63 - bits);
        let width = kinds.len();
        let mut counts = vec![0; systems * units * width];
        for place in 0..systems * units {
            let unit = place % units;
            for (column, &(kind, bits, constant, exceptional)) in kinds.iter().enumerate() {
                let before = if column > 0 { counts[place * width + column - 1] } else { 0 };
                let on_top = if exceptional && unit % 100 == 77 { 1000 } else { 0 };
                counts[place * width + column] = match kind {
                    0 => random(bits),
                    1 => before + constant + on_top,
                    2 => counts[unit * width + column] + on_top,
                    _ => constant,
                };
            }
        }
        let stats = SuffStats::new(&counts, systems, units, width).unwrap();
        let all = [stats, SuffStats::new(&counts[..units * width], 1, units, width).unwrap()];
        let design = designed(&all, relative, 1);
        for cell in 0..(systems + 1) * width {
            for unit in 0..units {
                prop_assert_eq!(value(&all, relative, cell, unit), by_rule(&design, cell, unit), "{} {}", cell, unit);
            }
        }
        let totals: Vec<i64> = all.iter().flat_map(SuffStats::totals).copied().collect();
        prop_assert_eq!(totals, &design.totals[..]);
        let parallel = designed(&all, relative, 3);
        prop_assert_eq!(&design.rules, &parallel.rules);
        prop_assert!(design.packed.iter().eq(parallel.packed.iter()));
    }
}
