//! How many examples tests of properties try.

use proptest::prelude::ProptestConfig;

/// `RESHUFFLE_FUZZ`, or so many that the test takes a fraction of a second without optimization.
pub(crate) fn cases(few: u32) -> ProptestConfig {
    let cases = std::env::var("RESHUFFLE_FUZZ").map_or(few, |n| n.parse().expect("RESHUFFLE_FUZZ is a number"));
    ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 1 << 14, ..ProptestConfig::default() }
}
