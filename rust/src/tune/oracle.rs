//! The entries of k-best lists with the best or the worst corpus score (oracle and worst hypotheses).
//!
//! A corpus score is no sum over sentences, so the best choice for one sentence depends on all others. The search goes
//! from several starts: it moves to the entries that a linear approximation of the score prefers as long as that helps,
//! and then replaces one entry after another until no replacement improves the score.

use std::sync::Arc;

use super::candidates::{Counts, Offsets, shuffle};
use crate::error::{Error, Result, check_length};
use crate::memory::reserved;
use crate::metric::Formula;
use crate::pool::{self, Blocks, Run, Stop};

/// The lists, with a row of counts for each entry.
pub struct Rows<'a> {
    offsets: Offsets<'a>,
    counts: Counts<'a>,
    /// 1 if larger scores are sought, −1 if smaller ones.
    sign: f64,
}

/// The best choice that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The entry of each sentence.
    pub entries: Vec<i64>,
    /// The score at each start, and at the end of the search from there: given ones first, then random ones.
    pub from_to: Vec<f64>,
}

/// The approximate cost of a score, in additions.
const SCORE: usize = 32;

impl<'a> Rows<'a> {
    /// Lists for a search of the best entries, or of the worst.
    pub fn new(
        offsets: &'a [i64],
        counts: &'a [i64],
        formula: Arc<dyn Formula>,
        worst: bool,
        stop: &Stop<'_>,
    ) -> Result<Self> {
        let offsets = Offsets::new(offsets, stop)?;
        let sign = if formula.higher_is_better() == worst { -1.0 } else { 1.0 };
        Ok(Rows { offsets, counts: Counts::new(counts, formula, offsets, stop)?, sign })
    }

    fn sentences(&self) -> usize {
        self.offsets.len()
    }

    /// The approximate cost of scoring each entry of a sentence.
    fn cost(&self, sentence: usize) -> usize {
        self.offsets.list(sentence).len() * (self.counts.width() + SCORE)
    }

    /// The score of summed counts, to be maximized; −∞ if there is none.
    fn value(&self, totals: &[i64]) -> f64 {
        let value = self.sign * self.counts.formula().score(totals);
        if value.is_nan() { f64::NEG_INFINITY } else { value }
    }

    fn totals(&self, entries: &[usize]) -> Vec<i64> {
        let mut totals = self.counts.zeros();
        entries.iter().for_each(|&entry| self.counts.add(entry, &mut totals));
        totals
    }

    /// The first entry of a sentence with the largest value, if the rows of all other sentences sum up to `others`. An
    /// entry that is given wins against all that are not better. `sum` is a buffer, and holds the sum of the winner.
    fn best(&self, sentence: usize, current: Option<usize>, others: &[i64], sum: &mut Vec<i64>) -> (usize, f64) {
        let mut value_of = |entry: usize| {
            sum.clear();
            sum.extend(others.iter().zip(self.counts.row(entry)).map(|(other, count)| other + count));
            self.value(sum)
        };
        let list = self.offsets.list(sentence);
        let first = current.unwrap_or(list.start);
        let mut best = (first, value_of(first));
        for entry in list {
            let value = value_of(entry);
            if value > best.1 {
                best = (entry, value);
            }
        }
        best
    }

    /// Chooses sentence by sentence, in this order, the entry with which the score of the sentences so far is best.
    fn greedy(&self, order: &[u32], stop: &Stop<'_>) -> Result<Vec<usize>> {
        let mut entries: Vec<usize> = self.offsets.iter().map(|list| list.start).collect();
        let (mut totals, mut sum) = (self.counts.zeros(), Vec::new());
        for &sentence in order {
            let sentence = sentence as usize;
            stop.charge(self.cost(sentence))?;
            entries[sentence] = self.best(sentence, None, &totals, &mut sum).0;
            self.counts.add(entries[sentence], &mut totals);
        }
        Ok(entries)
    }

    /// Moves to the entries with the largest product of counts and derivatives, as long as the score improves.
    fn linearised(&self, entries: &mut Vec<usize>, stop: &Stop<'_>) -> Result<()> {
        let mut totals = self.totals(entries);
        let mut value = self.value(&totals);
        let mut slopes = vec![0.0; self.counts.width()];
        loop {
            self.counts.formula().gradient(&totals, &mut slopes);
            let product = |entry: usize| -> f64 {
                let terms = self.counts.row(entry).iter().zip(&slopes).map(|(&count, slope)| count as f64 * slope);
                self.sign * terms.sum::<f64>()
            };
            let mut next = Vec::with_capacity(entries.len());
            for (list, &current) in self.offsets.iter().zip(&*entries) {
                stop.charge(list.len() * self.counts.width())?;
                let mut best = (current, product(current));
                for entry in list {
                    let product = product(entry);
                    if product > best.1 {
                        best = (entry, product);
                    }
                }
                next.push(best.0);
            }
            let sums = self.totals(&next);
            let reached = self.value(&sums);
            if reached <= value {
                return Ok(());
            }
            (*entries, totals, value) = (next, sums, reached);
        }
    }

