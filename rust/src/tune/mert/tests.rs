use std::sync::Arc;

use proptest::prelude::*;

use super::search::Runs;
use super::sweep::Rules;
use super::*;
use crate::metric::metric;
use crate::pool::{stopped, with_run};

const RULES: Rules = Rules { margin: 0.1, min_width: 1e-9 };

fn add(totals: &mut [i64], row: &[i64]) {
    totals.iter_mut().zip(row).for_each(|(total, count)| *total += count);
}

/// Lists of few entries: where they begin, features, counts of TER or BLEU.
#[derive(Debug, Clone)]
struct Problem {
    offsets: Vec<i64>,
    features: Vec<f64>,
    width: usize,
    counts: Vec<i64>,
    metric: &'static str,
}

impl Problem {
    fn formula(&self) -> Arc<dyn Formula> {
        metric(self.metric, &[]).unwrap()
    }

    fn lists(&self) -> Lists<'_> {
        Lists::new(&self.offsets, (&self.features, self.width), &self.counts, self.formula(), &Stop::never()).unwrap()
    }

    /// The best part of a line.
    fn search(&self, weights: &[f64], direction: &[f64]) -> Found {
        with_run(1, |run| line_search(&self.lists(), weights, direction, &RULES, run)).unwrap()[0]
    }

    fn tuned(&self, settings: &Settings, seeds: &[u64]) -> Result<Runs> {
        with_run(1, |run| tune(&self.lists(), settings, seeds, run))
    }

    fn entries(&self, list: usize) -> std::ops::Range<usize> {
        self.offsets[list] as usize..self.offsets[list + 1] as usize
    }

    fn score_of(&self, weights: &[f64], entry: usize) -> f64 {
        let features = &self.features[entry * self.width..][..self.width];
        features.iter().zip(weights).fold(0.0, |sum, (feature, weight)| sum + weight * feature)
    }

    /// The corpus score of the best entries. The first of several wins.
    fn score(&self, weights: &[f64]) -> f64 {
        let columns = self.formula().width();
        let mut totals = vec![0; columns];
        for list in 0..self.offsets.len() - 1 {
            let entries = self.entries(list);
            let best = entries.clone().fold(entries.start, |best, entry| {
                if self.score_of(weights, entry) > self.score_of(weights, best) { entry } else { best }
            });
            add(&mut totals, &self.counts[best * columns..]);
        }
        self.formula().score(&totals)
    }

    /// All differences between two entries of a list.
    fn differences(&self) -> Vec<Vec<f64>> {
        let mut found = vec![];
        for list in 0..self.offsets.len() - 1 {
            for a in self.entries(list) {
                for b in self.entries(list).filter(|&b| b < a) {
                    let feature = |entry: usize, i: usize| self.features[entry * self.width + i];
                    found.push((0..self.width).map(|i| feature(a, i) - feature(b, i)).collect());
                }
            }
        }
        found
    }

    fn best_of(&self, scores: impl IntoIterator<Item = f64>) -> f64 {
        let higher = self.formula().higher_is_better();
        let better = |a: f64, b: f64| if higher { a.max(b) } else { a.min(b) };
        scores.into_iter().reduce(better).unwrap()
    }
}

/// `ties` asks for features of few different values, so that entries are parallel or equal.
fn problem(width: usize, most: usize, ties: bool) -> impl Strategy<Value = Problem> {
    let sizes = prop::collection::vec(1..=most, 1..6);
    (sizes, prop::sample::select(vec!["ter", "bleu"])).prop_flat_map(move |(sizes, name)| {
        let entries: usize = sizes.iter().sum();
        let value = if ties { (-4..5).prop_map(|i| f64::from(i) / 2.0).boxed() } else { (-1.0..1.0).boxed() };
        let columns = metric(name, &[]).unwrap().width();
        let (features, counts) =
            (prop::collection::vec(value, entries * width), prop::collection::vec(1..30_i64, entries * columns));
        (features, counts).prop_map(move |(features, counts)| {
            let ends = sizes.iter().scan(0, |end, size| {
                *end += *size as i64;
                Some(*end)
            });
            let offsets = std::iter::once(0).chain(ends).collect();
            Problem { offsets, features, width, counts, metric: name }
        })
    })
}

