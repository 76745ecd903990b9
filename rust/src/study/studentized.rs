//! Studentized statistics of simulated test sets: their constants and cross columns, beside the columns of the population.

use std::sync::Arc;

use super::population::Population;
use super::selection::Chosen;
use crate::error::Result;
use crate::memory::{collected, reserved};
use crate::metric::{Formula, Studentized};
use crate::pool::Stop;
use crate::resample::design::packed::narrow;
use crate::resample::design::{Design, Exception, Exceptions, Place, Rule, UNITS_PER_EXCEPTION};
use crate::resample::studentize::{Both, Cross, PackedBoth};

/// What the standard error of the observed difference of a simulated test set is computed from, under one metric.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ErrorParts {
    /// The power of 2 by which the difference is multiplied.
    pub scale: f64,
    /// The variance of the difference times the scale, not yet compared with its rounding errors.
    pub variance: f64,
    /// The sum of the squares that it is computed from. Rounding errors are relative to it.
    pub size: f64,
    /// Do shuffles have the same order by the difference, so that it is not studentized?
    pub follows_difference: bool,
}

impl Population {
    /// The constants of a test set under each metric.
    pub(super) fn crosses(&self, chosen: &Chosen, buffer: &mut Both, stop: &Stop<'_>) -> Result<Vec<Cross>> {
        let cross = |(formula, both): (&Arc<dyn Formula>, &PackedBoth)| {
            buffer.choose(both, &chosen.units, &chosen.swapped, stop)?;
            Cross::of_formula(formula.as_ref(), buffer, stop)
        };
        self.formulas()?.iter().zip(self.both(stop)?).map(cross).collect()
    }

    /// The observed standard errors of a test set with these totals.
    pub(super) fn error_parts(&self, totals: &[i64], crosses: &[Cross]) -> Result<Vec<ErrorParts>> {
        let mut rest = totals;
        let mut found = reserved(crosses.len())?;
        for (formula, cross) in self.formulas()?.iter().zip(crosses) {
            let width = formula.width();
            let (own, others) = rest.split_at(2 * width);
            let mut x = own[..width].to_vec();
            cross.columns(&[], |column| {
                x.push(column.iter().sum());
                Ok(())
            })?;
            let mut y = own[width..].to_vec();
            y.resize(x.len(), 0);
            let parts = Studentized::new(formula.clone(), cross.constants.clone())?.parts(&x, &y, 1);
            let (variance, size) = (parts.variances[0], parts.sizes[0]);
            let (scale, follows_difference) = (cross.constants.scale, cross.follows_difference);
            found.push(ErrorParts { scale, variance, size, follows_difference });
            rest = others;
        }
        Ok(found)
    }

    /// The design of shuffles of a test set with these totals and constants, and the formulas of its statistics. If
    /// shuffles have the same order by the difference, this is the statistic.
    pub(super) fn studentized(
        &self,
        chosen: &Chosen,
        totals: &[i64],
        crosses: &[Cross],
        stop: &Stop<'_>,
    ) -> Result<(Design, Vec<Arc<dyn Formula>>)> {
        let mut design = self.shuffled(chosen, totals, stop)?;
        let (mut places, mut rules, mut sums) = (Vec::new(), Vec::new(), Vec::new());
        let mut formulas: Vec<Arc<dyn Formula>> = Vec::new();
        let old = std::mem::take(&mut design.places);
        for ((place, formula), cross) in old.iter().zip(self.formulas()?).zip(crosses) {
            let (mut own_rules, mut own_sums) = (Vec::new(), Vec::new());
            if cross.follows_difference {
                formulas.push(formula.clone());
            } else {
                formulas.push(Arc::new(Studentized::new(formula.clone(), cross.constants.clone())?));
                cross.columns(&[], |values| {
                    own_sums.push(values.iter().sum());
                    own_rules.push(add_column(&mut design, values, place.columns + own_rules.len())?);
                    Ok(())
                })?;
            }
            let columns = place.columns + own_rules.len();
            places.push(Place { columns, cell: rules.len(), ..*place });
            let first = place.cell..place.cell + place.columns;
            let second = first.end..first.end + place.columns;
            // The rows of the first system are 0, because all are relative to it.
            rules.extend_from_slice(&design.rules[first.clone()]);
            rules.resize(rules.len() + own_rules.len(), Rule::default());
            rules.extend_from_slice(&design.rules[second.clone()]);
            rules.extend_from_slice(&own_rules);
            sums.extend_from_slice(&design.totals[first]);
            sums.extend_from_slice(&own_sums);
            sums.extend_from_slice(&design.totals[second]);
            sums.resize(sums.len() + own_rules.len(), 0);
        }
        (design.places, design.rules, design.totals) = (places, rules, sums);
        Ok((design, formulas))
    }
}

/// Adds a column of which the first system has the values, and the second zeros; returns the rule of the second system.
fn add_column(design: &mut Design, values: &[i64], column: usize) -> Result<Rule> {
    let others = values.iter().filter(|&&value| value != 0).count();
    if others * UNITS_PER_EXCEPTION <= values.len() {
        let units = values.iter().enumerate().filter(|(_, value)| **value != 0);
        let units: Vec<Exception> = units.map(|(unit, value)| (unit, -value)).collect();
        if units.is_empty() {
            return Ok(Rule::default());
        }
        design.exceptions.push(Exceptions { units, column });
        return Ok(Rule { exceptions: Some(design.exceptions.len() - 1), ..Rule::default() });
    }
    design.packed.push(narrow(&collected(values.iter().map(|value| -value))?)?);
    design.columns.push(column);
    design.dense += 1;
    Ok(Rule { dense: Some(design.dense - 1), ..Rule::default() })
}
