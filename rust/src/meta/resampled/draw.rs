//! Coefficients of metrics on systems and segments that are drawn with replacement.

use std::ops::Range;

use super::super::Unit;
use super::drawn_ties::Calibrated;
use super::permute::run_pairs;
use super::points::{Points, Scratch};
use super::small::value;
use super::weighing::{Copies, OfReplicate, Weighing};
use super::{Coefficient, Compared, Material, Statistic, at, constant};
use crate::error::Result;
use crate::memory::{reserved, zeros};
use crate::meta::Grouping;
use crate::pool::{Run, Stop};
use crate::resample::{BATCH, length};

/// How often each system and segment is drawn.
#[derive(Debug, Clone, Copy)]
pub enum Drawn<'a> {
    /// A seed, and what is drawn. Segments are drawn by `draw_weights`, systems by the indices of the stream for
    /// selections.
    Seeded(u64, Unit),
    /// For each replicate, the copies of each system and of each segment. Replicates are counted from 0.
    Copies(&'a [u32], &'a [u32]),
}

/// Replicates that are held at once.
const COPIED: usize = 4096;

/// Groups of at most this many cells are compared pair by pair.
const FEW: usize = 12;

impl Drawn<'_> {
    fn copies(&self, [systems, segments]: [usize; 2], replicates: Range<u64>, run: &mut Run<'_>) -> Result<Copies> {
        match *self {
            Drawn::Copies(of_systems, of_segments) => {
                let range = replicates.start as usize..replicates.end as usize;
                Ok(Copies {
                    systems: of_systems[range.start * systems..range.end * systems].to_vec(),
                    segments: of_segments[range.start * segments..range.end * segments].to_vec(),
                })
            }
            Drawn::Seeded(seed, unit) => {
                let n = length(&replicates);
                let mut copies = Copies { systems: zeros(&[n, systems])?, segments: reserved(n * segments)? };
                run.serial(|stop| {
                    for (replicate, of_systems) in replicates.zip(copies.systems.chunks_exact_mut(systems)) {
                        unit.copies_of_systems(seed, replicate, of_systems);
                        copies.segments.extend(unit.copies_of_segments(seed, replicate, segments, stop)?);
                    }
                    Ok(copies)
                })
            }
        }
    }

    /// Whether the copies of systems, or of segments, are always 1.
    fn fixed(&self) -> [bool; 2] {
        match self {
            Drawn::Seeded(_, unit) => [*unit == Unit::Inputs, *unit == Unit::Systems],
            Drawn::Copies(..) => [false; 2],
        }
    }
}

/// The values of each metric's coefficients on draws, in the order statistic, metric, replicate. NaN where undefined.
///
/// Each metric has a material of its own, with the cells that it and people have scored. Cell (i, s) has as many copies as
/// system i times segment s. Copies of one cell are not compared with each other. The mean over groups counts a group as
/// often as its system or segment is drawn.
pub fn drawn(
    materials: &[Material],
    statistics: &[Statistic],
    (draws, replicates): (Drawn<'_>, Range<u64>),
    run: &mut Run<'_>,
) -> Result<Vec<f64>> {
    let n = length(&replicates);
    let metrics = materials.len();
    let mut out: Vec<f64> = zeros(&[statistics.len(), metrics, n])?;
    let Some(shape) = materials.first().map(|material| material.shape) else { return Ok(out) };
    let mut done = 0;
    for first in (0..n).step_by(COPIED) {
        let length = COPIED.min(n - first);
        let begin = replicates.start + first as u64;
        let copies = run.without_progress(|run| draws.copies(shape, begin..begin + length as u64, run))?;
        for (&statistic, out) in statistics.iter().zip(out.chunks_exact_mut(metrics * n)) {
            let Statistic { compared, coefficient } = statistic;
            if let Compared::Outputs(grouping) = compared
                && coefficient.is_calibrated()
            {
                // What takes long is done once for each metric, whose replicates are then shared among threads.
                for (material, out) in materials.iter().zip(out.chunks_exact_mut(n)) {
                    let (of, out) = ((material, grouping), &mut out[first..][..length]);
                    run.reporting(|n| done + n, |run| calibrated(of, coefficient, &copies, out, run))?;
                    done += length as u64;
                }
                continue;
            }
            let work = |metric: usize, blocks: Range<usize>, stop: &Stop<'_>| {
                let replicates = blocks.start * BATCH..length.min(blocks.end * BATCH);
                values(&materials[metric], statistic, &copies, draws.fixed(), replicates, stop)
            };
            let cost = BATCH * materials[0].cells.len() * 16;
            let mut keep = |metric: usize, at: usize, values: &[f64]| {
                out[metric * n + first + at..][..values.len()].copy_from_slice(values);
            };
            run.reporting(|n| done + n, |run| run_pairs([metrics, length], cost, run, work, &mut keep))?;
            done += (length * metrics) as u64;
        }
    }
    Ok(out)
}

