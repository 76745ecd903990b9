//! The search in the space of weights: from line to line, from several starts.

use super::sweep::Rules;
use super::{Buffers, Direction, LARGEST, Lists};
use crate::error::{Error, Result, named};
use crate::pool::{self, Run, Stop};
use crate::stream::{Purpose, Stream};

/// How many starts and directions a tool uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Preset {
    /// Starts drawn at random, besides the given one.
    pub restarts: usize,
    /// Directions drawn at random for each step, besides the axes.
    pub random_directions: usize,
}

impl Preset {
    /// All presets by their names in Python.
    const NAMED: [(&'static str, Preset); 3] = [
        ("moses", Preset { restarts: 20, random_directions: 0 }),
        ("cdec", Preset { restarts: 0, random_directions: 5 }),
        ("both", Preset { restarts: 20, random_directions: 5 }),
    ];

    pub fn named(name: &str) -> Result<Self> {
        named("preset", name, &Self::NAMED)
    }
}

/// How to search.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The first start.
    pub start: Vec<f64>,
    /// The least value of each weight at a start drawn at random.
    pub low: Vec<f64>,
    /// The largest value of each weight at a start drawn at random.
    pub high: Vec<f64>,
    /// How many starts and directions.
    pub preset: Preset,
    /// Which parts of a line count.
    pub rules: Rules,
    /// The most steps from one start.
    pub max_steps: usize,
}

/// What the searches of several seeds found.
#[derive(Debug, Clone, PartialEq)]
pub struct Runs {
    /// For each seed the best weights, whose absolute values sum to 1.
    pub weights: Vec<f64>,
    /// For each seed the score of these weights.
    pub scores: Vec<f64>,
    /// For each seed the start from which they were found: 0 is the given one.
    pub chosen: Vec<i64>,
    /// For each seed and start the scores at the start and at the end.
    pub from_to: Vec<f64>,
    /// For each seed and start the number of steps.
    pub steps: Vec<i64>,
}

/// The end of a search from one start.
struct End {
    weights: Vec<f64>,
    begun: f64,
    score: f64,
    steps: i64,
}

/// Weights whose absolute values sum to 1, unless all of them are 0.
fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().map(|weight| weight.abs()).sum();
    if sum > 0.0 {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    }
    weights
}

/// Random numbers from 0 to 1.
fn uniform(stream: Stream) -> impl Iterator<Item = f64> {
    stream.values().map(|value| (value >> 11) as f64 / (1_u64 << 53) as f64)
}

/// A vector of length 1 whose elements are drawn uniformly between −1 and 1 before it is scaled.
fn random_direction(numbers: &mut impl Iterator<Item = f64>, width: usize) -> Direction {
    let mut vector: Vec<f64> = numbers.take(width).map(|number| 2.0 * number - 1.0).collect();
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    Direction::Vector(vector)
}

/// Searches for the best weights, once for every seed. Seeds and starts are distributed over the threads.
///
/// Start number s > 0 of a seed draws its weights, and any start its directions, from part s of replicate 0 of the seed's
/// stream.
pub fn tune(lists: &Lists<'_>, settings: &Settings, seeds: &[u64], run: &mut Run<'_>) -> Result<Runs> {
    check(lists, settings)?;
    let starts = settings.preset.restarts + 1;
    let items = seeds.len().checked_mul(starts).ok_or(Error::Memory { numbers: u128::MAX })?;
    let cost = (lists.features.len() as u64).saturating_mul(100);
    let search =
        |buffers: &mut Buffers, item: usize, stop: &Stop<'_>| search(lists, settings, (seeds, item), buffers, stop);
    Ok(collect(lists, &pool::each(items, cost, run, Buffers::default, search)?, starts))
}

