//! Counts texts by metrics: in parallel over segments, and once for what metrics or systems have in common.

use super::distinct::Distinct;
use super::matches::{self, MatchBased};
use super::{Counters, Metric, References, Texts};
use crate::error::{Error, Result, check_length};
use crate::memory::zeros;
use crate::pool::{self, Blocks, Run};
use crate::stats::SuffStats;

/// Counts all segments of all systems against the references by each metric, in parallel over segments.
///
/// `systems` holds k columns of S hypotheses. `references` holds columns of S references, where `None` means that the
/// column has no reference for the segment. The result is k × S × K for each metric, system by system: the same as if
/// the metric were alone.
///
/// # Errors
/// [`Error::Empty`] without systems, references or segments, [`Error::LengthMismatch`] for columns of different
/// lengths, [`Error::NoReference`] for a segment without references, [`Error::Overflow`] for counts too large to be
/// resampled, and whatever [`super::Counter::count`] returned, with the segment.
pub fn count<H: AsRef<str> + Sync, R: AsRef<str> + Sync>(
    metrics: &[&dyn Metric],
    systems: &[Vec<H>],
    references: &[Vec<Option<R>>],
    run: &mut Run<'_>,
) -> Result<Vec<Vec<i64>>> {
    let segments = check(systems, references)?;
    let get = |column: usize, segment: usize| references[column][segment].as_ref().map(AsRef::as_ref);
    let hypothesis = |system: usize, segment: usize| systems[system][segment].as_ref();
    let corpus_references = References { columns: references.len(), segments, get: &get };
    let texts = Texts { references: corpus_references, systems: systems.len(), hypothesis: &hypothesis };
    let groups = run.without_progress(|run| groups(metrics, &texts, run))?;
    let n_systems = systems.len();
    let mut out = metrics.iter().map(|m| zeros(&[n_systems, segments, m.width()])).collect::<Result<Vec<_>>>()?;
    // A token costs about as much as a hundred additions, and a segment has about twenty tokens.
    let cost = 2000 * (groups.len() * (n_systems + references.len())) as u64;
    pool::try_run(
        Blocks { items: segments, size: 64, cost, lead: 0 },
        run,
        || (),
        |(), range, stop| {
            let mut rows = Vec::with_capacity(groups.len());
            let (mut segment_references, mut distinct) = (Vec::new(), Distinct::default());
            // After an error, the other metrics count only the segments before it, in case one of those is wrong, too.
            let (mut end, mut outcome) = (range.end, Ok(()));
            for group in &groups {
                let mut counter = (group.counters)();
                let mut own = vec![0; range.len() * n_systems * group.width];
                for (s, rows) in (range.start..end).zip(own.chunks_exact_mut(n_systems * group.width)) {
                    stop.check()?;
                    segment_references.clear();
                    segment_references.extend(corpus_references.of_segment(s));
                    let counted = match systems {
                        [alone] => counter.count(&segment_references, &[alone[s].as_ref()], rows, stop),
                        _ => {
                            distinct.read(systems.iter().map(|c| c[s].as_ref()));
                            distinct.count(counter.as_mut(), &segment_references, rows, stop)
                        }
                    };
                    if let Err(error) = counted {
                        (end, outcome) = (s, Err(error.in_segment(s + 1)));
                        break;
                    }
                }
                rows.push(own);
            }
            outcome.map(|()| rows)
        },
        |range, rows, _| {
            for (group, rows) in groups.iter().zip(&rows) {
                group.split(metrics, rows, (range.start, segments), &mut out);
            }
            Ok(())
        },
    )?;
    for (metric, counts) in metrics.iter().zip(&out) {
        // Ensures that sums never overflow, and that whatever can be scored can be resampled.
        SuffStats::new(counts, n_systems, segments, metric.width())?;
    }
    Ok(out)
}

/// Metrics that are counted together. A row holds the counts of all of them, one after another.
struct Group<'a> {
    /// Their numbers.
    metrics: Vec<usize>,
    counters: Counters<'a>,
    width: usize,
}

impl Group<'_> {
    /// Copies rows, segment by segment from a first one, to the counts of each metric, system by system.
    fn split(&self, metrics: &[&dyn Metric], rows: &[i64], (first, segments): (usize, usize), out: &mut [Vec<i64>]) {
        let mut from = 0;
        for &m in &self.metrics {
            let width = metrics[m].width();
            let n_systems = out[m].len() / (segments * width);
            for (i, row) in rows.chunks_exact(self.width).enumerate() {
                let start = (i % n_systems * segments + first + i / n_systems) * width;
                out[m][start..start + width].copy_from_slice(&row[from..from + width]);
            }
            from += width;
        }
    }
}

/// The groups of metrics whose counts follow from the same matches; a group of its own for every other metric.
fn groups<'a>(metrics: &[&'a dyn Metric], texts: &Texts<'a>, run: &mut Run<'_>) -> Result<Vec<Group<'a>>> {
    let mut members: Vec<Vec<usize>> = Vec::new();
    for (i, metric) in metrics.iter().enumerate() {
        let words = |m: &dyn Metric| m.match_based().map(MatchBased::words);
        match members.iter_mut().find(|group| words(*metric).is_some_and(|own| words(metrics[group[0]]) == Some(own))) {
            Some(group) => group.push(i),
            None => members.push(vec![i]),
        }
    }
    let group = |members: Vec<usize>| {
        let counters = match members[..] {
            [alone] => metrics[alone].counters(texts, run)?,
            _ => matches::counters(members.iter().filter_map(|&m| metrics[m].match_based()).collect()),
        };
        Ok(Group { width: members.iter().map(|&m| metrics[m].width()).sum(), counters, metrics: members })
    };
    members.into_iter().map(group).collect()
}

