use proptest::prelude::*;

use super::active::Active;
use super::*;
use crate::error::Error;
use crate::pool::{stopped, with_run};
use crate::tune::candidates::Sparse;

/// Lists with features in memory of their own.
#[derive(Debug, Clone)]
struct Owned {
    starts: Vec<i64>,
    dense: Vec<f64>,
    rows: Vec<i64>,
    features: Vec<i32>,
    values: Vec<f64>,
    targets: Vec<i64>,
}

const DENSE: usize = 2;
const SPARSE: usize = 5;

impl Owned {
    fn lists(&self) -> Lists<'_> {
        self.checked().unwrap()
    }

    fn checked(&self) -> Result<Lists<'_>> {
        let sparse = Sparse { starts: &self.rows, indices: &self.features, values: &self.values, width: SPARSE };
        let stop = Stop::never();
        Lists::new(Candidates::new(&self.starts, (&self.dense, DENSE), Some(sparse), &stop)?, &self.targets, &stop)
    }

    /// All features of each candidate of each list, and the target.
    fn matrices(&self) -> Vec<(Vec<[f64; DENSE + SPARSE]>, usize)> {
        let lists = self.lists();
        let row = |candidate| {
            let mut out = [0.0; DENSE + SPARSE];
            lists.candidates.each(candidate, |feature, value| out[feature] += value);
            out
        };
        (0..lists.targets.len())
            .map(|list| (lists.candidates.list(list).map(row).collect(), lists.target(list)))
            .collect()
    }
}

/// −Σ ln p(target), as it is defined.
fn slow_loss(problem: &Owned, weights: &[f64]) -> f64 {
    let score = |row: &[f64; DENSE + SPARSE]| row.iter().zip(weights).map(|(f, w)| f * w).sum::<f64>();
    let of_list = |(rows, target): &(Vec<_>, usize)| {
        rows.iter().map(|row| score(row).exp()).sum::<f64>().ln() - score(&rows[*target])
    };
    problem.matrices().iter().map(of_list).sum()
}

prop_compose! {
    fn problem()(lengths in prop::collection::vec(1..6_usize, 1..7))(
        dense in prop::collection::vec(-3..4_i32, DENSE * lengths.iter().sum::<usize>()),
        rows in prop::collection::vec(prop::collection::vec((0..SPARSE as i32, 1..3_i32), 0..4), lengths.iter().sum::<usize>()),
        targets in prop::collection::vec(0..1000_usize, lengths.len()),
        lengths in Just(lengths),
    ) -> Owned {
        let mut starts = vec![0];
        lengths.iter().for_each(|&length| starts.push(starts[starts.len() - 1] + length as i64));
        let mut limits = vec![0];
        rows.iter().for_each(|row| limits.push(limits[limits.len() - 1] + row.len() as i64));
        Owned {
            starts,
            dense: dense.into_iter().map(f64::from).collect(),
            rows: limits,
            features: rows.iter().flatten().map(|pair| pair.0).collect(),
            values: rows.iter().flatten().map(|pair| f64::from(pair.1)).collect(),
            targets: targets.iter().zip(&lengths).map(|(target, length)| (target % length) as i64).collect(),
        }
    }
}

fn settings(penalty: f64, per_step: &[usize]) -> Settings {
    Settings { penalty, per_step: per_step.to_vec(), limit: None, tolerance: 1e-6 }
}

proptest! {
    #![proptest_config(crate::testing::cases(16))]

    #[test]
    fn selected_columns_have_the_same_loss_gradient_and_curvature(
        problem in problem(), weights in prop::collection::vec(-1.0..1.0, 3),
        selected in prop::sample::subsequence((0..DENSE + SPARSE).collect::<Vec<_>>(), 3),
    ) {
        let lists = problem.lists();
        let all = |weights: &[f64]| {
            let mut all = vec![0.0; DENSE + SPARSE];
            selected.iter().zip(weights).for_each(|(&feature, &weight)| all[feature] = weight);
            all
        };
        let of_selected = |weights: &[f64]| -> Vec<f64> {
            let gradient = with_run(1, |run| pass(&lists, &all(weights), run)).unwrap().1;
            selected.iter().map(|&feature| gradient[feature]).collect()
        };
        with_run(1, |run| {
            let active = Active::new(&lists, &selected, run).unwrap();
            let scores = active.scores(&weights, run).unwrap();
            let (loss, gradient) = active.gradient(&scores, run).unwrap();
            prop_assert!((loss - slow_loss(&problem, &all(&weights))).abs() < 1e-9 * (1.0 + loss));
            prop_assert!(gradient.iter().zip(of_selected(&weights)).all(|(a, b)| (a - b).abs() < 1e-9));
            // Half of the scores plus half of them again.
            let halves: Vec<f64> = scores.iter().map(|score| score / 2.0).collect();
            prop_assert!((active.loss(&halves, (0.5, &scores), run).unwrap() - loss).abs() < 1e-9 * (1.0 + loss));
            let curvature = active.curvature(&scores, &[2, 0], run).unwrap();
            for (i, &row) in [2, 0].iter().enumerate() {
                let [mut up, mut down] = [weights.clone(), weights.clone()];
                up[row] += 1e-5;
                down[row] -= 1e-5;
                let (up, down) = (of_selected(&up), of_selected(&down));
                for (j, &column) in [2, 0].iter().enumerate() {
                    let slope = (up[column] - down[column]) / 2e-5;
                    prop_assert!((curvature[2 * i + j] - slope).abs() < 1e-5 * (1.0 + slope.abs()));
                }
            }
            Ok(())
        })?;
    }
}

