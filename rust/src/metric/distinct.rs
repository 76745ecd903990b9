//! The distinct hypotheses of a segment, so that what several systems have in common is counted once.
//!
//! Runs of one system often agree: with three runs each of three systems of WMT10, one of them a copy, 42% of all
//! hypotheses are distinct.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::Counter;
use crate::error::{Column, Error, Result};
use crate::pool::Stop;

/// The distinct hypotheses of a segment; its buffers are reused.
#[derive(Default)]
pub(super) struct Distinct<'a> {
    /// In the order of the first systems that have them.
    hypotheses: Vec<&'a str>,
    /// These systems.
    first: Vec<usize>,
    /// For each system, which of the hypotheses it has.
    index: Vec<usize>,
    known: HashMap<&'a str, usize, FixedState>,
    rows: Vec<i64>,
}

impl<'a> Distinct<'a> {
    /// Replaces the hypotheses by those of another segment, system by system.
    pub fn read(&mut self, hypotheses: impl Iterator<Item = &'a str>) {
        let Distinct { hypotheses: distinct, first, index, known, .. } = self;
        distinct.clear();
        first.clear();
        index.clear();
        known.clear();
        for (system, hypothesis) in hypotheses.enumerate() {
            let own = *known.entry(hypothesis).or_insert_with(|| {
                distinct.push(hypothesis);
                first.push(system);
                distinct.len() - 1
            });
            index.push(own);
        }
    }

    /// Counts the hypotheses: a row for each system, which holds zeros.
    ///
    /// # Errors
    /// As [`Counter::count`].
    pub fn count(
        &mut self,
        counter: &mut dyn Counter,
        references: &[&str],
        rows: &mut [i64],
        stop: &Stop<'_>,
    ) -> Result<()> {
        if self.hypotheses.len() == self.index.len() {
            return counter.count(references, &self.hypotheses, rows, stop);
        }
        let width = rows.len() / self.index.len();
        self.rows.clear();
        self.rows.resize(self.hypotheses.len() * width, 0);
        counter.count(references, &self.hypotheses, &mut self.rows, stop).map_err(|error| self.of_system(error))?;
        for (row, index) in rows.chunks_exact_mut(width).zip(&self.index) {
            row.copy_from_slice(&self.rows[index * width..][..width]);
        }
        Ok(())
    }

    /// The error with the first system that has the hypothesis.
    fn of_system(&self, error: Error) -> Error {
        match &error {
            Error::Malformed { place, .. } => match place.column {
                Some(Column::System(number)) => error.in_column(Column::System(self.first[number - 1] + 1)),
                _ => error,
            },
            _ => error,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::metric::METRICS;
    use crate::metric::testing::{count_alone, made};
    use crate::pool::with_run;
    use proptest::prelude::*;

    fn counted(name: &str, systems: &[Vec<&str>], references: &[&str]) -> crate::Result<Vec<i64>> {
        let references = [references.iter().copied().map(Some).collect()];
        with_run(1, |run| count_alone(made(name).as_ref(), systems, &references, run))
    }

    proptest! {
        #![proptest_config(crate::testing::cases(8))]
        #[test]
        fn the_counts_of_a_system_do_not_depend_on_what_others_have_in_common(
            lines in prop::collection::vec(prop::collection::vec(0..4usize, 5), 1..7),
        ) {
            let texts = ["", "the cat sat on the mat", "the mat sat", "on a mat the cats sat ."];
            let systems: Vec<Vec<&str>> = lines.iter().map(|own| own.iter().map(|&i| texts[i]).collect()).collect();
            let references = ["the cat sat on a mat", "the mat", "a", "", "the cat sat ."];
            for spec in METRICS.iter().filter(|spec| !spec.reads_parses) {
                let alone = systems.iter().flat_map(|own| counted(spec.name, std::slice::from_ref(own), &references).unwrap());
                prop_assert_eq!(alone.collect::<Vec<_>>(), counted(spec.name, &systems, &references).unwrap());
            }
        }
    }

    #[test]
    fn errors_name_the_first_system_that_has_the_text() {
        let parse = "1\ta\ta\t_\t_\t_\t0\troot\t_\t_";
        let systems = [vec![parse], vec![parse], vec!["1\ta"], vec![parse], vec!["1\ta"]];
        let error = counted("depf", &systems, &[parse]).unwrap_err().to_string();
        assert!(error.starts_with("segment 1, system 3, line 1"), "{error}");
    }
}
