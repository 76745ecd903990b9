use proptest::prelude::*;

use super::calibrate::calibrate;
use super::pairs::{self, PairCounts};
use super::votes::{self, Votes};
use super::*;
use crate::pool::Run;

const GROUPINGS: [Grouping; 3] = [Grouping::None, Grouping::System, Grouping::Item];

fn run<T>(threads: usize, body: impl FnOnce(&mut Run<'_>) -> T) -> T {
    body(&mut Run { threads, watch: &mut |_| Ok(()) })
}

/// Counts pair by pair.
fn slow(cells: &[Cell], epsilon: f64, minimum_difference: f64) -> [i64; 5] {
    let mut counts = [0; 5];
    for (i, a) in cells.iter().enumerate() {
        for b in &cells[..i] {
            let by_people = a.human == b.human || (a.human - b.human).abs() < minimum_difference;
            let by_metric = a.metric == b.metric || (a.metric - b.metric).abs() <= epsilon;
            counts[match (by_metric, by_people) {
                (true, true) => 4,
                (false, true) => 3,
                (true, false) => 2,
                (false, false) => usize::from((a.metric > b.metric) != (a.human > b.human)),
            }] += 1;
        }
    }
    counts
}

/// The smallest of all candidates with the highest accuracy, for groups of one size.
fn slow_epsilon(groups: &[Vec<Cell>]) -> f64 {
    let mut candidates = vec![0.0];
    for (group, i) in groups.iter().flat_map(|group| (0..group.len()).map(move |i| (group, i))) {
        candidates.extend(group[..i].iter().map(|other| (group[i].metric - other.metric).abs()));
    }
    candidates.sort_by(f64::total_cmp);
    let right = |epsilon: f64| groups.iter().map(|group| slow(group, epsilon, 0.0)).map(|c| c[0] + c[4]).sum::<i64>();
    let most = candidates.iter().map(|&epsilon| right(epsilon)).max().unwrap();
    *candidates.iter().find(|&&epsilon| right(epsilon) == most).unwrap()
}

/// Values of few different sizes, so that there are ties, with gaps or without.
fn values(length: usize, gaps: bool) -> impl Strategy<Value = Vec<f64>> {
    let value = (0..if gaps { 8 } else { 7 }).prop_map(|i| if i == 7 { f64::NAN } else { f64::from(i) / 3.0 - 1.0 });
    prop::collection::vec(value, length)
}

fn problem(gaps: bool) -> impl Strategy<Value = (Vec<f64>, Vec<f64>, [usize; 3])> {
    (0..9_usize, 0..9_usize)
        .prop_flat_map(move |(n, s)| (values(2 * n * s, gaps), values(n * s, gaps), Just([2, n, s])))
}

proptest! {
    #[test]
    fn pairs_are_counted_one_by_one(
        (scores, human, shape) in problem(true), epsilon in 0.0..1.5, minimum in 0.0..1.5,
    ) {
        let matrices = Matrices::new(&scores, &human, shape).unwrap();
        for grouping in GROUPINGS {
            for epsilon in [0.0, 1.0 / 3.0, epsilon] {
                let given = [0.0, epsilon];
                let (counts, sizes) =
                    run(2, |run| pairs::count(matrices, grouping, Some(&given), minimum, run)).unwrap();
                let groups = matrices.groups(grouping);
                for (item, (counts, sizes)) in counts.chunks(5).zip(sizes.chunks(3)).enumerate() {
                    let cells: Vec<Cell> = matrices.cells(item / groups, grouping, item % groups).collect();
                    prop_assert_eq!(slow(&cells, given[item / groups], minimum), counts);
                    prop_assert_eq!(cells.len() as i64, sizes[0]);
                }
            }
        }
    }

    #[test]
    fn long_groups_are_counted_one_by_one(
        scores in values(130, true), human in values(130, true), epsilon in 0.0..1.5, minimum in 0.0..1.5,
    ) {
        let matrices = Matrices::new(&scores, &human, [1, 13, 10]).unwrap();
        let cells: Vec<Cell> = matrices.cells(0, Grouping::None, 0).collect();
        let (counts, sizes) =
            run(1, |run| pairs::count(matrices, Grouping::None, Some(&[epsilon]), minimum, run)).unwrap();
        prop_assert_eq!(&slow(&cells, epsilon, minimum)[..], counts);
        prop_assert!(sizes[1] <= 7 && sizes[2] <= 7 && sizes[0] == cells.len() as i64);
    }

    #[test]
    fn epsilon_is_the_best_candidate((scores, human, shape) in problem(false)) {
        let matrices = Matrices::new(&scores, &human, shape).unwrap();
        for grouping in GROUPINGS {
            let (epsilons, _) = run(2, |run| calibrate(matrices, grouping, run)).unwrap();
            for (metric, &epsilon) in epsilons.iter().enumerate() {
                let groups = (0..matrices.groups(grouping)).map(|group| matrices.cells(metric, grouping, group).collect());
                let groups: Vec<Vec<Cell>> = groups.collect();
                match groups.first() {
                    Some(group) if group.len() > 1 => prop_assert_eq!(slow_epsilon(&groups), epsilon),
                    _ => prop_assert!(epsilon.is_nan()),
                }
            }
        }
    }
}

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

/// The smallest ε of the highest accuracy in a group, by sorting all pairs.
fn sorted_epsilon(cells: &[Cell]) -> f64 {
    let mut differences: Vec<(f64, i64)> = vec![(0.0, 0)];
    for (i, a) in cells.iter().enumerate() {
        differences.extend(cells[..i].iter().map(|b| {
            let concordant = (a.metric > b.metric) == (a.human > b.human) && a.metric != b.metric && a.human != b.human;
            let tied = a.human == b.human && a.metric != b.metric;
            ((a.metric - b.metric).abs(), i64::from(tied) - i64::from(concordant))
        }));
    }
    differences.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut sum, mut best) = (0, (0, 0.0));
    for same in differences.chunk_by(|a, b| a.0 == b.0) {
        sum += same.iter().map(|change| change.1).sum::<i64>();
        best = if sum > best.0 { (sum, same[0].0) } else { best };
    }
    best.1
}

