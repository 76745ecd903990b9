//! The weights of n-gram orders in a geometric mean of precisions. Options are named as in NLTK.

use super::{Kind, OptionSpec, Options};
use crate::error::{Error, Result};

pub(super) const WEIGHTS: OptionSpec = OptionSpec::unset(
    "weights",
    Kind::Reals(0.0, 1e6),
    "weights of the n-gram orders, max_ngram_order of them; equal by default",
);

pub(super) const AUTO_REWEIGH: OptionSpec = OptionSpec::flag(
    "auto_reweigh",
    "as NLTK: with fewer than four words, use only that many orders (default orders and weights only)",
);

/// The weights of the orders.
pub(super) struct Weights {
    /// None if all orders have the same weight.
    each: Option<Vec<f64>>,
    order: usize,
    auto_reweigh: bool,
}

impl Weights {
    /// From the options [`WEIGHTS`] and [`AUTO_REWEIGH`].
    pub(super) fn new(metric: &str, options: &Options) -> Result<Self> {
        let order = options.integer("max_ngram_order");
        let each = options.reals(WEIGHTS.name).map(<[f64]>::to_vec);
        if let Some(each) = each.as_ref().filter(|each| each.len() != order) {
            return Err(Error::InvalidMetricOption {
                metric: metric.into(),
                option: WEIGHTS.name.into(),
                expected: format!("{order} numbers, one for each order up to {{other}}"),
                other: Some("max_ngram_order"),
                got: format!("{}: {each:?}", each.len()),
            });
        }
        Ok(Weights { each, order, auto_reweigh: options.flag(AUTO_REWEIGH.name) })
    }

    /// Do all orders have the same weight for hypotheses of any length?
    pub(super) fn are_equal(&self) -> bool {
        self.each.is_none() && !self.auto_reweigh
    }

    /// The number of equally weighted orders if hypotheses of this length are reweighted, otherwise None.
    #[inline]
    pub(super) fn reweighed(&self, hypothesis: i64) -> Option<usize> {
        let is_default = self.order == 4 && self.each.as_ref().is_none_or(|each| each.iter().all(|&w| w == 0.25));
        (self.auto_reweigh && is_default && hypothesis < 4).then_some(hypothesis.max(1) as usize)
    }

    /// The product of the first `orders` precisions, each to the power of its weight. The weights of the other orders
    /// are distributed among them in proportion.
    pub(super) fn product(&self, precisions: impl Iterator<Item = f64>, hypothesis: i64, orders: usize) -> f64 {
        let reweighed = self.reweighed(hypothesis);
        let orders = reweighed.unwrap_or(orders);
        let sum_of_logarithms = match &self.each {
            Some(each) if reweighed.is_none() => {
                let share = share(each, orders);
                // A weight of 0 ignores its order, whatever the precision.
                let weighted = precisions.zip(&each[..orders]).filter(|(_, weight)| **weight > 0.0);
                weighted.map(|(precision, weight)| weight * share * precision.ln()).sum()
            }
            _ => precisions.take(orders).map(f64::ln).sum::<f64>() / orders as f64,
        };
        sum_of_logarithms.exp()
    }

    /// The exponents in [`Weights::product`].
    pub(super) fn powers(&self, hypothesis: i64, orders: usize) -> impl Iterator<Item = f64> {
        let reweighed = self.reweighed(hypothesis);
        let orders = reweighed.unwrap_or(orders);
        let each = self.each.as_ref().filter(|_| reweighed.is_none());
        let share = each.map_or(1.0, |each| share(each, orders));
        (0..orders).map(move |n| each.map_or(1.0 / orders as f64, |each| each[n] * share))
    }

    /// The signature entries.
    pub(super) fn signature(&self) -> impl Iterator<Item = (&'static str, String)> {
        let listed = |each: &Vec<f64>| each.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let weights = self.each.as_ref().map(|each| ("weights", listed(each)));
        weights.into_iter().chain(self.auto_reweigh.then(|| ("reweigh", "auto".into())))
    }
}

/// The factor by which the weights of the first `orders` orders grow if the other orders are left out.
fn share(each: &[f64], orders: usize) -> f64 {
    let counted: f64 = each[..orders].iter().sum();
    if orders == each.len() || counted == 0.0 { 1.0 } else { each.iter().sum::<f64>() / counted }
}
