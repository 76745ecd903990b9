//! The limits of the machine, and how close the kernels come to them, on one thread:
//! `cargo run --release --manifest-path benches/kernels/Cargo.toml`.
//!
//! First measures, with similar code, the bytes added per second in registers, the bytes read per second from the L1
//! cache, and the random numbers per second. They give a lower bound for the time of a kernel's additions, reads and
//! random numbers; comparing it with the kernel's own time shows the overhead of everything else.

use std::hint::black_box;
use std::time::Instant;

use reshuffle::metric;
use reshuffle::pool::Run;
use reshuffle::resample::reduce::{Draws, Tally};
use reshuffle::resample::{Alternative, Kind, Plan, Reduction, Resampler, Sample};
use reshuffle::simd::{Simd, dispatch};
use reshuffle::stats::SuffStats;
use reshuffle::stream::{Purpose, Stream, fill_by_replicate};

const SEGMENTS: usize = 3004;
const REPLICATES: usize = 20_000;
/// The columns of BLEU that are summed: in a shuffle of two systems, the differences of hyp_len and of the four matches;
/// in a draw, these columns of each system, and the reference length.
const SHUFFLED_COLUMNS: usize = 5;
const DRAWN_COLUMNS: usize = 11;

/// The shortest of several runs, in seconds.
fn best(mut body: impl FnMut()) -> f64 {
    let run = |_| {
        let start = Instant::now();
        body();
        start.elapsed().as_secs_f64()
    };
    (0..15).map(run).fold(f64::INFINITY, f64::min)
}

const ROWS: usize = 256; // 16 KiB: half an L1 cache
type Row = [u8; 64];

dispatch! {
    fn add_rows(rows: &[Row], times: usize) -> Row {
        let mut sums = [[0u8; 64]; 8];
        for _ in 0..times {
            for eight in black_box(rows).as_chunks::<8>().0 {
                for (sum, row) in sums.iter_mut().zip(eight) {
                    sum.iter_mut().zip(row).for_each(|(sum, byte)| *sum = sum.wrapping_add(*byte));
                }
            }
        }
        sums.iter().fold([0; 64], |all, sum| std::array::from_fn(|i| all[i] ^ sum[i]))
    }
}

dispatch! {
    fn add_registers(row: &Row, times: usize) -> Row {
        let mut sums = [*row; 8];
        for _ in 0..times {
            for _ in 0..ROWS / 8 {
                for sum in &mut sums {
                    // Each addition depends on the one before, and the compiler cannot turn the loop into a product.
                    sum.iter_mut().zip(row).for_each(|(sum, byte)| *sum = (*sum ^ *byte).wrapping_add(1));
                }
            }
        }
        sums.iter().fold([0; 64], |all, sum| std::array::from_fn(|i| all[i] ^ sum[i]))
    }
}

fn synthetic_counts() -> Vec<i64> {
    let mut values = Stream::new(1, Purpose::Draw, 0).values();
    let reference: Vec<i64> = (0..SEGMENTS).map(|_| 8 + (values.next().unwrap() % 24) as i64).collect();
    let mut counts = Vec::new();
    for _ in 0..2 {
        for &reference in &reference {
            let length = reference + (values.next().unwrap() % 5) as i64 - 2;
            counts.extend([length, reference]);
            let mut matches = length;
            for _ in 0..4 {
                matches = matches * (40 + (values.next().unwrap() % 40) as i64) / 100;
                counts.push(matches);
            }
            counts.extend([length, length - 1, length - 2, length - 3]);
        }
    }
    counts
}

fn main() {
    const TIMES: usize = 2000;
    let simd = Simd::chosen().expect("a SIMD path that this processor supports");
    let rows: Vec<Row> = (0..ROWS).map(|i| [i as u8; 64]).collect();
    let bytes = (64 * ROWS * TIMES) as f64;
    let read = bytes
        / best(|| {
            black_box(add_rows(simd, &rows, TIMES));
        });
    let added = 2.0 * bytes
        / best(|| {
            black_box(add_registers(simd, black_box(&rows[3]), TIMES));
        });
    let mut values = vec![0; 512 * 48];
    let stream = Stream::new(1, Purpose::Shuffle, 0);
    let drawn = 8.0 * values.len() as f64 / best(|| fill_by_replicate(simd, black_box(stream), 512, 0, &mut values));
    println!(
        "path {}; bytes per second: read from the L1 cache and added {:.0} G, added (and xored) in registers {:.0} G, random numbers {:.1} G\n",
        simd.name(),
        read / 1e9,
        added / 1e9,
        drawn / 1e9
    );

    let bleu = metric::metric("bleu", &[]).unwrap();
    let counts = synthetic_counts();
    let columns = bleu.columns().len();
    let sample = [Sample::new(bleu.clone(), SuffStats::new(&counts, 2, SEGMENTS, columns).unwrap()).unwrap()];
    let mut run = Run { threads: 1, watch: &mut |_| Ok(()) };
    // As in a comparison, the resampler is prepared and run once.
    let mut per_replicate = |kind: Kind<'_>, reduction: &mut dyn Reduction| {
        let seconds = best(|| {
            let resampler = Resampler::prepare(&sample, kind, &mut run).unwrap();
            resampler.run((Plan::Seeded(1), 0..REPLICATES as u64), &mut [&mut *reduction], &mut run).unwrap();
        });
        1e9 * seconds / REPLICATES as f64
    };
    let shuffled = per_replicate(Kind::Shuffles, &mut Tally::new(vec![(0, 1)], Alternative::TwoSided, vec![0.5]));
    let drawn_scores = per_replicate(Kind::Draws(&[]), &mut Draws::default());

    // SIMD paths look up and add a byte per column and six or four segments, and read a table once for two registers. The
    // portable path reads and adds a row of sixteen 16-bit columns per eight segments.
    let lookups = match simd.name() {
        "avx512" => SEGMENTS.div_ceil(64) * 11 * SHUFFLED_COLUMNS,
        "avx2" => SEGMENTS.div_ceil(64) * 16 * SHUFFLED_COLUMNS,
        _ => SEGMENTS.div_ceil(8) * 32,
    } as f64;
    // A product of two bytes per segment and column, in tiles of sixteen columns.
    let products = (SEGMENTS * DRAWN_COLUMNS.next_multiple_of(16)) as f64;
    let ns = |bytes: f64, rate: f64| 1e9 * bytes / rate;
    println!(
        "{:<28} {:>9} {:>9} {:>9} {:>9} {:>8}",
        "ns per replicate", "random", "additions", "reads", "measured", "bound"
    );
    for (name, random, additions, reads, measured) in [
        (
            "shuffle, pair, BLEU",
            ns(SEGMENTS as f64 / 8.0, drawn),
            ns(2.0 * lookups, added),
            ns(0.75 * lookups, read),
            shuffled,
        ),
        (
            "draw, pair, BLEU",
            ns(SEGMENTS as f64, drawn),
            ns(2.0 * products, added),
            ns(products / 16.0, read),
            drawn_scores,
        ),
    ] {
        // Reads overlap with additions; random numbers are generated beforehand.
        let bound = random + f64::max(additions, reads);
        println!(
            "{name:<28} {random:>9.1} {additions:>9.1} {reads:>9.1} {measured:>9.1} {:>7.0}%",
            100.0 * bound / measured
        );
    }
}