#[test]
fn buckets_miss_no_maximum() {
    let large = [(400, 0.0, 1.0), (400, 20.0, 1e-200), (520, 1e3, 1e100), (400, 0.0, 0.0), (300, 1.0, 1.0)];
    let small = (70..130).map(|n| (n, [0.0, 1.0, 4.0, 100.0][n % 4], [1.0, 1e-310, 3e7][n % 3]));
    for (n, digits, factor) in large.into_iter().chain(small) {
        let (mut scores, human) = many(n, n as u64);
        for score in &mut scores {
            *score = if digits > 0.0 { (*score * digits).round() / digits } else { *score } * factor;
        }
        // An outlier leaves most differences in the lowest bucket.
        scores[17] *= if n % 2 == 0 { 1e60 } else { 1.0 };
        let matrices = Matrices::new(&scores, &human, [1, 1, n]).unwrap();
        let cells: Vec<Cell> = matrices.cells(0, Grouping::None, 0).collect();
        let expected = vec![sorted_epsilon(&cells)];
        for grouping in [Grouping::None, Grouping::System] {
            let (epsilons, _) = run(3, |run| calibrate(matrices, grouping, run)).unwrap();
            assert_eq!(expected, epsilons, "{n} {digits} {factor}");
        }
    }
}

#[test]
fn sizes_are_those_of_cells_with_both_scores() {
    let (scores, human) = ([1.0, f64::NAN, 1.0, 3.0, 2.0], [5.0, 5.0, 6.0, f64::NAN, -0.0]);
    let matrices = Matrices::new(&scores, &human, [1, 1, 5]).unwrap();
    let (counts, sizes) = run(1, |run| pairs::count(matrices, Grouping::None, None, 0.0, run)).unwrap();
    assert_eq!((vec![0, 2, 1, 0, 0], vec![3, 2, 3]), (counts, sizes));
    let none = PairCounts::default();
    assert_eq!(0, none.cells + none.concordant);
}

#[test]
fn votes_are_added_by_segment() {
    // Two metrics, two systems, two segments.
    let scores = [1.0, 2.0, 0.0, 2.0, f64::NAN, 0.0, 1.0, 1.0];
    let votes = Votes { segment: &[0, 1, 0, 1], better: &[0, 0, 1, 1], worse: &[1, 1, 0, 0], votes: &[3, 1, 5, 2] };
    let counts = run(2, |run| votes::count(&scores, [2, 2, 2], votes, run)).unwrap();
    assert_eq!([[3, 5, 0, 0, 0, 0, 3, 0], [0, 0, 0, 8, 2, 1, 0, 0]].concat(), counts);
}

#[test]
fn a_call_can_be_stopped() {
    let (scores, human) = many(3_000, 1);
    let matrices = Matrices::new(&scores, &human, [1, 1, 3_000]).unwrap();
    let mut watch = |_| Err(Error::Interrupted);
    let mut run = Run { threads: 1, watch: &mut watch };
    assert_eq!(Some(Error::Interrupted), calibrate(matrices, Grouping::None, &mut run).err());
    assert_eq!(Some(Error::Interrupted), pairs::count(matrices, Grouping::None, None, 0.0, &mut run).err());
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