/// The values of a coefficient with calibrated ties in a batch of replicates.
fn calibrated(
    (material, grouping): (&Material, Grouping),
    coefficient: Coefficient,
    copies: &Copies,
    out: &mut [f64],
    run: &mut Run<'_>,
) -> Result<()> {
    let weighing = Weighing { material, grouping };
    let ties = run.prepare(|stop| Calibrated::new(weighing, stop))?;
    let work = |_: usize, blocks: Range<usize>, stop: &Stop<'_>| {
        ties.values(copies, blocks.start * BATCH..out.len().min(blocks.end * BATCH), stop)
    };
    let mut found: Vec<f64> = zeros(&[out.len()])?;
    run_pairs([1, out.len()], ties.cost(), run, work, &mut |_, at, values| {
        found[at..][..values.len()].copy_from_slice(values);
    })?;
    let tau = coefficient == Coefficient::Tau23;
    out.iter_mut().zip(found).for_each(|(out, value)| *out = if tau { 2.0 * value - 1.0 } else { value });
    Ok(())
}

fn values(
    material: &Material,
    statistic: Statistic,
    copies: &Copies,
    fixed: [bool; 2],
    replicates: Range<usize>,
    stop: &Stop<'_>,
) -> Result<Vec<f64>> {
    let of = |replicate: usize| copies.of(replicate, material.shape);
    let coefficient = statistic.coefficient;
    let Compared::Outputs(grouping) = statistic.compared else {
        let rows = material.groups(Grouping::System, 1);
        return replicates
            .map(|replicate| {
                stop.charge(material.cells.len() * 4)?;
                Ok(system_value(material, &rows, coefficient, of(replicate)))
            })
            .collect();
    };
    let weighing = Weighing { material, grouping };
    let groups = Groups::new(weighing, coefficient);
    // Within a segment only copies of systems matter, and within a system only copies of segments.
    let constant = match grouping {
        Grouping::Item => fixed[0],
        Grouping::System => fixed[1],
        Grouping::None => false,
    };
    let mut scratch = Scratch::default();
    let mut known: Option<Vec<f64>> = None;
    let mut out = reserved(replicates.len())?;
    for replicate in replicates {
        let copies = of(replicate);
        if known.is_none() || !constant {
            let mut values = known.take().unwrap_or_default();
            values.clear();
            for group in 0..groups.groups.len() {
                stop.charge(groups.groups[group].cells.len() * 64)?;
                let needed = constant || groups.weight(group, copies) > 0;
                values.push(if needed { groups.value(group, copies, &mut scratch) } else { f64::NAN });
            }
            known = Some(values);
        }
        stop.charge(groups.groups.len())?;
        out.push(groups.mean(known.as_deref().unwrap_or_default(), copies));
    }
    Ok(out)
}

struct Group {
    number: usize,
    cells: Vec<u32>,
    x: Vec<f64>,
    y: Vec<f64>,
    /// The points in order, if they are many.
    points: Option<Points>,
}

struct Groups<'a> {
    weighing: Weighing<'a>,
    coefficient: Coefficient,
    groups: Vec<Group>,
}

impl<'a> Groups<'a> {
    fn new(weighing: Weighing<'a>, coefficient: Coefficient) -> Self {
        let group = |(number, cells): (usize, Vec<u32>)| {
            let [x, y] = [&weighing.material.scores[0], &weighing.material.human].map(|values| at(values, &cells));
            let points = (cells.len() > FEW).then(|| Points::new(x.clone(), y.clone()));
            (!constant(&y)).then_some(Group { number, cells, x, y, points })
        };
        let groups = weighing.material.groups(weighing.grouping, 2).into_iter().filter_map(group).collect();
        Groups { weighing, coefficient, groups }
    }

    /// How often the group is drawn.
    fn weight(&self, group: usize, copies: OfReplicate<'_>) -> u32 {
        self.weighing.group(self.groups[group].number, copies)
    }

    fn value(&self, group: usize, copies: OfReplicate<'_>, scratch: &mut Scratch) -> f64 {
        let group = &self.groups[group];
        let weights: Vec<u32> = group.cells.iter().map(|&cell| self.weighing.cell(cell, copies)).collect();
        match &group.points {
            Some(points) => points.value(self.coefficient, &weights, scratch),
            None => value(self.coefficient, &group.x, &group.y, &weights),
        }
    }

    fn mean(&self, values: &[f64], copies: OfReplicate<'_>) -> f64 {
        let (mut sum, mut count) = (0.0, 0.0);
        for (group, value) in self.groups.iter().zip(values) {
            let weight = f64::from(self.weighing.group(group.number, copies));
            if weight > 0.0 && !value.is_nan() {
                sum += weight * value;
                count += weight;
            }
        }
        sum / count
    }
}

fn system_value(
    material: &Material,
    rows: &[(usize, Vec<u32>)],
    coefficient: Coefficient,
    OfReplicate { systems, segments }: OfReplicate<'_>,
) -> f64 {
    let (mut x, mut y, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for (system, cells) in rows {
        let (mut sum, mut human, mut count) = (0.0, 0.0, 0.0);
        for &cell in cells {
            let weight = f64::from(segments[material.segment(cell) as usize]);
            sum += weight * material.scores[0][cell as usize];
            human += weight * material.human[cell as usize];
            count += weight;
        }
        if count > 0.0 && systems[*system] > 0 {
            x.push(sum / count);
            y.push(human / count);
            weights.push(systems[*system]);
        }
    }
    value(coefficient, &x, &y, &weights)
}