/// Pseudo-random features of lists for a few blocks.
fn large() -> Owned {
    let mut state = 1_u64;
    let mut next = move |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % n
    };
    let (lists, length) = (700, 20);
    let candidates = lists * length;
    Owned {
        starts: (0..=lists as i64).map(|list| list * length as i64).collect(),
        dense: (0..DENSE * candidates).map(|_| next(100) as f64 / 10.0).collect(),
        rows: (0..=candidates as i64).map(|row| 3 * row).collect(),
        features: (0..3 * candidates).map(|_| next(SPARSE as u64) as i32).collect(),
        values: vec![1.0; 3 * candidates],
        targets: (0..lists).map(|_| next(length as u64) as i64).collect(),
    }
}

#[test]
fn results_are_the_same_bytes_for_any_number_of_threads() {
    let problem = large();
    let lists = problem.lists();
    let fit = |threads| with_run(threads, |run| graft(&lists, &settings(0.5, &[2, 1]), run)).unwrap();
    let expected = fit(1);
    assert!(!expected.selected.is_empty() && expected.violation < 1e-6 && expected.violation_outside < 1e-6);
    for threads in [2, 8] {
        assert_eq!(expected, fit(threads));
    }
}

#[test]
fn the_limit_and_the_numbers_per_step_hold() {
    let problem = large();
    let lists = problem.lists();
    let settings = Settings { limit: Some(4), ..settings(0.01, &[1, 2]) };
    let fit = with_run(1, |run| graft(&lists, &settings, run)).unwrap();
    assert_eq!(vec![1, 3, 4], fit.steps.iter().map(|step| step.selected).collect::<Vec<_>>());
    assert_eq!(4, fit.selected.len());
    assert!(fit.violation < 1e-6);
}

#[test]
fn equal_columns_have_equal_derivatives_and_the_first_is_selected_first() {
    let mut problem = large();
    for pair in problem.dense.chunks_exact_mut(2) {
        pair[1] = pair[0];
    }
    let fit = with_run(1, |run| graft(&problem.lists(), &settings(0.5, &[9]), run)).unwrap();
    let places: Vec<_> = [0, 1].map(|feature| fit.selected.iter().position(|&f| f == feature).unwrap()).to_vec();
    assert_eq!(places[0] + 1, places[1]);
    assert!(fit.violation < 1e-6 && fit.violation_outside < 1e-6);
}

#[test]
fn what_does_not_fit_is_refused() {
    let good = large();
    let check = |edit: &dyn Fn(&mut Owned)| {
        let mut bad = good.clone();
        edit(&mut bad);
        bad.checked().unwrap_err().to_string()
    };
    type Edit<'a> = &'a dyn Fn(&mut Owned);
    let edits: [(Edit<'_>, &str); 8] = [
        (&|bad| bad.starts[1] = 0, "candidates of sentence 1: expected at least one, got none"),
        (&|bad| bad.dense.truncate(7), "dense features: expected 28000, got 7"),
        (&|bad| bad.targets[2] = 20, "targets must be below 20 and at least 0 in list 2, got 20"),
        (&|bad| bad.targets[2] = -1, "targets must be below 20 and at least 0 in list 2, got -1"),
        (&|bad| bad.dense[5] = f64::NAN, "dense features must be finite numbers, got NaN"),
        (&|bad| bad.values[5] = f64::INFINITY, "sparse features must be finite numbers, got inf"),
        (&|bad| bad.features[5] = 5, "each number of a sparse feature must be at least 0 and below 5, got 5"),
        (&|bad| bad.targets.truncate(699), "targets: expected 700, got 699"),
    ];
    for (edit, message) in edits {
        assert_eq!(message, check(edit));
    }
    let lists = good.lists();
    for (settings, message) in [
        (settings(0.0, &[1]), "gamma must be a positive number, got 0"),
        (settings(f64::NAN, &[1]), "gamma must be a positive number, got NaN"),
        (settings(1.0, &[1, 0]), "per_step must be at least 1 in each step, got [1, 0]"),
        (settings(1.0, &[]), "per_step must be at least 1 in each step, got []"),
    ] {
        assert_eq!(message, with_run(1, |run| graft(&lists, &settings, run)).unwrap_err().to_string());
    }
}

#[test]
fn a_request_to_stop_is_followed() {
    let problem = large();
    let lists = problem.lists();
    assert_eq!(Err(Error::Interrupted), stopped(2, 0, |run| graft(&lists, &settings(0.5, &[2]), run)));
}
