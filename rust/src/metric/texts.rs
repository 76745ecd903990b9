//! The texts of a corpus, and the resolution in which mean lengths of references are counted.

use crate::math::gcd;

/// The texts of a corpus. Metrics may read the hypotheses to prepare themselves, for example to leave out what no text
/// contains, but the counts of one system must not depend on the others.
#[derive(Clone, Copy)]
pub struct Texts<'a> {
    /// The references.
    pub references: References<'a>,
    pub(super) systems: usize,
    /// The hypothesis of a system for a segment.
    pub(super) hypothesis: &'a (dyn Fn(usize, usize) -> &'a str + Sync),
}

impl<'a> Texts<'a> {
    /// The hypotheses for one segment.
    pub fn hypotheses(&self, segment: usize) -> impl Iterator<Item = &'a str> + use<'a> {
        let hypothesis = self.hypothesis;
        (0..self.systems).map(move |system| hypothesis(system, segment))
    }
}

/// The references of a corpus.
#[derive(Clone, Copy)]
pub struct References<'a> {
    pub(super) columns: usize,
    pub(super) segments: usize,
    /// The reference in a column for a segment, if there is one.
    pub(super) get: &'a (dyn Fn(usize, usize) -> Option<&'a str> + Sync),
}

impl<'a> References<'a> {
    /// The number of segments.
    pub fn segments(&self) -> usize {
        self.segments
    }

    /// The references of one segment, without the missing ones.
    pub fn of_segment(&self, segment: usize) -> impl Iterator<Item = &'a str> + use<'a> {
        let get = self.get;
        (0..self.columns).filter_map(move |column| get(column, segment))
    }

    /// The resolution in which mean lengths over references are counted: L steps per word.
    ///
    /// L is the least common multiple of the numbers of references per segment: 1 with one reference, 8 with eight
    /// everywhere, 6 if some segments have two and some have three. A mean over references times L is an integer, and L
    /// cancels in the ratio of two such counts. With fewer than 23 references L is always small enough. If it is too
    /// large, it is `Resolution::FALLBACK`, and means are rounded to it: see [`Resolution::mean`].
    pub fn resolution(&self) -> Resolution {
        let mut multiple = 1;
        let mut seen = 0;
        for segment in 0..self.segments {
            let n = self.of_segment(segment).count() as i64;
            if n != seen {
                multiple = lcm(multiple, n);
                seen = n;
            }
            if multiple > LARGEST_MULTIPLE {
                return Resolution::FALLBACK;
            }
        }
        Resolution(multiple)
    }
}

/// The largest multiple that is used: the steps of 2^31 words still fit in 64 bits.
const LARGEST_MULTIPLE: i64 = 1 << 31;

/// The number of steps per word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolution(i64);

impl Resolution {
    /// 9 times the least common multiple of the numbers up to 22: of its multiples below 2^31, the one with the most
    /// divisors.
    pub(super) const FALLBACK: Resolution = Resolution(2_095_133_040);

    /// The number of steps in a number of words.
    pub fn steps(self, words: usize) -> i64 {
        words as i64 * self.0
    }

    /// The mean length in steps of `references` references with `words` words in total. Exact if L is a common
    /// multiple, otherwise rounded by less than 2^-31 of a word.
    pub fn mean(self, words: usize, references: usize) -> i64 {
        let (total, n) = (i128::from(self.steps(1)) * words as i128, references as i128);
        ((2 * total + n) / (2 * n)) as i64
    }
}

fn lcm(a: i64, b: i64) -> i64 {
    a / gcd(a as u64, b as u64) as i64 * b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolutions_are_least_common_multiples() {
        assert_eq!([1, 6, 12, 24, 7], [(1, 1), (2, 3), (4, 6), (8, 3), (7, 7)].map(|(a, b)| lcm(a, b)));
        assert_eq!(Resolution::FALLBACK.0, 9 * (1..=22).fold(1, lcm));
        assert_eq!([21, 10, 11], [(7, 2), (10, 6), (11, 6)].map(|(words, n)| Resolution(6).mean(words, n)));
        assert_eq!([3, 4, 2], [(13, 4), (15, 4), (5, 3)].map(|(words, n)| Resolution(1).mean(words, n)));
    }
}