/// The number of segments, after checks that all columns have it and that every segment has a reference.
pub(super) fn check<H, R>(systems: &[Vec<H>], references: &[Vec<Option<R>>]) -> Result<usize> {
    let first = references.first().ok_or_else(|| Error::Empty { what: "references".into() })?;
    if systems.is_empty() {
        return Err(Error::Empty { what: "systems".into() });
    }
    let segments = first.len();
    if segments == 0 {
        return Err(Error::Empty { what: "segments".into() });
    }
    let lengths = references
        .iter()
        .enumerate()
        .map(|(i, c)| ("references", i, c.len()))
        .chain(systems.iter().enumerate().map(|(i, c)| ("hypotheses", i, c.len())));
    for (what, i, got) in lengths {
        check_length(format_args!("column {i} of {what}"), segments, got)?;
    }
    match (0..segments).find(|&s| references.iter().all(|c| c[s].is_none())) {
        Some(s) => Err(Error::NoReference { segment: s + 1 }),
        None => Ok(segments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Place;
    use crate::metric::testing::made;
    use crate::metric::{Counter, Formula};
    use crate::pool::{Stop, with_run};

    /// Metrics of which some share matches: they differ in smoothings, orders, words and case.
    fn many() -> Vec<std::sync::Arc<dyn Metric>> {
        [
            "sentbleu smoothing=1",
            "ter",
            "sentbleu smoothing=7 max_ngram_order=6",
            "bleu",
            "bleu tokenize=none",
            "sentbleu tokenize=none max_ngram_order=1",
            "bleu lowercase",
            "bleu lowercase mteval_quirks",
            "chrf",
            "bleu max_ngram_order=2 nltk_quirks",
            "nist",
            "sentbleu smoothing=nltk-5 max_ngram_order=2",
        ]
        .map(made)
        .into()
    }

    #[test]
    fn metrics_over_the_same_words_are_one_group() {
        let metrics = many();
        let metrics: Vec<&dyn Metric> = metrics.iter().map(AsRef::as_ref).collect();
        let references = References { columns: 1, segments: 1, get: &|_, _| Some("a") };
        let texts = Texts { references, systems: 1, hypothesis: &|_, _| "a" };
        let found = with_run(1, |run| groups(&metrics, &texts, run)).unwrap();
        let expected = [vec![0, 2, 3, 9, 11], vec![1], vec![4, 5], vec![6], vec![7], vec![8], vec![10]];
        assert_eq!(expected.to_vec(), found.into_iter().map(|group| group.metrics).collect::<Vec<_>>());
    }

    #[test]
    fn an_error_names_the_segment_and_the_column_of_its_metric() {
        let (bleu, large) = (made("bleu"), made("sentbleu smoothing=1 smoothing_epsilon=1e6 max_ngram_order=16"));
        let reference = vec![Some("a a a a a a a a a a a a a a a a a"); 6_000];
        let systems = [vec!["a b b b b b b b b b b b b b b b b"; 6_000]];
        let error = with_run(1, |run| count(&[bleu.as_ref(), large.as_ref()], &systems, &[reference], run));
        assert_eq!(Error::Overflow { column: 0 }, error.unwrap_err());
    }

    /// Cannot count this text.
    struct Refuses(&'static str);

    impl Formula for Refuses {
        fn name(&self) -> &str {
            self.0
        }
        fn columns(&self) -> Vec<String> {
            vec!["lines".into()]
        }
        fn signature(&self) -> Vec<(&'static str, String)> {
            vec![]
        }
        fn score(&self, totals: &[i64]) -> f64 {
            totals[0] as f64
        }
        fn gradient(&self, _: &[i64], out: &mut [f64]) {
            out.fill(1.0);
        }
    }

    impl Metric for Refuses {
        fn counters<'a>(&'a self, _: &Texts<'a>, _: &mut Run<'_>) -> Result<Counters<'a>> {
            Ok(Box::new(|| Box::new(Refuses(self.0))))
        }
    }

    impl Counter for Refuses {
        fn count(&mut self, _: &[&str], hypotheses: &[&str], _: &mut [i64], _: &Stop<'_>) -> Result<()> {
            match hypotheses.contains(&self.0) {
                true => {
                    Err(Error::Malformed { place: Place::default(), expected: "another".into(), got: self.0.into() })
                }
                false => Ok(()),
            }
        }
    }

    #[test]
    fn the_lowest_segment_with_an_error_is_named_whichever_metric_has_it() {
        let [a, b] = [Refuses("a"), Refuses("b")];
        for (texts, expected) in [(["b", "c", "a"], 1), (["c", "a", "b"], 2), (["c", "b", "a"], 2)] {
            for threads in [1, 3] {
                let systems = [(0..1000).map(|i| *texts.get(i).unwrap_or(&"c")).collect::<Vec<_>>()];
                let error =
                    with_run(threads, |run| count(&[&a, &b], &systems, &[vec![Some("r"); 1000]], run)).unwrap_err();
                assert!(error.to_string().starts_with(&format!("segment {expected}: ")), "{error}");
            }
        }
    }
}
