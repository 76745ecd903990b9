//! Slow twins.

use proptest::prelude::*;
use std::sync::Arc;

use super::*;
use crate::metric::Mean;
use crate::pool::with_run;

fn bit(seed: u64, replicate: u64, place: usize) -> bool {
    Stream::new(seed, Purpose::Shuffle, replicate).value(place as u64 / 64) >> (place % 64) & 1 == 1
}

/// p-values of all pairs, from scores of systems × segments, one permutation after another.
fn slow_pvalues(scores: &[Vec<i64>], (seed, permutations): (u64, usize)) -> Vec<f64> {
    let p = |(x, y): (usize, usize)| {
        let difference = |permutation: Option<u64>| -> i64 {
            let swapped = |s: usize| permutation.is_some_and(|permutation| bit(seed, permutation, s));
            let own = |s: usize| scores[x][s] - scores[y][s];
            (0..scores[x].len()).map(|s| if swapped(s) { -own(s) } else { own(s) }).sum()
        };
        let reached = (0..permutations as u64).filter(|k| difference(Some(*k)) >= difference(None)).count();
        pvalue(reached, permutations)
    };
    pairs(scores.len()).map(p).collect()
}

fn tables(metrics: usize) -> impl Strategy<Value = Vec<Vec<Vec<i64>>>> {
    (2..5_usize, 1..21_usize).prop_flat_map(move |(systems, segments)| {
        let row = prop::collection::vec(-3..4_i64, segments);
        prop::collection::vec(prop::collection::vec(row, systems), metrics)
    })
}

proptest! {
    #![proptest_config(crate::testing::cases(20))]

    #[test]
    fn pvalues_of_some_segments_are_those_of_their_scores(
        tables in tables(3), seed in any::<u64>(), lower in any::<bool>(), ratio in any::<bool>(),
        chosen in prop::collection::vec(any::<prop::sample::Index>(), 1..40)
    ) {
        let (systems, segments) = (tables[0].len(), tables[0][0].len());
        let chosen: Vec<usize> = chosen.iter().map(|index| index.index(segments)).collect();
        let inner = (seed ^ 1, 19);
        let signs = Signs::new(inner.0, inner.1, chosen.len()).unwrap();
        let sign = if lower { -1 } else { 1 };
        let scored = |table: &Vec<Vec<i64>>| {
            let counts: Vec<i64> = table.iter().flatten().flat_map(|score| [sign * score, 1]).collect();
            let mean = Arc::new(Mean::new("m".into(), 1.0, true));
            Scored::new(mean, &counts, [systems, segments], chosen.iter().copied(), (lower, ratio)).unwrap()
        };
        let metrics: Vec<_> = tables.iter().map(scored).collect();
        let got = with_run(2, |run| super::pvalues(&metrics, chosen.len(), &signs, run)).unwrap();
        let of_chosen = |table: &Vec<Vec<i64>>| -> Vec<f64> {
            let rows: Vec<Vec<i64>> = table.iter().map(|row| chosen.iter().map(|at| row[*at]).collect()).collect();
            slow_pvalues(&rows, inner)
        };
        prop_assert_eq!(got, tables.iter().flat_map(of_chosen).collect::<Vec<_>>());
    }

    #[test]
    fn sums_are_those_of_flipped_rows(
        rows in prop::collection::vec(prop::collection::vec(-9..10_i64, 19), 1..150), cells in 1..20_usize,
        seed in any::<u64>(), permutations in 1..40_usize
    ) {
        let signs = Signs::new(seed, permutations, rows.len()).unwrap();
        let flat: Vec<i64> = rows.iter().flat_map(|row| &row[..cells]).copied().collect();
        let (mut buffers, mut got) = (Buffers::default(), Vec::new());
        signs.sums((&flat, cells), &mut buffers, &mut got, &Stop::never()).unwrap();
        for cell in 0..cells {
            for permutation in 0..permutations {
                let flipped = |s: &usize| bit(seed, permutation as u64, *s);
                let expected: i64 = (0..rows.len()).filter(flipped).map(|s| rows[s][cell]).sum();
                prop_assert_eq!(expected, got[cell * permutations + permutation]);
            }
        }
    }
}

#[test]
fn segments_that_do_not_exist_are_refused() {
    let mean = Arc::new(Mean::new("m".into(), 1.0, true));
    let error = Scored::new(mean, &[0; 8], [2, 2], [0, 2].into_iter(), (false, true)).err().unwrap();
    assert_eq!(error, Error::OutOfRange { what: "segment".into(), index: 2, len: 2 });
}
