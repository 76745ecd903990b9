//! What states are compared by, packed into one integer.

use std::ops::{Add, Sub};

/// Bits of a key for the number of the state that a new state was made from.
const STATES: u32 = 6;

/// What states are compared by, smaller is better: matched words (more are better), chunks, distance, and the order in
/// which they were made, which is 0 between comparisons.
pub(super) trait Key: Copy + Ord + Add<Output = Self> + Sub<Output = Self> {
    /// The first bit of the distance, after those of the order.
    const DISTANCE: u32;
    /// The first bit of the chunks.
    const CHUNKS: u32;
    /// The first bit of the matched words.
    const MATCHED: u32;
    /// Bits in all.
    const BITS: u32;

    fn of(number: u64) -> Self;
    fn shifted(self, by: u32) -> Self;
    fn order(self) -> usize;
    fn chunks(self) -> usize;
    fn without_order(self) -> Self;

    /// Has a key room for texts of this length, distances of this size, and so many matches at a word?
    fn fits(longest: u64, distance: u64, matches: u64) -> bool {
        let below = |value: u64, bits: u32| value.checked_shr(bits).unwrap_or(0) == 0;
        below(2 * longest, (Self::BITS - Self::MATCHED).min(Self::MATCHED - Self::CHUNKS))
            && below(distance, Self::CHUNKS - Self::DISTANCE)
            && below(matches, Self::DISTANCE - STATES)
    }
}

macro_rules! key {
    ($int:ty, $distance:literal, $chunks:literal, $matched:literal) => {
        impl Key for $int {
            const DISTANCE: u32 = $distance;
            const CHUNKS: u32 = $chunks;
            const MATCHED: u32 = $matched;
            const BITS: u32 = <$int>::BITS;

            fn of(number: u64) -> Self {
                number as $int
            }

            fn shifted(self, by: u32) -> Self {
                self << by
            }

            fn order(self) -> usize {
                self as usize & ((1 << $distance) - 1)
            }

            fn chunks(self) -> usize {
                (self >> $chunks) as usize & ((1 << ($matched - $chunks)) - 1)
            }

            fn without_order(self) -> Self {
                self >> $distance << $distance
            }
        }
    };
}

// Sentences of up to two thousand words, and texts of up to a million.
key!(u64, 14, 40, 52);
key!(u128, 27, 84, 106);
