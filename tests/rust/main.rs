//! The crate as its users see it: texts in, exceedance counts out, through the public API only.

use reshuffle::metric::{self, Value};
use reshuffle::pool::Run;
use reshuffle::resample::shuffle::{self, Alternative, Scheme};
use reshuffle::resample::{Plan, Scored, draw, subgroup};
use reshuffle::stats::SuffStats;
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
    with_run(|run| metric::count(metric, &[NEAR.to_vec(), FAR.to_vec()], &references, run))
}

#[test]
fn from_texts_to_a_p_value() -> Result<()> {
    let bleu = metric::metric("bleu", &[("lowercase".into(), Value::Flag(true))])?;
    let counts = counts(bleu.as_ref())?;
    let stats = SuffStats::new(&counts, 2, 4, bleu.columns().len())?;
    let scores: Vec<f64> = stats.totals().chunks(bleu.columns().len()).map(|totals| bleu.score(totals)).collect();
    assert!(scores[0] > scores[1]);

    // All sixteen shuffles of four segments, each once: the p-value without chance.
    let masks: Vec<u64> = (0..16).collect();
    let scored = [Scored::new(bleu.as_ref(), stats)?];
    let observed = [scores[0] - scores[1]];
    let criterion = (Alternative::TwoSided, observed.as_slice());
    let exact = with_run(|run| shuffle::tally(&scored, &[(0, 1)], criterion, (Plan::Given(&masks), 16), run))?[0];
    // The same patterns by codes of one bit each; then a group of as many replicates by random codes.
    let (codes, first) = ([1, 2, 4, 8], 0);
    let every = with_run(|run| {
        shuffle::tally(&scored, &[(0, 1)], criterion, (Scheme::Codes { codes: &codes, first }, 16), run)
    })?[0];
    assert_eq!(exact, every);
    let codes = subgroup::random_codes(1, 4);
    let group = with_run(|run| {
        shuffle::tally(&scored, &[(0, 1)], criterion, (Scheme::Codes { codes: &codes, first }, 16), run)
    })?[0];
    assert!(group >= 1, "what was observed is one of the group");
    let plan = (Plan::Seeded { seed: 1, first: 0 }, 100_000);
    let sampled = with_run(|run| shuffle::tally(&scored, &[(0, 1)], criterion, plan, run))?[0];
    let (exact, sampled) = (exact as f64 / 16.0, sampled as f64 / 100_000.0);
    assert!((exact - sampled).abs() < 5.0 * (exact * (1.0 - exact) / 100_000.0).sqrt(), "{exact} {sampled}");
    Ok(())
}

#[test]
fn a_watcher_stops_a_long_call_between_blocks() -> Result<()> {
    let bleu = metric::metric("bleu", &[])?;
    let counts = counts(bleu.as_ref())?;
    let scored = [Scored::new(bleu.as_ref(), SuffStats::new(&counts, 2, 4, 10)?)?];
    let mut watch = |_| Err(Error::Interrupted);
    let mut run = Run { threads: 2, watch: &mut watch };
    let begun = std::time::Instant::now();
    let plan = (Plan::Seeded { seed: 1, first: 0 }, 1 << 40);
    // 2^40 shuffles would take days; and counts of them would still take no memory.
    let outcome = shuffle::tally(&scored, &[(0, 1)], (Alternative::Less, &[0.0]), plan, &mut run);
    assert_eq!(Err(Error::Interrupted), outcome);
    assert!(begun.elapsed().as_secs() < 5);
    Ok(())
}

#[test]
fn draws_of_one_system_do_not_depend_on_the_others() -> Result<()> {
    let bleu = metric::metric("bleu", &[])?;
    let counts = counts(bleu.as_ref())?;
    let plan = (Plan::Seeded { seed: 3, first: 0 }, 50);
    let both = [Scored::new(bleu.as_ref(), SuffStats::new(&counts, 2, 4, 10)?)?];
    let second = [Scored::new(bleu.as_ref(), SuffStats::new(&counts[40..], 1, 4, 10)?)?];
    let both = with_run(|run| draw::scores(&both, &[], plan, run))?;
    assert_eq!(both[50..], with_run(|run| draw::scores(&second, &[], plan, run))?);
    Ok(())
}
