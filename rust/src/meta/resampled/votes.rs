//! Differences of Kendall's τ from people's votes between two metrics whose cells are swapped.

use std::ops::Range;

use super::super::votes::{Judgment, Votes};
use super::Material;
use super::flips::Flips;
use super::form::{self, Form};
use super::permute::run_pairs;
use crate::error::{Error, Result, named};
use crate::memory::zeros;
use crate::meta::{Unit, check_pairs};
use crate::pool::{Run, Stop};
use crate::resample::{BATCH, length};
use crate::simd::Simd;

/// What a tie of the metric counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieRule {
    /// Half concordant and half discordant, which is the same as counting it in the denominator only.
    Half,
    Discordant,
    /// Nothing.
    Ignore,
}

impl TieRule {
    pub fn named(name: &str) -> Result<Self> {
        let known = [
            ("half", TieRule::Half),
            ("discordant", TieRule::Discordant),
            ("ignore", TieRule::Ignore),
            ("denominator", TieRule::Half),
        ];
        named("tie rule", name, &known)
    }
}

/// The cells of a vote by their place in the material, and its weight.
type Vote = (u32, u32, i32);

/// The votes on cells that all metrics have scored.
fn on(material: &Material, votes: Votes<'_>, run: &mut Run<'_>) -> Result<Vec<Vote>> {
    let [systems, segments] = material.shape;
    let judgments = run.without_progress(|run| votes.checked((systems, segments), run))?;
    let sum: i64 = judgments.iter().map(|judgment| judgment.votes).sum();
    // Sums of four counts per vote must fit in 32 bits.
    if sum >= 1 << 28 {
        return Err(Error::invalid("the number of votes", "less than 2^28", sum));
    }
    let mut places = vec![u32::MAX; systems * segments];
    material.cells.iter().zip(0..).for_each(|(&cell, place)| places[cell as usize] = place);
    let placed = |judgment: Judgment| (places[judgment.better], places[judgment.worse], judgment.votes as i32);
    Ok(judgments.into_iter().map(placed).filter(|vote| vote.0.max(vote.1) != u32::MAX).collect())
}

/// The differences τ(A') − τ(B') of the given pairs of metrics, in the order pair, replicate. NaN where τ is undefined.
///
/// Votes on a cell that a metric has not scored are left out.
pub fn permuted_votes(
    material: &Material,
    (votes, rule): (Votes<'_>, TieRule),
    pairs: &[[usize; 2]],
    (seed, unit): (u64, Unit),
    replicates: Range<u64>,
    run: &mut Run<'_>,
) -> Result<Vec<f64>> {
    check_pairs(pairs, material.scores.len())?;
    let votes = on(material, votes, run)?;
    let n = length(&replicates);
    let mut out: Vec<f64> = zeros(&[pairs.len(), n])?;
    if n == 0 || pairs.is_empty() {
        return Ok(out);
    }
    for (first, part) in Flips::batches(material, &replicates) {
        let flips = Flips::new(material, (seed, unit), part.clone())?;
        let done = (first * pairs.len()) as u64;
        let work = |pair: usize, blocks: Range<usize>, stop: &Stop<'_>| {
            let scores = pairs[pair].map(|metric| material.scores[metric].as_slice());
            differences(scores, (&votes, rule), (&flips, blocks), stop)
        };
        let cost = BATCH * (material.cells.len() + votes.len());
        let mut keep = |pair: usize, at: usize, values: &[f64]| {
            out[pair * n + first + at..][..values.len()].copy_from_slice(values);
        };
        run.reporting(|n| done + n, |run| run_pairs([pairs.len(), length(&part)], cost, run, work, &mut keep))?;
    }
    Ok(out)
}

fn differences(
    scores: [&[f64]; 2],
    (votes, rule): (&[Vote], TieRule),
    (flips, blocks): (&Flips, Range<usize>),
    stop: &Stop<'_>,
) -> Result<Vec<f64>> {
    let cells: Vec<u32> = (0..scores[0].len() as u32).collect();
    // A form takes the pairs of cells by the later one.
    let mut sorted: Vec<(u32, u32, i32, bool)> = votes
        .iter()
        .map(|&(better, worse, votes)| (better.max(worse), better.min(worse), votes, better > worse))
        .collect();
    sorted.sort_unstable();
    let form = |count: &dyn Fn(f64, f64) -> i32| {
        Form::new(cells.len(), |add| {
            for &(i, j, votes, better_first) in &sorted {
                let of = |f: usize, g: usize| {
                    let (x, y) = (scores[f][i as usize], scores[g][j as usize]);
                    votes * if better_first { count(x, y) } else { count(y, x) }
                };
                add(i as usize, j as usize, [of(0, 0), of(1, 0), of(0, 1), of(1, 1)]);
            }
        })
    };
    let all: i64 = votes.iter().map(|(.., votes)| i64::from(*votes)).sum();
    let order = form(&|better, worse| match rule {
        TieRule::Discordant => 2 * i32::from(better > worse) - 1,
        _ => i32::from(better > worse) - i32::from(better < worse),
    });
    let ties = (rule == TieRule::Ignore).then(|| form(&|better, worse| i32::from(better == worse)));
    let (simd, mut out) = (Simd::best(), Vec::with_capacity(blocks.len() * BATCH));
    for block in blocks {
        stop.check()?;
        let rows = flips.bytes(block);
        match &ties {
            None => {
                let mut difference = [0_i32; BATCH];
                form::difference(simd, &order, rows, &cells, &mut difference);
                out.extend(difference.map(|difference| f64::from(difference) / all as f64));
            }
            Some(ties) => {
                let [order, ties] = [&order, ties].map(|form| {
                    let mut counts = [[0_i32; BATCH]; 2];
                    form::counts(simd, form, rows, &cells, &mut counts);
                    counts
                });
                let tau = |side: usize, lane: usize| {
                    f64::from(order[side][lane]) / (all as f64 - f64::from(ties[side][lane]))
                };
                out.extend((0..BATCH).map(|lane| tau(0, lane) - tau(1, lane)));
            }
        }
    }
    Ok(out)
}
