//! A pass over the lists: the loss and its derivatives with respect to all features.

use std::ops::Range;

use super::{Lists, softmax};
use crate::error::{Error, Result};
use crate::memory::{resize, zeros};
use crate::pool::{self, Run, Stop};

/// The sums of a thread, which are zero between blocks.
#[derive(Default)]
struct Scratch {
    sums: Vec<f64>,
    touched: Vec<usize>,
    scores: Vec<f64>,
}

/// The loss of a block of lists, and those derivatives that are not zero.
type Part = (f64, Vec<(usize, f64)>);

/// The loss at these weights, without the penalty, and its derivative with respect to each feature.
pub fn pass(lists: &Lists<'_>, weights: &[f64], run: &mut Run<'_>) -> Result<(f64, Vec<f64>)> {
    let (mut total, mut gradient): (f64, Vec<f64>) = (0.0, zeros(&[weights.len()])?);
    pool::try_run(
        lists.blocks(),
        run,
        Scratch::default,
        |scratch, block, stop| part(lists, weights, scratch, block, stop),
        |_, (loss, slopes), _| {
            total += loss;
            slopes.iter().for_each(|&(feature, value)| gradient[feature] += value);
            Ok(())
        },
    )?;
    if !total.is_finite() || gradient.iter().any(|value| !value.is_finite()) {
        return Err(Error::invalid("features", "values whose weighted sums are finite", "larger ones"));
    }
    Ok((total, gradient))
}

fn part(
    lists: &Lists<'_>,
    weights: &[f64],
    scratch: &mut Scratch,
    block: Range<usize>,
    stop: &Stop<'_>,
) -> Result<Part> {
    let Scratch { sums, touched, scores } = scratch;
    resize(sums, weights.len())?;
    let mut loss = 0.0;
    for list in block {
        let (candidates, target) = (lists.candidates.list(list), lists.target(list));
        scores.clear();
        for candidate in candidates.clone() {
            let mut score = 0.0;
            let mut values = 0;
            lists.candidates.each(candidate, |feature, value| {
                score += weights[feature] * value;
                values += 1;
            });
            stop.charge(4 * values + 8)?;
            scores.push(score);
        }
        loss += softmax(scores, target);
        scores[target] -= 1.0;
        for (candidate, &share) in candidates.zip(&*scores) {
            lists.candidates.each(candidate, |feature, value| {
                let sum = &mut sums[feature];
                // A sum may be zero several times: then it is listed again, and zero when it is taken again.
                if *sum == 0.0 {
                    touched.push(feature);
                }
                *sum += share * value;
            });
        }
    }
    let gradient = touched.drain(..).map(|feature| (feature, std::mem::take(&mut sums[feature]))).collect();
    Ok((loss, gradient))
}
