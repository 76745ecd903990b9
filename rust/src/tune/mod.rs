//! Tuning on k-best lists: the lists, and optimizers of weights on them.
//!
//! A weight vector picks one entry of each list, the first one with the best model score, so its outputs are a system
//! like any other: their rows of counts can be scored and resampled. [`mira`] and [`xbleu`] learn weights sentence by
//! sentence, in random order, and [`pro`] from random pairs of candidates.

pub mod candidates;
pub mod l1;
pub mod lists;
pub mod mert;
pub mod mira;
pub mod oracle;
pub mod pro;
pub mod templates;
pub mod xbleu;
