use std::sync::Arc;

use super::*;
use crate::metric::{Metric, metric};
use crate::resample::tests::{Replicates, flips, reduced, sample, seeded, statistics, with_run};
use crate::resample::{Alternative, Kind, Sample};
use crate::stream::{Purpose, Stream};

/// Counts of three systems: the second often better than the first, the third equal to it.
fn counts(segments: usize) -> Vec<i64> {
    let mut words = Stream::new(95, Purpose::Draw, 0).values();
    let first: Vec<i64> = (0..segments * 10).map(|_| 20 + (words.next().unwrap() % 10) as i64).collect();
    let second = first.iter().map(|&count| count + i64::from(words.next().unwrap().is_multiple_of(5))).collect();
    [first.clone(), second, first].concat()
}

const PAIRS: [Pair; 4] = [(0, 1), (0, 2), (2, 1), (1, 0)];
const N: usize = 700;

/// Runs `body` on a family of two metrics, with the statistics of all shuffles.
fn on_a_family(body: impl Fn(&[Sample<'_>], &[f64], &[f64])) {
    let counts = counts(80);
    let [bleu, order_2] =
        [4, 2].map(|n| metric("bleu", &[("max_ngram_order", crate::metric::Value::Integer(n))]).unwrap());
    let narrow: Vec<i64> = counts.chunks(10).flat_map(|row| [row[0], row[1], row[2], row[3], row[6], row[7]]).collect();
    let scored = [sample(bleu.clone(), &counts, 3), sample(order_2.clone(), &narrow, 3)];
    let differences = |(sample, formula): (&Sample<'_>, &Arc<dyn Metric>)| {
        let scores: Vec<f64> = sample.stats.totals().chunks(formula.width()).map(|t| formula.score(t)).collect();
        PAIRS.map(|(x, y)| scores[x] - scores[y])
    };
    let observed: Vec<f64> = scored.iter().zip([&bleu, &order_2]).flat_map(differences).collect();
    let shuffled = statistics(&scored, &PAIRS, plan(), 1).unwrap();
    body(&scored, &observed, &shuffled);
}

fn plan() -> Replicates<'static> {
    seeded(6, 0, N)
}

fn max_t(
    samples: &[Sample<'_>],
    pairs: &[Pair],
    (alternative, scales, thresholds, families): (Alternative, &[f64], &[f64], &[usize]),
    replicates: Replicates<'_>,
) -> Result<Vec<u64>> {
    let (scales, thresholds) = (scales.to_vec(), thresholds.to_vec());
    let max_t = MaxT::new(pairs.to_vec(), alternative, scales, thresholds, families.to_vec());
    Ok(reduced((samples, Kind::Shuffles), max_t, replicates, 2)?.counts().to_vec())
}

fn min_p(
    samples: &[Sample<'_>],
    pairs: &[Pair],
    (alternative, thresholds, tolerance): (Alternative, &[f64], f64),
    (ranks, families): (&[u64], &[usize]),
    replicates: Replicates<'_>,
) -> Result<Vec<u64>> {
    let observed = (thresholds.to_vec(), vec![tolerance; thresholds.len()]);
    let mut min_p = MinP::new(pairs.to_vec(), alternative, observed, ranks.to_vec(), families.to_vec());
    with_run(2, |run| min_p.run(&Resampler::prepare(samples, Kind::Shuffles, run)?, replicates, run))?;
    Ok(min_p.counts().to_vec())
}

const ALTERNATIVES: [Alternative; 3] = [Alternative::TwoSided, Alternative::Greater, Alternative::Less];

#[test]
fn spreads_are_root_mean_squares_for_any_number_of_threads() {
    on_a_family(|scored, _, shuffled| {
        let spreads = |threads| {
            let spread = Spread::new(PAIRS.to_vec());
            reduced((scored, Kind::Shuffles), spread, plan(), threads).unwrap().values()
        };
        let got = spreads(1);
        for (series, got) in shuffled.chunks(N).zip(&got) {
            let expected = (series.iter().map(|t| t * t).sum::<f64>() / N as f64).sqrt();
            assert!((expected - got).abs() <= 1e-12 * expected, "{expected} {got}");
        }
        assert_eq!(0.0, got[1]);
        for threads in [2, 3, 5] {
            assert_eq!(got, spreads(threads));
        }
    });
}

/// The families of both metrics: apart, in another order, and together.
const FAMILIES: [[usize; 2]; 3] = [[0, 1], [7, 2], [3, 3]];

#[test]
fn max_t_equals_the_definition() {
    on_a_family(|scored, observed, shuffled| {
        let scales: Vec<f64> = (0..8).map(|i| [1.0, 0.0, 2.5, 0.7, 1.3, 0.0, 0.4, 2.0][i]).collect();
        for (alternative, families) in ALTERNATIVES.iter().flat_map(|&a| FAMILIES.map(|families| (a, families))) {
            let thresholds: Vec<f64> =
                observed.iter().zip(&scales).map(|(&t, scale)| alternative.extremeness(t) * scale).collect();
            let criterion = (alternative, scales.as_slice(), thresholds.as_slice(), families.as_slice());
            let got = max_t(scored, &PAIRS, criterion, plan()).unwrap();
            for series in 0..8 {
                // The test itself and all that are less extreme; of equally extreme ones those after it.
                let among: Vec<_> = (0..8)
                    .filter(|s| families[s / 4] == families[series / 4])
                    .filter(|&s| {
                        thresholds[s] < thresholds[series] || (thresholds[s] == thresholds[series] && s >= series)
                    })
                    .collect();
                let reached = |r: &usize| {
                    let extreme = |&s: &usize| alternative.extremeness(shuffled[s * N + r]) * scales[s];
                    among.iter().map(extreme).any(|extreme| extreme >= thresholds[series])
                };
                let what = format!("{series} {alternative:?} {families:?}");
                assert_eq!((0..N).filter(reached).count() as u64, got[series], "{what}");
            }
        }
    });
}

#[test]
fn min_p_equals_the_definition() {
    on_a_family(|scored, observed, shuffled| {
        // With the second tolerance many shuffles are ties with the observed statistics.
        for (alternative, tolerance) in ALTERNATIVES.iter().flat_map(|&a| [(a, 0.0), (a, 0.2)]) {
            // Row by row, how extreme the shuffles and, last, the observed arrangement are.
            let extreme = |s: usize, r: usize| {
                let of_observed = alternative.extremeness(observed[s]);
                let extreme = if r == N { of_observed } else { alternative.extremeness(shuffled[s * N + r]) };
                if (extreme - of_observed).abs() <= tolerance { of_observed } else { extreme }
            };
            let own = |s: usize, r: usize| (0..=N).filter(|&other| extreme(s, other) >= extreme(s, r)).count() as u64;
            let own: Vec<Vec<u64>> = (0..8).map(|s| (0..=N).map(|r| own(s, r)).collect()).collect();
            let ranks: Vec<u64> = own.iter().map(|ranks| ranks[N]).collect();
            let thresholds: Vec<f64> = observed.iter().map(|&t| alternative.extremeness(t) - tolerance).collect();
            for families in FAMILIES {
                let criterion = (alternative, thresholds.as_slice(), tolerance);
                let of_ranks = (ranks.as_slice(), families.as_slice());
                let got = min_p(scored, &PAIRS, criterion, of_ranks, plan()).unwrap();
                for series in 0..8 {
                    let among: Vec<_> = (0..8)
                        .filter(|s| families[s / 4] == families[series / 4])
                        .filter(|&s| ranks[s] > ranks[series] || (ranks[s] == ranks[series] && s >= series))
                        .collect();
                    let reached = |&r: &usize| among.iter().any(|&s| own[s][r] <= ranks[series]);
                    let what = format!("{series} {alternative:?} {tolerance} {families:?}");
                    assert_eq!((0..N).filter(reached).count() as u64, got[series], "{what}");
                }
            }
        }
    });
}

/// Two systems that differ by 3 in the first unit and by 1 in the second, under a mean, and the pair in both orders:
/// statistics are ±2 and ±1, each in one of the four shuffles.
fn on_ties(body: impl Fn(&[Sample<'_>], Replicates<'_>)) {
    let mean = crate::metric::Mean::new("x".into(), 1.0, true);
    let scored = [sample(Arc::new(mean), &[3, 1, 1, 1, 0, 1, 0, 1], 2)];
    body(&scored, flips(&[0b00, 0b01, 0b10, 0b11], 4));
}

#[test]
fn a_largest_statistic_equal_to_the_threshold_counts() {
    on_ties(|scored, plan| {
        let computed = |alternative, thresholds: [f64; 2]| {
            let criterion = (alternative, [1.0, 1.0].as_slice(), thresholds.as_slice(), [0].as_slice());
            max_t(scored, &[(0, 1), (1, 0)], criterion, plan.clone()).unwrap()
        };
        // The larger of both statistics, which are t and −t, is 2 in two shuffles and 1 in two.
        assert_eq!(vec![2, 4], computed(Alternative::TwoSided, [2.0, 1.0]));
        // The less extreme test has t ≥ 1 in two of four shuffles; the other test is the larger of both.
        assert_eq!(vec![2, 2], computed(Alternative::Greater, [2.0, 1.0]));
        assert_eq!(vec![2, 2], computed(Alternative::Greater, [1.0, 2.0]));
    });
}

#[test]
fn tied_statistics_share_the_worse_rank_and_a_rank_equal_to_the_observed_one_counts() {
    on_ties(|scored, plan| {
        // The statistics of the shuffles are 2, 1, 1, 2 in size. With the observed 2 among them, 2 has rank 3 and 1 has
        // rank 5.
        for (rank, expected) in [(2, 0), (3, 2), (4, 2), (5, 4)] {
            for tolerance in [0.0, 0.25] {
                let thresholds = [2.0 - tolerance];
                let criterion = (Alternative::TwoSided, thresholds.as_slice(), tolerance);
                let ranks = [rank];
                let ranks = (ranks.as_slice(), [0].as_slice());
                let got = min_p(scored, &[(0, 1)], criterion, ranks, plan.clone()).unwrap();
                assert_eq!(vec![expected], got, "{rank} {tolerance}");
            }
        }
    });
    let ranks = |observed| own_ranks(&[2.0, 1.0, 1.0, 2.0], observed, &Stop::never()).unwrap();
    assert_eq!([vec![3, 5, 5, 3], vec![2, 5, 5, 2], vec![2, 4, 4, 2]], [2.0, 1.0, 0.5].map(ranks));
}

#[test]
fn arrays_that_do_not_fit_the_family_are_refused() {
    on_a_family(|scored, observed, _| {
        let error = |got: Result<Vec<u64>>| got.unwrap_err().to_string();
        let two_sided = Alternative::TwoSided;
        assert_eq!(
            "scales: expected 8, got 1",
            error(max_t(scored, &PAIRS, (two_sided, &[1.0], observed, &[0, 1]), plan()))
        );
        assert_eq!(
            "families: expected 2, got 1",
            error(max_t(scored, &PAIRS, (two_sided, &[1.0; 8], observed, &[0]), plan()))
        );
        let families = [0, 1, 2].as_slice();
        assert_eq!(
            "families: expected 2, got 3",
            error(min_p(scored, &PAIRS, (two_sided, observed, 0.0), (&[1; 8], families), plan()))
        );
        assert_eq!(
            "ranks: expected 8, got 1",
            error(min_p(scored, &PAIRS, (two_sided, observed, 0.0), (&[1], &[0, 1]), plan()))
        );
    });
}
