//! From a population and the test set of a simulation to the columns that a [`Resampler`](crate::resample::Resampler)
//! adds up: those of the population, gathered, with its rules.

use super::population::Population;
use super::selection::Chosen;
use crate::error::Result;
use crate::memory::collected;
use crate::pool::Stop;
use crate::resample::design::packed::{Integer, Packed};
use crate::resample::design::{Design, Exception, Exceptions, Place, Rule};
use crate::stats::with_numbers;

impl Population {
    /// The design of shuffles of a test set with these totals.
    pub(super) fn shuffled(&self, chosen: &Chosen, totals: &[i64], stop: &Stop<'_>) -> Result<Design> {
        let units = chosen.units.len();
        let mut design = self.shuffled_without_columns(units, totals);
        for column in self.relative.packed.iter() {
            stop.charge(4 * units)?;
            design.packed.push(with_numbers!(map column, values => signed(values, chosen)?));
        }
        for (own, exceptions) in design.exceptions.iter_mut().zip(&self.relative.exceptions) {
            stop.charge(8 * units)?;
            let signs = chosen.swapped.iter().map(|&swap| 1 - 2 * i64::from(swap));
            let found = found(exceptions, chosen.units.iter().copied()).zip(signs);
            own.units = found.enumerate().filter_map(|(place, (value, sign))| Some((place, sign * value?))).collect();
        }
        Ok(design)
    }

    /// The design of shuffles of a test set with these totals, without its columns, for a kernel that has them.
    pub(super) fn shuffled_without_columns(&self, units: usize, totals: &[i64]) -> Design {
        let Design { places, rules, dense, columns, exceptions, .. } = &self.relative;
        let none = |exceptions: &Exceptions| Exceptions { units: Vec::new(), column: exceptions.column };
        Design {
            units,
            places: places.clone(),
            rules: rules.clone(),
            totals: totals.to_vec(),
            dense: *dense,
            packed: Packed::new(units),
            columns: columns.clone(),
            exceptions: exceptions.iter().map(none).collect(),
        }
    }

    /// A design for draws from several test sets together, which have the same number of units. Under each metric, its
    /// systems 2i and 2i + 1 are the two of test set i.
    pub(super) fn drawn(&self, chosen: &[Chosen], stop: &Stop<'_>) -> Result<Design> {
        let (pooled, units, all) = (&self.pooled, chosen[0].units.len(), chosen.len());
        let mut packed = Packed::new(units);
        let (mut columns, mut dense, mut exceptions) = (Vec::new(), Vec::new(), Vec::new());
        for chosen in chosen {
            for system in 0..2 {
                // Where the units are among those of the two systems packed as one.
                let rows = || {
                    let pairs = chosen.units.iter().zip(&chosen.swapped);
                    pairs.map(|(&unit, &swap)| unit + u32::from(swap ^ system) * self.units as u32)
                };
                for (d, column) in pooled.packed.iter().enumerate() {
                    if system == 1 && self.shared[d] {
                        dense.push(dense[dense.len() - pooled.dense]);
                        continue;
                    }
                    stop.charge(4 * units)?;
                    dense.push(packed.len());
                    columns.push(pooled.columns[d]);
                    packed.push(with_numbers!(map column, values => gathered(values, rows())?));
                }
                for own in &pooled.exceptions {
                    stop.charge(8 * units)?;
                    let units: Vec<Exception> =
                        found(own, rows()).enumerate().filter_map(|(place, value)| Some((place, value?))).collect();
                    exceptions.push(Exceptions { units, column: own.column });
                }
            }
        }
        let (mut places, mut rules, mut cell) = (Vec::new(), Vec::new(), 0);
        for (metric, place) in pooled.places.iter().enumerate() {
            places.push(Place { systems: 2 * all, cell, system: 2 * all * metric, ..*place });
            for system in 0..2 * all {
                rules.extend(pooled.rules[place.cell..][..place.columns].iter().map(|rule| Rule {
                    dense: rule.dense.map(|d| dense[system * pooled.dense + d]),
                    constant: rule.constant,
                    exceptions: rule.exceptions.map(|e| system * pooled.exceptions.len() + e),
                }));
            }
            cell += 2 * all * place.columns;
        }
        let dense = packed.len();
        // Nobody reads the totals.
        Ok(Design { units, places, totals: vec![0; rules.len()], rules, dense, packed, columns, exceptions })
    }
}

/// The values of the chosen units, with the other sign where the systems are swapped.
fn signed<T: Integer>(values: &[T], chosen: &Chosen) -> Result<Vec<T>> {
    let zero = T::cut(0);
    collected(chosen.units.iter().zip(&chosen.swapped).map(|(&unit, &swap)| {
        let value = values[unit as usize];
        if swap == 0 { value } else { zero.minus(value) }
    }))
}

fn gathered<T: Integer>(values: &[T], rows: impl ExactSizeIterator<Item = u32>) -> Result<Vec<T>> {
    collected(rows.map(|row| values[row as usize]))
}

/// The exceptional value of each row, if it has one.
fn found(exceptions: &Exceptions, rows: impl Iterator<Item = u32>) -> impl Iterator<Item = Option<i64>> {
    rows.map(|row| {
        let units = &exceptions.units;
        units.binary_search_by_key(&(row as usize), |(unit, _)| *unit).ok().map(|place| units[place].1)
    })
}
