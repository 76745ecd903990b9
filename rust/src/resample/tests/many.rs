//! Tests of batches of small problems.

use super::*;
use crate::metric::metric;
use crate::resample::Shuffles;
use crate::resample::many::{self, Problems};
use crate::stream::{Purpose, Stream};

const SHAPE: [usize; 3] = [2, 40, 10];
const SEEDS: [u64; 5] = [3, 0, u64::MAX, 3, 77];

fn counts() -> Vec<i64> {
    let words = Stream::new(94, Purpose::Draw, 0).values();
    words.take(SHAPE.iter().product::<usize>() * SEEDS.len()).map(|word| (word % 30) as i64).collect()
}

/// The systems of all problems.
fn sample(counts: &[i64]) -> Sample<'_> {
    super::sample(metric("bleu", &[]).unwrap(), counts, SHAPE[0] * SEEDS.len())
}

#[test]
fn each_problem_of_a_batch_has_the_result_of_a_separate_run() {
    let bleu = metric("bleu", &[]).unwrap();
    let counts = counts();
    let problems = Problems::new(sample(&counts), 2, &SEEDS).unwrap();
    let thresholds = [0.1, 0.5, 2.0, 0.0, 1.0];
    let alone = |problem: usize| [super::sample(bleu.clone(), &counts[problem * 800..][..800], 2)];
    for n in [1, 64, 700] {
        let tally = |problem: usize| {
            let criterion = (Alternative::TwoSided, &thresholds[problem..=problem]);
            super::tally(&alone(problem), &[(0, 1)], criterion, seeded(SEEDS[problem], 0, n), 1).unwrap()[0]
        };
        let expected: Vec<u64> = (0..SEEDS.len()).map(tally).collect();
        let scores = |problem: usize| scores(&alone(problem), &[10, 30], seeded(SEEDS[problem], 0, n), 1).unwrap();
        let expected_scores: Vec<f64> = (0..SEEDS.len()).flat_map(scores).collect();
        for threads in [1, 2, 5] {
            let criterion = (Alternative::TwoSided, thresholds.as_slice());
            assert_eq!(
                expected,
                with_run(threads, |run| many::shuffles(&problems, criterion, (Shuffles::Independent, n), run)).unwrap()
            );
            assert_eq!(expected_scores, with_run(threads, |run| many::draws(&problems, &[10, 30], n, run)).unwrap());
        }
    }
}

#[test]
fn a_watcher_stops_a_batch() {
    let counts = counts();
    let problems = Problems::new(sample(&counts), 2, &SEEDS).unwrap();
    // This many shuffles would take years.
    let criterion = (Alternative::Less, [0.0; 5].as_slice());
    let outcome = stopped(2, 0, |run| many::shuffles(&problems, criterion, (Shuffles::Independent, 1 << 50), run));
    assert_eq!(Err(Error::Interrupted), outcome);
}
