//! The counts of two systems, packed so that rows are gathered quickly.

use std::sync::{Arc, OnceLock};

use super::selection::{Chosen, Groups};
use crate::error::{Error, LARGEST_SUM, Result, check_length};
use crate::memory::reserved;
use crate::metric::Formula;
use crate::pool::{Run, Stop};
use crate::resample::design::Design;
use crate::resample::kernel::scatter::DifferenceRows;
use crate::resample::studentize::{Both, PackedBoth};
use crate::resample::{Sample, made};
use crate::simd::{Simd, dispatch};
use crate::stats::{Stored, SuffStats};

/// The counts of two systems under some metrics. It borrows nothing from the caller.
pub struct Population {
    pub(super) units: usize,
    /// The formula of each metric, or None if a sample has none.
    pub(super) formulas: Option<Vec<Arc<dyn Formula>>>,
    /// The rows of each metric, for totals.
    pub(super) rows: Vec<Rows>,
    /// The columns to add up in shuffles: differences between the two systems.
    pub(super) relative: Design,
    /// The same, row by row, if they are small numbers.
    pub(super) differences: Option<DifferenceRows>,
    /// The columns to add up in draws. Both systems are packed as one, all units of the first before those of the second.
    /// So each rule holds for both systems, also after swaps between them.
    pub(super) pooled: Design,
    /// For each packed column of `pooled`, whether both systems have the same values, so that it is added up once.
    pub(super) shared: Vec<bool>,
    pub(super) groups: Option<Groups>,
    /// The differences and sums of both systems under each metric, made for the first studentized test.
    both: OnceLock<Vec<PackedBoth>>,
    /// An upper bound of all counts, in absolute value.
    largest: u64,
}

impl Population {
    /// Checks and packs the counts of two systems, and the group of each unit if groups are chosen.
    pub fn new(samples: &[Sample<'_>], groups: Option<&[u32]>, run: &mut Run<'_>) -> Result<Self> {
        let simd = Simd::best();
        let relative = Design::new(simd, samples, true, run)?;
        let units = relative.units;
        for sample in samples {
            check_length("systems of a population", 2, sample.stats.systems())?;
        }
        if u32::try_from(2 * units).is_err() {
            let (option, expected) = ("the number of segments to choose from", format!("at most {}", u32::MAX / 2));
            return Err(Error::invalid(option, expected, units));
        }
        if let Some(groups) = groups {
            check_length("groups", units, groups.len())?;
        }
        let largest = samples.iter().map(|sample| sample.stats.largest()).max().unwrap_or(0);
        let rows = samples.iter().map(|sample| Rows::new(&sample.stats)).collect::<Result<_>>()?;
        let copy = |Sample { stats, .. }: &Sample<'_>| {
            let mut both = reserved(2 * units * stats.columns())?;
            (0..2).for_each(|system| stats.stored(system, 0..units).append_to(&mut both));
            Ok((both, stats.columns()))
        };
        let copies = samples.iter().map(copy).collect::<Result<Vec<_>>>()?;
        let one_system = copies.iter().map(|(both, columns)| {
            // The counts were checked. Their sum over both systems is not needed, and may be too large.
            let (shape, totals) = ([2 * units, *columns], vec![0; *columns]);
            Sample::without_formula(SuffStats::checked_before(vec![Stored::I64(both)], shape, totals, largest))
        });
        let pooled = Design::new(simd, &one_system.collect::<Vec<_>>(), false, run)?;
        let same = |column: &crate::resample::design::packed::Column| {
            (0..units).all(|unit| column.value(unit) == column.value(units + unit))
        };
        let shared = pooled.packed.iter().map(same).collect();
        Ok(Population {
            units,
            formulas: samples.iter().map(|sample| sample.formula.clone()).collect(),
            rows,
            differences: DifferenceRows::new(&relative)?,
            relative,
            pooled,
            shared,
            groups: groups.map(Groups::new).transpose()?,
            both: OnceLock::new(),
            largest,
        })
    }

    pub(super) fn formulas(&self) -> Result<&[Arc<dyn Formula>]> {
        let missing = || {
            Error::invalid(
                "the metrics of a population",
                "formulas of the core, to score simulations",
                "counts without one",
            )
        };
        self.formulas.as_deref().ok_or_else(missing)
    }

    /// The differences and sums of both systems under each metric.
    pub(super) fn both(&self, stop: &Stop<'_>) -> Result<&[PackedBoth]> {
        Ok(made(&self.both, || self.rows.iter().map(|rows| rows.both(self.units, stop)).collect())?)
    }

    /// The number of columns of all metrics.
    pub(super) fn columns(&self) -> usize {
        self.rows.iter().map(|rows| rows.columns).sum()
    }

    /// Checks that the sums of a test set cannot overflow.
    pub(super) fn check(&self, chosen: &Chosen) -> Result<()> {
        match u128::from(self.largest) * chosen.units.len() as u128 > LARGEST_SUM as u128 {
            true => Err(Error::Overflow { column: 0 }),
            false => Ok(()),
        }
    }

    /// Computes the sums of both systems over a test set under each metric, in the order metric, system, column.
    pub(super) fn totals(&self, simd: Simd, chosen: &Chosen, sums: &mut Vec<i64>, out: &mut Vec<i64>) {
        out.clear();
        for rows in &self.rows {
            rows.totals(simd, chosen, sums);
            sums.chunks_exact(rows.width).for_each(|sums| out.extend_from_slice(&sums[..rows.columns]));
        }
    }
}

