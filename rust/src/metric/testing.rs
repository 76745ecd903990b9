//! What tests of metrics have in common.

use std::sync::Arc;

use super::{Kind, Metric, MetricSpec, Value, count};
use crate::error::Result;
use crate::pool::{Run, with_run};

/// The options in a text such as `smooth_method=floor max_ngram_order=2 lowercase`, with their values.
pub(crate) fn values<'a>(spec: &MetricSpec, options: impl IntoIterator<Item = &'a str>) -> Vec<(&'a str, Value)> {
    let numbers = |text: &str| text.split(',').map(|number| number.parse().unwrap()).collect();
    let value = |option: &'a str| {
        let (name, text) = option.split_once('=').unwrap_or((option, ""));
        let known = spec.options.iter().find(|known| known.name == name).unwrap();
        let value = match known.kind {
            Kind::Flag => Value::Flag(true),
            Kind::Integer(..) => Value::Integer(text.parse().unwrap()),
            Kind::Real(..) => Value::Real(text.parse().unwrap()),
            Kind::Reals(..) => Value::Reals(numbers(text)),
            Kind::Choice(_) | Kind::Path => Value::Name(text.into()),
            Kind::Choices(_) => Value::Names(text.split('+').map(Into::into).collect()),
        };
        (name, value)
    };
    options.into_iter().map(value).collect()
}

/// A metric by its name and options: `bleu smooth_method=floor lowercase`.
pub(crate) fn made(metric: &str) -> Arc<dyn Metric> {
    let mut words = metric.split(' ');
    let spec = MetricSpec::named(words.next().unwrap()).unwrap();
    spec.make(&values(spec, words), Vec::new()).unwrap()
}

/// Its signature: `case:lc|tok:13a`.
pub(crate) fn signature(metric: &str) -> String {
    made(metric).signature().into_iter().map(|(key, value)| format!("{key}:{value}")).collect::<Vec<_>>().join("|")
}

/// Its row for a hypothesis.
pub(crate) fn row(metric: &str, references: &[&str], hypothesis: &str) -> Vec<i64> {
    count_segment(made(metric).as_ref(), references, hypothesis)
}

/// The row of one hypothesis.
pub(crate) fn count_segment(metric: &dyn Metric, references: &[&str], hypothesis: &str) -> Vec<i64> {
    let references: Vec<_> = references.iter().map(|&r| vec![Some(r)]).collect();
    with_run(1, |run| count_alone(metric, &[vec![hypothesis]], &references, run)).unwrap()
}

/// [`count`] for one metric.
pub(crate) fn count_alone<H: AsRef<str> + Sync, R: AsRef<str> + Sync>(
    metric: &dyn Metric,
    systems: &[Vec<H>],
    references: &[Vec<Option<R>>],
    run: &mut Run<'_>,
) -> Result<Vec<i64>> {
    count(&[metric], systems, references, run).map(|mut counts| counts.remove(0))
}