/// The corners of a list by sorting all of its entries.
fn slow_corners(heights: &[f64], slopes: &[f64]) -> (usize, Vec<Corner>) {
    let mut order: Vec<usize> = (0..heights.len()).collect();
    order.sort_by(|&a, &b| {
        slopes[a].partial_cmp(&slopes[b]).unwrap().then(heights[b].partial_cmp(&heights[a]).unwrap()).then(a.cmp(&b))
    });
    let mut stack: Vec<(usize, f64)> = vec![];
    for entry in order {
        if stack.last().is_some_and(|&(top, _)| slopes[top] == slopes[entry]) {
            continue;
        }
        let crossing = |top: usize| (heights[top] - heights[entry]) / (slopes[entry] - slopes[top]);
        while stack.last().is_some_and(|&(top, from)| crossing(top) <= from) {
            stack.pop();
        }
        let from = stack.last().map_or(f64::NEG_INFINITY, |&(top, _)| crossing(top));
        stack.push((entry, from));
    }
    let corner = |pair: &[(usize, f64)]| Corner { x: pair[1].1, from: pair[0].0 as u32, to: pair[1].0 as u32 };
    (stack[0].0, stack.windows(2).map(corner).collect())
}

fn settings(width: usize, preset: Preset) -> Settings {
    let start = (0..width).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
    Settings { start, low: vec![-1.0; width], high: vec![1.0; width], preset, rules: RULES, max_steps: 1000 }
}

/// A weight vector inside each part of the plane of two weights.
fn parts_2d(problem: &Problem) -> Vec<[f64; 2]> {
    let turn = std::f64::consts::TAU;
    let mut angles: Vec<f64> = problem
        .differences()
        .iter()
        .filter(|d| d[0] != 0.0 || d[1] != 0.0)
        .flat_map(|d| [0.25, 0.75].map(|quarter| (d[1].atan2(d[0]) + quarter * turn).rem_euclid(turn)))
        .collect();
    angles.sort_by(f64::total_cmp);
    let Some(&first) = angles.first() else { return vec![[1.0, 0.0]] };
    angles.push(first + turn);
    let wide = angles.windows(2).filter(|pair| pair[1] - pair[0] > 1e-6);
    wide.map(|pair| (pair[0] + pair[1]) / 2.0).map(|angle| [angle.cos(), angle.sin()]).collect()
}

proptest! {
    #![proptest_config(crate::testing::cases(24))]
    #[test]
    fn entries_that_are_left_out_do_not_change_a_bit(
        (lines, scale) in (1..70_usize, any::<bool>()).prop_flat_map(|(n, ties)| {
            let value = if ties { (-6..7).prop_map(f64::from).boxed() } else { (-9.0..9.0).boxed() };
            (prop::collection::vec((value.clone(), value), n), prop::sample::select(vec![1.0, 1e-9, 1e12]))
        }),
    ) {
        let heights: Vec<f64> = lines.iter().map(|line| line.0).collect();
        let slopes: Vec<f64> = lines.iter().map(|line| line.1 * scale).collect();
        let (leftmost, expected) = slow_corners(&heights, &slopes);
        let best = (0..heights.len()).fold(0, |best, i| if heights[i] > heights[best] { i } else { best });
        for simd in Simd::tested() {
            let mut corners = vec![];
            let outer = envelope::outer(simd, &slopes);
            let got = Envelope::default().corners(simd, (&heights, &slopes), (best, outer), 0, &mut corners);
            prop_assert_eq!((leftmost, &expected), (got, &corners), "{:?}", simd);
        }
    }

    #[test]
    fn searches_are_the_same_for_any_number_of_threads_and_report_the_score_of_their_weights(
        problem in problem(4, 8, false), seed in any::<u64>(),
    ) {
        let preset = Preset { restarts: 3, random_directions: 2 };
        let (lists, settings) = (problem.lists(), settings(4, preset));
        let seeds = [seed, seed ^ 1, 7];
        let expected = with_run(1, |run| tune(&lists, &settings, &seeds, run)).unwrap();
        for threads in [2, 5] {
            prop_assert_eq!(&expected, &with_run(threads, |run| tune(&lists, &settings, &seeds, run)).unwrap());
        }
        // A seed's result does not depend on the other seeds.
        let alone = with_run(1, |run| tune(&lists, &settings, &seeds[1..2], run)).unwrap();
        prop_assert_eq!(&expected.weights[4..8], &alone.weights[..]);
        for (weights, &score) in expected.weights.chunks_exact(4).zip(&expected.scores) {
            prop_assert_eq!(problem.score(weights), score);
            prop_assert!((weights.iter().map(|weight| weight.abs()).sum::<f64>() - 1.0).abs() < 1e-12);
        }
        for from_to in expected.from_to.chunks_exact(2) {
            prop_assert!(lists.counts.gain(from_to[1]) >= lists.counts.gain(from_to[0]));
        }
    }

    #[test]
    fn with_two_features_the_best_of_all_parts_of_the_plane_is_found(problem in problem(2, 6, false)) {
        let all = problem.best_of(parts_2d(&problem).iter().map(|weights| problem.score(weights)));
        let preset = Preset { restarts: 20, random_directions: 5 };
        let found = problem.tuned(&settings(2, preset), &[3]).unwrap().scores[0];
        prop_assert_eq!(all, problem.best_of([all, found]), "better than the best");
        prop_assert_eq!(all, found);
    }
}

