use reshuffle::resample::reduce::Tally;
use reshuffle::resample::{Alternative, Kind, Plan, Resampler, Sample};
use reshuffle::{metric, pool::Run, stats::SuffStats};

pub fn main() -> reshuffle::Result<()> {
    let bleu = metric::metric("bleu", &[])?;
    let references = [vec![Some("the cat sat on the mat"), Some("it rained all day long")]];
    let systems = [vec!["the cat sat on a mat", "it rained all day long"], vec!["a cat on mat", "rain all day long"]];
    let mut run = Run { threads: 0, watch: &mut |_done| Ok(()) };
    let counts = metric::count(&[bleu.as_ref()], &systems, &references, &mut run)?;
    let sample = Sample::new(bleu.clone(), SuffStats::new(&counts[0], 2, 2, bleu.columns().len())?)?;
    let resampler = Resampler::prepare(&[sample], Kind::Shuffles, &mut run)?;
    let scores = &resampler.scores().expect("the sample has a metric")[0];
    let mut tally = Tally::new(vec![(0, 1)], Alternative::TwoSided, vec![(scores[0] - scores[1]).abs()]);
    resampler.run((Plan::Seeded(12345), 0..9999), &mut [&mut tally], &mut run)?;
    assert!((0.45..0.55).contains(&((tally.counts()[0] + 1) as f64 / 10_000.0)));
    Ok(())
}
