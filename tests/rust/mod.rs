//! Tests of the public API of the crate: texts in, exceedance counts out.

mod damaged;
mod example;

use std::ops::Range;

use reshuffle::metric::{self, Value};
use reshuffle::pool::Run;
use reshuffle::resample::reduce::{Draws, Tally};
use reshuffle::resample::{Alternative, Kind, Plan, Resampler, Sample, random_codes};
use reshuffle::stats::SuffStats;
use reshuffle::study::Population;
use reshuffle::{Error, Result};

const REFERENCE: [&str; 4] =
    ["The ferry leaves at nine.", "Nobody saw the second letter.", "It costs 3.50, or less.", "Rain again!"];
const NEAR: [&str; 4] =
    ["The ferry leaves at nine.", "No one saw the second letter.", "It costs 3.50, or less.", "Rain!"];
const FAR: [&str; 4] =
    ["Ferry goes at 9.", "The second letter nobody saw.", "It cost 3,50 or less.", "Again it rains!"];

fn with_run<T>(body: impl FnOnce(&mut Run<'_>) -> Result<T>) -> Result<T> {
    body(&mut Run { threads: 2, watch: &mut |_| Ok(()) })
}

fn counts(metric: &dyn metric::Metric) -> Result<Vec<i64>> {
    let references = [REFERENCE.map(Some).to_vec()];
    with_run(|run| metric::count(&[metric], &[NEAR.to_vec(), FAR.to_vec()], &references, run))
        .map(|mut all| all.remove(0))
}

#[test]
fn the_example_of_the_documentation_runs() -> Result<()> {
    example::main()
}

#[test]
fn from_texts_to_a_p_value() -> Result<()> {
    let bleu = metric::metric("bleu", &[("lowercase", Value::Flag(true))])?;
    let counts = counts(bleu.as_ref())?;
    let stats = SuffStats::new(&counts, 2, 4, bleu.columns().len())?;
    let scores: Vec<f64> = stats.totals().chunks(bleu.columns().len()).map(|totals| bleu.score(totals)).collect();
    assert!(scores[0] > scores[1]);

    // Each of the sixteen shuffles of four segments, once, gives the exact p-value.
    let masks: Vec<u64> = (0..16).collect();
    let resampler = with_run(|run| Resampler::prepare(&[Sample::new(bleu, stats)?], Kind::Shuffles, run))?;
    let tally = |plan: Plan<'_>, replicates: Range<u64>| {
        let mut tally = Tally::new(vec![(0, 1)], Alternative::TwoSided, vec![scores[0] - scores[1]]);
        with_run(|run| resampler.run((plan, replicates), &mut [&mut tally], run))?;
        Ok::<_, Error>(tally.counts()[0])
    };
    let exact = tally(Plan::Flips(&masks), 0..16)?;
    // The same patterns as codes of one bit each; then as many shuffles from a random subgroup.
    assert_eq!(exact, tally(Plan::Codes(&[1, 2, 4, 8]), 0..16)?);
    assert!(tally(Plan::Codes(&random_codes(1, 4)), 0..16)? >= 1, "the observed arrangement is in the subgroup");
    let sampled = tally(Plan::Seeded(1), 0..100_000)?;
    let (exact, sampled) = (exact as f64 / 16.0, sampled as f64 / 100_000.0);
    assert!((exact - sampled).abs() < 5.0 * (exact * (1.0 - exact) / 100_000.0).sqrt(), "{exact} {sampled}");
    Ok(())
}

#[test]
fn an_error_of_the_watcher_stops_a_long_call_between_blocks() -> Result<()> {
    let bleu = metric::metric("bleu", &[])?;
    let counts = counts(bleu.as_ref())?;
    let sample = Sample::new(bleu, SuffStats::new(&counts, 2, 4, 10)?)?;
    let resampler = with_run(|run| Resampler::prepare(&[sample], Kind::Shuffles, run))?;
    let mut watch = |_| Err(Error::Interrupted);
    let mut run = Run { threads: 2, watch: &mut watch };
    let start = std::time::Instant::now();
    // 2^40 shuffles would take days, but counting them takes no memory.
    let mut tally = Tally::new(vec![(0, 1)], Alternative::Less, vec![0.0]);
    let outcome = resampler.run((Plan::Seeded(1), 0..1 << 40), &mut [&mut tally], &mut run);
    assert_eq!(Err(Error::Interrupted), outcome);
    assert!(start.elapsed().as_secs() < 5);
    Ok(())
}

#[test]
fn draws_of_one_system_do_not_depend_on_the_others() -> Result<()> {
    let bleu = metric::metric("bleu", &[])?;
    let counts = counts(bleu.as_ref())?;
    let draw_scores = |counts: &[i64], systems| {
        let sample = Sample::new(bleu.clone(), SuffStats::new(counts, systems, 4, 10)?)?;
        let mut draws = Draws::default();
        with_run(|run| {
            let resampler = Resampler::prepare(&[sample], Kind::Draws(&[]), run)?;
            resampler.run((Plan::Seeded(3), 0..50), &mut [&mut draws], run)
        })?;
        Ok::<_, Error>(draws.into_scores())
    };
    assert_eq!(draw_scores(&counts, 2)?[50..], draw_scores(&counts[40..], 1)?);
    Ok(())
}

#[test]
fn a_group_that_would_leave_others_empty_is_refused() -> Result<()> {
    let length = metric::metric("length", &[])?;
    let counts = vec![1; 2 * 3 * length.width()];
    let sample = || Sample::new(length.clone(), SuffStats::new(&counts, 2, 3, length.width())?);
    let with = |groups: &[u32]| with_run(|run| Population::new(&[sample()?], Some(groups), run));
    assert!(with(&[0, 2, 1]).is_ok());
    for wrong in [3, u32::MAX] {
        let expected = Error::OutOfRange { what: "group".into(), index: wrong as usize, len: 3 };
        assert_eq!(Some(expected), with(&[0, wrong, 1]).err());
    }
    Ok(())
}