    /// Replaces the entry of one sentence after another by the best one, until nothing improves the score, which is
    /// returned.
    fn ascend(&self, entries: &mut [usize], stop: &Stop<'_>) -> Result<f64> {
        let mut totals = self.totals(entries);
        let mut value = self.value(&totals);
        let mut sum = Vec::new();
        // How many sentences in succession kept their entries.
        let mut kept = 0;
        for sentence in (0..self.sentences()).cycle() {
            if kept == self.sentences() {
                break;
            }
            stop.charge(self.cost(sentence))?;
            let current = entries[sentence];
            totals.iter_mut().zip(self.counts.row(current)).for_each(|(total, count)| *total -= count);
            let (best, reached) = self.best(sentence, Some(current), &totals, &mut sum);
            self.counts.add(best, &mut totals);
            kept = if best == current { kept + 1 } else { 1 };
            (entries[sentence], value) = (best, reached);
        }
        Ok(value)
    }

    /// Searches from these entries. Also returns the scores at the start and at the end.
    fn search(&self, mut entries: Vec<usize>, stop: &Stop<'_>) -> Result<(Vec<usize>, f64, f64)> {
        let from = self.value(&self.totals(&entries));
        self.linearised(&mut entries, stop)?;
        let to = self.ascend(&mut entries, stop)?;
        Ok((entries, from, to))
    }
}

/// Searches from the given starts, each of which has an entry for each sentence, and from random ones, which are greedy
/// choices sentence by sentence in random order; in parallel. The result is one that replacing a single entry does not
/// improve: the best, and the first among equals.
pub fn search(rows: &Rows<'_>, given: &[i64], random: usize, seed: u64, run: &mut Run<'_>) -> Result<Found> {
    let sentences = rows.sentences();
    check_length("entries of starts", given.len().next_multiple_of(sentences), given.len())?;
    for (start, list) in given.chunks_exact(sentences).flat_map(|start| start.iter().zip(rows.offsets.iter())) {
        if !usize::try_from(*start).is_ok_and(|start| list.contains(&start)) {
            let expected = format_args!("an entry from {} to {}", list.start, list.end - 1);
            return Err(Error::invalid("starts", expected, start));
        }
    }
    let n_given = given.len() / sentences;
    let starts = n_given.saturating_add(random);
    if starts == 0 {
        return Err(Error::Empty { what: "starts".into() });
    }
    let cost = 8 * rows.offsets.entries() * (rows.counts.width() + SCORE);
    let from_to = reserved(starts.saturating_mul(2))?;
    let mut found = Found { entries: Vec::new(), from_to };
    let mut best = f64::NEG_INFINITY;
    pool::try_run(
        Blocks { items: starts, size: 1, cost: cost as u64, lead: 0 },
        run,
        || (),
        |(), range, stop| {
            let start = if range.start < n_given {
                given[range.start * sentences..][..sentences].iter().map(|&entry| entry as usize).collect()
            } else {
                let mut order = Vec::new();
                shuffle(seed, (range.start - n_given) as u64, &mut order, sentences);
                rows.greedy(&order, stop)?
            };
            rows.search(start, stop)
        },
        |_, (entries, from, to), _| {
            found.from_to.extend([rows.sign * from, rows.sign * to]);
            if found.entries.is_empty() || to > best {
                best = to;
                found.entries = entries.into_iter().map(|entry| entry as i64).collect();
            }
            Ok(())
        },
    )?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::metric;
    use crate::pool::with_run;

    #[test]
    fn wrong_starts_and_rows_are_refused() {
        let length: Arc<dyn Formula> = metric("length", &[]).unwrap();
        let counts = [1, 1, 2, 1, 3, 1];
        let rows = Rows::new(&[0, 2, 3], &counts, length.clone(), false, &Stop::never()).unwrap();
        let message =
            |given: &[i64], random| with_run(1, |run| search(&rows, given, random, 1, run)).unwrap_err().to_string();
        assert!(message(&[], 0).starts_with("starts: expected at least one"));
        assert!(message(&[0], 0).starts_with("entries of starts: expected 2, got 1"));
        assert_eq!("starts must be an entry from 2 to 2, got 1", message(&[0, 1], 0));
        assert!(Rows::new(&[0, 2, 3], &counts[..4], length, false, &Stop::never()).is_err());
    }
}