fn small() -> Problem {
    let (offsets, features) = (vec![0, 2, 3], vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    Problem { offsets, features, width: 2, counts: vec![1, 4, 3, 4, 0, 2], metric: "ter" }
}

/// Both entries are equally good at the start: 0 is an end of the best part of each axis, and the first entry is the worse.
#[test]
fn a_start_between_two_parts_moves_into_the_better_one() {
    let features = vec![1.0, 0.0, 0.0, 1.0];
    let problem = Problem { offsets: vec![0, 2], features, width: 2, counts: vec![1, 3, 0, 3], metric: "ter" };
    let of_axis = |axis: [f64; 2]| {
        let found = problem.search(&[0.5, 0.5], &axis);
        (found.interval, found.position, found.score)
    };
    let expected = [((f64::NEG_INFINITY, 0.0), -0.1, 0.0), ((0.0, f64::INFINITY), 0.1, 0.0)];
    assert_eq!(expected, [[1.0, 0.0], [0.0, 1.0]].map(of_axis));
    let start = Settings { start: vec![0.5, 0.5], ..settings(2, Preset { restarts: 0, random_directions: 0 }) };
    let got = problem.tuned(&start, &[1]).unwrap();
    assert_eq!((vec![0.0], vec![1]), (got.scores, got.steps));
}

#[test]
fn on_a_plateau_the_weights_stay() {
    let problem = Problem { counts: vec![0; 30], metric: "bleu", ..small() };
    let got = problem.tuned(&settings(2, Preset::named("cdec").unwrap()), &[1]).unwrap();
    assert_eq!((vec![1.0, 0.0], vec![0.0], vec![0]), (got.weights, got.scores, got.steps));
}

#[test]
fn wrong_arguments_are_refused_with_their_facts() {
    let problem = small();
    let lists = |offsets: &[i64], features: &[f64], counts: &[i64]| {
        Lists::new(offsets, (features, 2), counts, problem.formula(), &Stop::never()).err().unwrap().to_string()
    };
    let (features, counts) = (&problem.features[..], &problem.counts[..]);
    assert!(lists(&[0], features, counts).starts_with("lists of candidates: expected at least one"));
    assert!(lists(&[1, 2], features, counts).starts_with("offsets of lists must be numbers that begin with 0"));
    assert!(lists(&[0, 3, 3], features, counts).starts_with("candidates of sentence 2: expected at least one"));
    assert_eq!("dense features: expected 6, got 5", lists(&[0, 3], &features[1..], counts));
    assert_eq!("counts of candidates: expected 6, got 4", lists(&[0, 3], features, &counts[2..]));
    for wrong in [f64::NAN, f64::INFINITY, 1e101] {
        assert!(lists(&[0, 3], &[wrong, 0.0, 0.0, 1.0, 1.0, 1.0], counts).contains("features must be finite"));
    }
    assert!(lists(&[0, 2, 3], features, &[(1 << 62) - 1, 1, 0, 1, 2, 1]).contains("column 0"));
    let refused = |change: fn(&mut Settings)| {
        let mut settings = settings(2, Preset::named("moses").unwrap());
        change(&mut settings);
        problem.tuned(&settings, &[1]).unwrap_err().to_string()
    };
    assert_eq!("start: expected 2, got 0", refused(|settings| settings.start.clear()));
    assert_eq!("low must be at most high, which is -2, got -1", refused(|settings| settings.high[1] = -2.0));
    assert_eq!("margin must be a number of at least 0, got NaN", refused(|settings| settings.rules.margin = f64::NAN));
    assert!(refused(|settings| settings.preset.restarts = 1 << 24).starts_with("restarts must be below 16777216"));
    assert!(Preset::named("mose").unwrap_err().to_string().contains("known: moses, cdec, both"));
}

#[test]
fn a_search_can_be_stopped() {
    let problem = small();
    let settings = settings(2, Preset::named("both").unwrap());
    let got = stopped(1, 0, |run| tune(&problem.lists(), &settings, &[1; 1000], run));
    assert_eq!(Some(Error::Interrupted), got.err());
}
