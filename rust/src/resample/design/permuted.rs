//! The columns of counts that permutations have to add up.

use crate::error::{Result, check_length};
use crate::memory::reserved;
use crate::pool::Stop;
use crate::resample::Sample;

/// The columns in which systems differ: those that are neither the same for all systems nor, relative to the first
/// system, equal to another column of the sample.
///
/// The rules of shuffles and draws ([`super::find`]) also find columns that are equal except for some units. Here a
/// position gets the rows of different systems, so a rule would have to hold for all systems at once.
pub(in crate::resample) struct DifferingColumns<'s, 'a> {
    samples: &'s [Sample<'a>],
    /// The sample and the column of counts of each.
    columns: Vec<(usize, usize)>,
}

impl<'s, 'a> DifferingColumns<'s, 'a> {
    /// Finds them. Also returns, for each column of each sample, in order, which of them has its differences; None if
    /// the systems do not differ in it.
    pub fn find(samples: &'s [Sample<'a>], stop: &Stop<'_>) -> Result<(Self, Vec<Option<usize>>)> {
        let mut found = DifferingColumns { samples, columns: Vec::new() };
        let systems = found.systems();
        for sample in samples {
            check_length("systems", systems, sample.stats.systems())?;
        }
        let mut places = reserved(samples.iter().map(|sample| sample.stats.columns()).sum())?;
        for (sample, Sample { stats, .. }) in samples.iter().enumerate() {
            let first = found.columns.len();
            for column in 0..stats.columns() {
                let mut place = None;
                if !found.agrees((sample, column), None, stop)? {
                    let mut same = None;
                    for earlier in first..found.columns.len() {
                        if found.agrees((sample, column), Some(found.columns[earlier].1), stop)? {
                            same = Some(earlier);
                            break;
                        }
                    }
                    place = Some(same.unwrap_or(found.columns.len()));
                    if same.is_none() {
                        found.columns.push((sample, column));
                    }
                }
                places.push(place);
            }
        }
        Ok((found, places))
    }

    /// Does a column, relative to the first system, equal another one of its sample, or 0, in all systems and units?
    fn agrees(&self, (sample, column): (usize, usize), other: Option<usize>, stop: &Stop<'_>) -> Result<bool> {
        for system in 1..self.systems() {
            for unit in 0..self.units() {
                stop.charge(4)?;
                let expected = other.map_or(0, |other| self.relative((sample, other), system, unit));
                if self.relative((sample, column), system, unit) != expected {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn relative(&self, (sample, column): (usize, usize), system: usize, unit: usize) -> i64 {
        let stats = &self.samples[sample].stats;
        stats.count(system, unit, column).wrapping_sub(stats.count(0, unit, column))
    }

    pub fn systems(&self) -> usize {
        self.samples[0].stats.systems()
    }

    pub fn units(&self) -> usize {
        self.samples[0].stats.segments()
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// The count of a system in a unit, less that of the first system, truncated to 64 bits.
    pub fn difference(&self, column: usize, system: usize, unit: usize) -> i64 {
        self.relative(self.columns[column], system, unit)
    }

    /// The largest difference of a column, in absolute value.
    pub fn largest(&self, column: usize, stop: &Stop<'_>) -> Result<u64> {
        let mut largest = 0;
        for system in 1..self.systems() {
            for unit in 0..self.units() {
                stop.charge(4)?;
                largest = self.difference(column, system, unit).unsigned_abs().max(largest);
            }
        }
        Ok(largest)
    }
}