/// The number of 16-bit numbers that fill a register once they are widened to 32 bits.
const LANES: usize = 8;

/// The rows of both systems, unit by unit.
pub(super) struct Rows {
    columns: usize,
    /// The length of a row, padded if it is narrow.
    width: usize,
    values: Values,
}

enum Values {
    /// Small numbers, and how many of them can be added up in 32 bits.
    Narrow(Vec<[i16; LANES]>, usize),
    Wide(Vec<i64>),
}

impl Rows {
    fn new(stats: &SuffStats<'_>) -> Result<Self> {
        let (columns, units, largest) = (stats.columns(), stats.segments(), stats.largest());
        let row = |i: usize| stats.stored(i % 2, i / 2..i / 2 + 1);
        if largest > i16::MAX as u64 {
            let mut values = reserved(2 * units * columns)?;
            (0..2 * units).for_each(|i| row(i).append_to(&mut values));
            return Ok(Rows { columns, width: columns, values: Values::Wide(values) });
        }
        let width = columns.next_multiple_of(LANES);
        let (mut values, mut buffer) = (reserved(2 * units * width / LANES)?, Vec::new());
        for i in 0..2 * units {
            for counts in row(i).widened(&mut buffer).chunks(LANES) {
                let mut padded = [0; LANES];
                padded.iter_mut().zip(counts).for_each(|(padded, &count)| *padded = count as i16);
                values.push(padded);
            }
        }
        Ok(Rows { columns, width, values: Values::Narrow(values, (i32::MAX as u64 / largest.max(1)) as usize) })
    }

    /// The differences and sums of both systems.
    fn both(&self, units: usize, stop: &Stop<'_>) -> Result<PackedBoth> {
        let count = |system: usize, column: usize, unit: usize| {
            let row = 2 * unit + system;
            match &self.values {
                Values::Wide(values) => values[row * self.width + column],
                Values::Narrow(values, _) => {
                    i64::from(values[row * self.width / LANES + column / LANES][column % LANES])
                }
            }
        };
        let counts = |column: usize, unit: usize| [0, 1].map(|system| count(system, column, unit));
        Both::from_counts([units, self.columns], stop, counts)?.packed()
    }

    /// The sums of both systems, padded.
    fn totals(&self, simd: Simd, chosen: &Chosen, out: &mut Vec<i64>) {
        out.clear();
        out.resize(2 * self.width, 0);
        match &self.values {
            Values::Wide(values) => {
                let (first, second) = out.split_at_mut(self.width);
                for (&unit, &swap) in chosen.units.iter().zip(&chosen.swapped) {
                    let both = &values[2 * self.width * unit as usize..][..2 * self.width];
                    let (x, y) = both.split_at(self.width);
                    let (x, y) = if swap == 0 { (x, y) } else { (y, x) };
                    first.iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
                    second.iter_mut().zip(y).for_each(|(sum, y)| *sum += y);
                }
            }
            Values::Narrow(values, together) => {
                for (units, swapped) in chosen.units.chunks(*together).zip(chosen.swapped.chunks(*together)) {
                    let registers = self.width / LANES;
                    for at in (0..registers).step_by(MOST) {
                        let rows = Registers { values, first: at, all: registers };
                        match registers - at {
                            1 => add_registers::<1>(simd, rows, (units, swapped), out),
                            2 => add_registers::<2>(simd, rows, (units, swapped), out),
                            3 => add_registers::<3>(simd, rows, (units, swapped), out),
                            _ => add_registers::<MOST>(simd, rows, (units, swapped), out),
                        }
                    }
                }
            }
        }
    }
}

/// The most registers of each system whose sums stay in registers.
const MOST: usize = 4;

/// Rows that are cut into registers. A few of these are added up, from `first` on.
#[derive(Clone, Copy)]
struct Registers<'a> {
    values: &'a [[i16; LANES]],
    /// The first register that is added up.
    first: usize,
    /// The registers of a row.
    all: usize,
}

/// Adds the rows of the chosen units to the sums of both systems.
fn add_registers<const REGISTERS: usize>(simd: Simd, rows: Registers<'_>, chosen: (&[u32], &[u8]), out: &mut [i64]) {
    let mut sums = [[[0; LANES]; REGISTERS]; 2];
    add_rows(simd, rows, chosen, &mut sums);
    for (sums, out) in sums.iter().zip(out.chunks_exact_mut(rows.all * LANES)) {
        out[rows.first * LANES..].iter_mut().zip(sums.as_flattened()).for_each(|(out, &sum)| *out += i64::from(sum));
    }
}

dispatch! {
    fn add_rows[const REGISTERS: usize](
        rows: Registers<'_>,
        chosen: (&[u32], &[u8]),
        sums: &mut [[[i32; LANES]; REGISTERS]; 2],
    ) {
        let Registers { values, first: at, all: registers } = rows;
        let (units, swapped) = chosen;
        let [mut first, mut second] = *sums;
        for (&unit, &swap) in units.iter().zip(swapped) {
            let both = &values[2 * registers * unit as usize..][..2 * registers];
            let from = at + usize::from(swap) * registers;
            let (x, y) = (&both[from..][..REGISTERS], &both[2 * at + registers - from..][..REGISTERS]);
            for i in 0..REGISTERS {
                for lane in 0..LANES {
                    first[i][lane] += i32::from(x[i][lane]);
                    second[i][lane] += i32::from(y[i][lane]);
                }
            }
        }
        *sums = [first, second];
    }
}
