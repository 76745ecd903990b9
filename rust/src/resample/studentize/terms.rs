//! The columns that Σ q·w is computed from.

use std::borrow::Cow;

use super::sums::widened;
use super::{Both, LARGEST_TERM, Weights};
use crate::error::Result;
use crate::memory::{collected, reserved, zeros};
use crate::pool::Stop;
use crate::resample::design::UNITS_PER_EXCEPTION;
use crate::simd::{Simd, dispatch};

/// The root mean square of columns with values above [`LARGEST_TERM`] after rounding.
const TERM_SCALE: f64 = 64.0;

/// With strata of different sizes the columns have weights, so small integers need more digits.
const WEIGHTED_TERM_SCALE: f64 = 16.0;

/// A column of w that equals another one plus a constant is replaced by the exceptions, at most one in
/// [`UNITS_PER_EXCEPTION`]. The same condition on a sample of about this many units rules out most pairs quickly.
const SAMPLE: usize = 256;
const SAMPLED_UNITS_PER_EXCEPTION: usize = 16;

/// The columns that w is reduced to.
pub(super) struct Columns {
    /// Their values.
    pub values: Vec<Vec<i64>>,
    /// For each of them, from q to its factor.
    pub basis: Vec<f64>,
}

/// A column that others may equal: which of w it is, its place among the results, and the steps of its sample.
struct Kept {
    column: usize,
    place: usize,
    steps: Vec<i64>,
}

impl Columns {
    /// Reduces the columns of w whose derivatives change.
    ///
    /// A constant added to a column does not change the variance. So columns are centred, and constant ones are left
    /// out. If a column equals another one plus a constant in nearly all units, only its exceptions are kept.
    pub fn new(simd: Simd, both: &Both, changing: &[bool], weights: &Weights, stop: &Stop<'_>) -> Result<Self> {
        let (units, width) = (both.units, both.columns);
        let (mut found, mut members): (Vec<Vec<i64>>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        let mut kept: Vec<Kept> = Vec::new();
        for column in (0..width).filter(|&column| changing[column]) {
            let w = both.sum(column);
            stop.charge(4 * units)?;
            if w.iter().all(|x| *x == w[0]) {
                continue;
            }
            let steps = steps(w);
            let mut alike = None;
            for base in kept.iter().filter(|base| may_be_alike(simd, &base.steps, &steps)) {
                stop.charge(4 * units)?;
                if let Some(exceptions) = exceptions(w, both.sum(base.column))? {
                    alike = Some((base.place, exceptions));
                    break;
                }
            }
            match alike {
                Some((place, exceptions)) => {
                    members[place].push(column);
                    if exceptions.iter().any(|x| *x != 0) {
                        found.push(exceptions);
                        members.push(vec![column]);
                    }
                }
                None => {
                    kept.push(Kept { column, place: found.len(), steps });
                    let [low, high] = both.ends[column].map(|end| end as f64);
                    let centre = ((low + high) / units as f64).round_ties_even() as i64;
                    found.push(collected(w.iter().map(|x| x - centre))?);
                    members.push(vec![column]);
                }
            }
        }
        let mut basis = zeros(&[found.len(), width])?;
        let mut values = reserved(found.len())?;
        for (column, (members, basis)) in found.into_iter().zip(members.iter().zip(basis.chunks_exact_mut(width))) {
            stop.charge(2 * units)?;
            let largest = column.iter().map(|x| x.unsigned_abs()).max().unwrap_or(0);
            let scale = if largest > LARGEST_TERM {
                let squares = column.iter().map(|&x| x as f64 * x as f64).sum::<f64>();
                TERM_SCALE / (squares / units as f64).sqrt()
            } else if weights.relative.is_some() {
                WEIGHTED_TERM_SCALE
            } else {
                1.0
            };
            members.iter().for_each(|&member| basis[member] = weights.common / scale);
            let is_whole = scale == 1.0 && weights.relative.is_none();
            values.push(if is_whole { column } else { weights.rounded(simd, &widened(&column)?, scale)? });
        }
        Ok(Columns { values, basis })
    }
}

/// The sample of a column.
fn sample(column: &[i64]) -> Cow<'_, [i64]> {
    match column.len() / SAMPLE {
        0 | 1 => column.into(),
        step => column.iter().copied().step_by(step).collect(),
    }
}

/// The changes from one unit to the next in the sample of a column.
fn steps(column: &[i64]) -> Vec<i64> {
    sample(column).windows(2).map(|both| both[1].wrapping_sub(both[0])).collect()
}

/// Could a column with these steps have few exceptions in the sample? Each exception changes at most two steps.
fn may_be_alike(simd: Simd, base: &[i64], steps: &[i64]) -> bool {
    count_others(simd, base, steps) as usize * SAMPLED_UNITS_PER_EXCEPTION <= 2 * (steps.len() + 1)
}

dispatch! {
    /// How many values differ.
    fn count_others(one: &[i64], other: &[i64]) -> u64 {
        one.iter().zip(other).map(|(one, other)| u64::from(one != other)).sum()
    }
}

/// A column less another one and a constant. None unless this is 0 in nearly all units.
fn exceptions(column: &[i64], base: &[i64]) -> Result<Option<Vec<i64>>> {
    let (of_column, of_base) = (sample(column), sample(base));
    let mut sampled: Vec<i64> = of_column.iter().zip(&*of_base).map(|(one, other)| one.wrapping_sub(*other)).collect();
    let middle = sampled.len() / 2;
    let (_, &mut constant, _) = sampled.select_nth_unstable(middle);
    // Most pairs of columns are not alike, which a few of their units show.
    let count = |values: &[i64], common: i64| values.iter().filter(|&&x| x != common).count();
    if count(&sampled, constant) * SAMPLED_UNITS_PER_EXCEPTION > sampled.len() {
        return Ok(None);
    }
    let apart = |(one, other): (&i64, &i64)| one.wrapping_sub(*other).wrapping_sub(constant);
    let apart = collected(column.iter().zip(base).map(apart))?;
    Ok((count(&apart, 0) * UNITS_PER_EXCEPTION <= column.len()).then_some(apart))
}
