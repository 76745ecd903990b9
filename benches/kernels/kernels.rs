//! The kernels without Python: `cargo bench --manifest-path benches/kernels/Cargo.toml`. Times are per call on one thread.
//!
//! Texts are synthetic, of the size of a news test set (3,004 segments of about twenty words), so that the benchmark
//! needs no data. `python -m benches.races` measures real systems and other tools.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use reshuffle::metric::{self, Metric};
use reshuffle::pool::Run;
use reshuffle::resample::reduce::{Draws, Tally};
use reshuffle::resample::{Alternative, Kind, Plan, Reduction, Resampler, Sample, random_codes};
use reshuffle::stats::SuffStats;
use reshuffle::stream::{Purpose, Stream};
use reshuffle::text::tokenize;

const SEGMENTS: usize = 3004;

/// Synthetic text in which frequent words are short; systems differ from the reference (system 0) at random.
fn text(system: u64) -> Vec<String> {
    let mut words = Stream::new(1, Purpose::Draw, 0).values();
    let mut noise = Stream::new(2, Purpose::Draw, system).values();
    let line = |_| {
        let length = 8 + words.next().unwrap() % 24;
        let mut line = String::new();
        for _ in 0..length {
            let (word, noise) = (words.next().unwrap(), noise.next().unwrap());
            let rank = (word % 3000 + 1).min(word >> 8 & 0xfff) + u64::from(noise % 4 == 0 && system > 0);
            line.push_str(&format!("w{rank}{} ", if noise % 9 == 0 { "," } else { "" }));
        }
        line.push('.');
        // A moved phrase, for TER to find.
        if system > 0 && length.is_multiple_of(4) {
            let third = line.match_indices(' ').nth(2).map_or(0, |(i, _)| i + 1);
            line = format!("{} {}", &line[third..], line[..third].trim_end());
        }
        line
    };
    (0..SEGMENTS).map(line).collect()
}

fn with_run<T>(body: impl FnOnce(&mut Run<'_>) -> T) -> T {
    body(&mut Run { threads: 1, watch: &mut |_| Ok(()) })
}

fn counts(metric: &dyn Metric, systems: &[Vec<String>], references: &[Vec<Option<String>>]) -> Vec<i64> {
    with_run(|run| metric::count(&[metric], systems, references, run)).unwrap().remove(0)
}

fn bench(c: &mut Criterion) {
    let bleu = metric::metric("bleu", &[]).unwrap();
    let references = [text(0).into_iter().map(Some).collect::<Vec<_>>()];
    let systems: Vec<_> = (1..=16).map(text).collect();
    let bytes: usize = systems[0].iter().map(String::len).sum();

    // Tokenization limits the speed of counting.
    let mut group = c.benchmark_group("text, one system");
    group.throughput(Throughput::Bytes(bytes as u64));
    group.bench_function("tokenize 13a", |b| {
        let tokenizer = tokenize::tokenizer("13a").unwrap();
        b.iter(|| {
            systems[0].iter().for_each(|line| {
                tokenizer.tokenize(line, &mut |token| {
                    black_box(token);
                })
            })
        });
    });
    group.finish();

    // A single system bears the whole cost of the references; each of sixteen systems in one call bears a sixteenth.
    // WER computes only the distance, so its difference from TER is the cost of the shifts.
    for k in [1, systems.len()] {
        let mut group = c.benchmark_group(format!("count, {k} of 16 systems"));
        group.sample_size(10).throughput(Throughput::Elements((k * SEGMENTS) as u64));
        group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
        for name in ["bleu", "sentbleu", "nist", "chrf", "chrf++", "ter", "wer"] {
            let metric = metric::metric(name, &[]).unwrap();
            group.bench_function(name, |b| b.iter(|| counts(metric.as_ref(), &systems[..k], &references)));
        }
        group.finish();
    }

    // Generating random numbers is a lower bound for both kernels.
    let mut group = c.benchmark_group("stream");
    group.throughput(Throughput::Elements(SEGMENTS as u64));
    group.bench_function("3,004 flips", |b| {
        b.iter(|| {
            Stream::new(1, Purpose::Shuffle, black_box(3)).values().take(SEGMENTS.div_ceil(64)).fold(0, |a, w| a ^ w)
        });
    });
    group.bench_function("3,004 indices", |b| {
        let mut out = vec![0; SEGMENTS];
        b.iter(|| Stream::new(1, Purpose::Draw, black_box(3)).indices(SEGMENTS as u32).fill(&mut out));
    });
    group.finish();

    let counts = counts(bleu.as_ref(), &systems, &references);
    let size = SEGMENTS * bleu.columns().len();
    for (systems, n) in [(2, 10_000), (16, 1_000)] {
        let stats = SuffStats::new(&counts[..systems * size], systems, SEGMENTS, bleu.columns().len()).unwrap();
        let sample = [Sample::new(bleu.clone(), stats).unwrap()];
        let pairs: Vec<_> = (0..systems).flat_map(|x| (0..x).map(move |y| (x, y))).collect();
        let tally = || Tally::new(pairs.clone(), Alternative::TwoSided, vec![0.5; pairs.len()]);
        let prepared = |kind| with_run(|run| Resampler::prepare(&sample, kind, run)).unwrap();
        let run = |resampler: &Resampler, plan: Plan<'_>, reduction: &mut dyn Reduction| {
            with_run(|run| resampler.run((plan, 0..n as u64), &mut [reduction], run)).unwrap();
        };
        let mut group = c.benchmark_group(format!("{systems} systems, {n} replicates"));
        group.sample_size(10);
        group.bench_function("prepare shuffles", |b| b.iter(|| prepared(Kind::Shuffles)));
        group.bench_function("prepare draws", |b| b.iter(|| prepared(Kind::Draws(&[]))));
        group.throughput(Throughput::Elements(n as u64));
        let shuffles = prepared(Kind::Shuffles);
        group.bench_function("shuffle, all pairs", |b| b.iter(|| run(&shuffles, Plan::Seeded(1), &mut tally())));
        group.bench_function("shuffle by a subgroup, all pairs", |b| {
            let codes = random_codes(1, SEGMENTS);
            b.iter(|| run(&shuffles, Plan::Codes(&codes), &mut tally()));
        });
        group.bench_function("draw", |b| {
            let draws = prepared(Kind::Draws(&[]));
            b.iter(|| run(&draws, Plan::Seeded(1), &mut Draws::default()));
        });
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
