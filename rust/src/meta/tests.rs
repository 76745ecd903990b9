use super::calibrate::calibrate;
use super::pairs::{self, PairCounts};
use super::votes::{self, Votes};
use super::*;
use crate::pool::{stopped, with_run};

/// Scores of different magnitudes, and people who often see no difference.
fn many(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let human: Vec<f64> = (0..n).map(|_| (4.0 * next() * next()).floor()).collect();
    let scores = human.iter().map(|h| h + 4.0 * (next() - 0.5) * next()).collect();
    (scores, human)
}

#[test]
fn sizes_are_those_of_cells_with_both_scores() {
    let (scores, human) = ([1.0, f64::NAN, 1.0, 3.0, 2.0], [5.0, 5.0, 6.0, f64::NAN, -0.0]);
    let matrices = Matrices::new(&scores, &human, [1, 1, 5]).unwrap();
    let (counts, sizes) = with_run(1, |run| pairs::count(matrices, Grouping::None, None, 0.0, run)).unwrap();
    assert_eq!((vec![0, 2, 1, 0, 0], vec![3, 2, 3]), (counts, sizes));
    let none = PairCounts::default();
    assert_eq!(0, none.cells + none.concordant);
}

#[test]
fn votes_are_added_by_segment() {
    // Two metrics, two systems, two segments.
    let scores = [1.0, 2.0, 0.0, 2.0, f64::NAN, 0.0, 1.0, 1.0];
    let votes = Votes { segment: &[0, 1, 0, 1], better: &[0, 0, 1, 1], worse: &[1, 1, 0, 0], votes: &[3, 1, 5, 2] };
    let counts = with_run(2, |run| votes::count(&scores, [2, 2, 2], votes, run)).unwrap();
    assert_eq!([[3, 5, 0, 0, 0, 0, 3, 0], [0, 0, 0, 8, 2, 1, 0, 0]].concat(), counts);
}

#[test]
fn a_call_can_be_stopped() {
    let (scores, human) = many(3_000, 1);
    let matrices = Matrices::new(&scores, &human, [1, 1, 3_000]).unwrap();
    assert_eq!(Some(Error::Interrupted), stopped(1, 0, |run| calibrate(matrices, Grouping::None, run)).err());
    let got = stopped(1, 0, |run| pairs::count(matrices, Grouping::None, None, 0.0, run));
    assert_eq!(Some(Error::Interrupted), got.err());
}

#[test]
fn shapes_have_to_fit() {
    let refused = Matrices::new(&[0.0; 12], &[0.0; 5], [2, 3, 2]).unwrap_err();
    assert_eq!("scores of people: expected 6, got 5", refused.to_string());
    let refused = Matrices::new(&[0.0; 11], &[0.0; 6], [2, 3, 2]).unwrap_err();
    assert_eq!("scores of metrics: expected 12, got 11", refused.to_string());
    assert!(Matrices::new(&[], &[], [2, usize::MAX, 3]).is_err());
    assert_eq!("unknown grouping \"all\"; known: none, sys, item", Grouping::named("all").unwrap_err().to_string());
}