fn check(lists: &Lists<'_>, settings: &Settings) -> Result<()> {
    let Settings { start, low, high, preset, rules, .. } = settings;
    rules.check()?;
    for (what, weights) in [("start", start), ("low", low), ("high", high)] {
        lists.check_weights(what, weights)?;
    }
    if let Some((low, high)) = low.iter().zip(high).find(|(low, high)| low > high) {
        return Err(Error::invalid("low", format!("at most high, which is {high}"), low));
    }
    // A stream has 2^24 parts, and each direction has corners in memory.
    let limits = [("restarts", preset.restarts, 1 << 24), ("random_directions", preset.random_directions, 1 << 16)];
    for (option, got, limit) in limits {
        if got >= limit {
            return Err(Error::invalid(option, format!("below {limit}"), got));
        }
    }
    Ok(())
}

/// The search from a start. `item` counts the starts of the first seed, then those of the second one, and so on.
fn search(
    lists: &Lists<'_>,
    settings: &Settings,
    (seeds, item): (&[u64], usize),
    buffers: &mut Buffers,
    stop: &Stop<'_>,
) -> Result<End> {
    let starts = settings.preset.restarts + 1;
    let (seed, start) = (seeds[item / starts], item % starts);
    let mut numbers = uniform(Stream::new(seed, Purpose::Tuning, 0).part(start as u32));
    let mut weights = match start {
        0 => settings.start.clone(),
        _ => {
            let ranges = settings.low.iter().zip(&settings.high);
            ranges.zip(&mut numbers).map(|((low, high), number)| low + (high - low) * number).collect()
        }
    };
    weights = normalised(weights);
    let axes: Vec<_> = (0..lists.width).map(Direction::Axis).collect();
    let mut directions = axes.clone();
    let (mut steps, mut begun, mut before) = (0, f64::NAN, None);
    loop {
        directions.truncate(axes.len());
        let random = 0..settings.preset.random_directions;
        directions.extend(random.map(|_| random_direction(&mut numbers, lists.width)));
        let here = lists.corners(&weights, &directions, buffers, stop)?;
        if steps == 0 {
            begun = here;
        }
        if let Some((earlier, score)) = before.take()
            && lists.counts.gain(here) <= lists.counts.gain(score)
        {
            // Rounding errors or ties have undone the gain.
            weights = earlier;
            steps -= 1;
            break;
        }
        if steps as usize >= settings.max_steps {
            break;
        }
        let Some((direction, by)) = best_move(lists, here, &directions, &settings.rules, buffers, stop)? else { break };
        let moved = normalised(direction.moved(&weights, by));
        before = Some((std::mem::replace(&mut weights, moved), here));
        steps += 1;
    }
    let score = lists.counts.formula().score(&lists.totals(&weights, buffers, stop)?);
    Ok(End { weights, begun, score, steps })
}

/// The direction with the best part of all lines, and how far to go, if that is better than the score `here`.
fn best_move<'a>(
    lists: &Lists<'_>,
    here: f64,
    directions: &'a [Direction],
    rules: &Rules,
    buffers: &mut Buffers,
    stop: &Stop<'_>,
) -> Result<Option<(&'a Direction, f64)>> {
    let mut best = (lists.counts.gain(here), None);
    let Buffers { lines, sweep, .. } = buffers;
    for (direction, line) in directions.iter().zip(lines) {
        if let Some((found, gain)) = sweep.best(lists, line, rules, stop)?
            && gain > best.0
            && found.position != 0.0
            && found.position.abs() <= LARGEST
        {
            best = (gain, Some((direction, found.position)));
        }
    }
    Ok(best.1)
}

/// The best end of each seed; the first of several.
fn collect(lists: &Lists<'_>, ends: &[End], starts: usize) -> Runs {
    let mut runs = Runs { weights: vec![], scores: vec![], chosen: vec![], from_to: vec![], steps: vec![] };
    for ends in ends.chunks_exact(starts) {
        let better = |best: usize, i: usize| lists.counts.gain(ends[i].score) > lists.counts.gain(ends[best].score);
        let chosen = (1..starts).fold(0, |best, i| if better(best, i) { i } else { best });
        runs.weights.extend_from_slice(&ends[chosen].weights);
        runs.scores.push(ends[chosen].score);
        runs.chosen.push(chosen as i64);
        runs.from_to.extend(ends.iter().flat_map(|end| [end.begun, end.score]));
        runs.steps.extend(ends.iter().map(|end| end.steps));
    }
    runs
}
