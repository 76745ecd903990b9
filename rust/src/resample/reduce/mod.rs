//! What is kept of replicates.

pub mod family;
pub mod stopping;
