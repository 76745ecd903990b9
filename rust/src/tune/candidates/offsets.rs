//! Where each list begins, and checks of numbers that all optimizers take.

use std::fmt::Display;
use std::ops::Range;

use crate::error::{Error, Result, check_length};
use crate::pool::{PIECE, Stop};

/// Where each list begins, and where the last one ends.
#[derive(Debug, Clone, Copy)]
pub struct Offsets<'a>(&'a [i64]);

impl<'a> Offsets<'a> {
    /// The offsets of at least one list. No list is empty, and candidates have 32-bit numbers.
    pub fn new(offsets: &'a [i64], stop: &Stop<'_>) -> Result<Self> {
        let last = offsets.last().map_or(0, |&last| usize::try_from(last).unwrap_or(0));
        let offsets = Self::of_rows("offsets of lists", offsets, last, stop)?;
        if offsets.len() == 0 {
            return Err(Error::Empty { what: "lists of candidates".into() });
        }
        if let Some(empty) = offsets.iter().position(|list| list.is_empty()) {
            return Err(Error::Empty { what: format!("candidates of sentence {}", empty + 1) });
        }
        check_option("candidates", "fewer than 2^32", last, u32::try_from(last).is_ok())?;
        Ok(offsets)
    }

    /// The limits of rows, which may be empty: they begin with 0, never fall, and end with `end`.
    pub fn of_rows(what: &str, starts: &'a [i64], end: usize, stop: &Stop<'_>) -> Result<Self> {
        let invalid = |got: String| {
            Error::invalid(what, format_args!("numbers that begin with 0, never fall, and end with {end}"), got)
        };
        let (Some(&first), Some(&last)) = (starts.first(), starts.last()) else { return Err(invalid("none".into())) };
        if first != 0 || usize::try_from(last) != Ok(end) {
            return Err(invalid(format!("{first} to {last}")));
        }
        for pair in starts.windows(2) {
            stop.charge(1)?;
            if pair[1] < pair[0] {
                return Err(invalid(format!("{} after {}", pair[1], pair[0])));
            }
        }
        Ok(Offsets(starts))
    }

    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> usize {
        self.0.len() - 1
    }

    /// The candidates of a list.
    #[inline]
    pub fn list(self, list: usize) -> Range<usize> {
        self.0[list] as usize..self.0[list + 1] as usize
    }

    /// The candidates of each list.
    pub fn iter(self) -> impl Iterator<Item = Range<usize>> + use<'a> {
        self.0.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }

    /// The number of candidates of all lists.
    pub fn entries(self) -> usize {
        self.0[self.len()] as usize
    }

    /// The longest list.
    pub fn longest(self) -> usize {
        self.iter().map(|list| list.len()).max().unwrap_or(0)
    }
}

/// Checks an option.
pub(in crate::tune) fn check_option(
    option: impl Display,
    expected: impl Display,
    got: impl Display,
    valid: bool,
) -> Result<()> {
    if valid { Ok(()) } else { Err(Error::invalid(option, expected, got)) }
}

/// Checks that there are as many numbers as expected, and that they are finite.
pub(in crate::tune) fn check_numbers(what: &str, numbers: &[f64], expected: usize, stop: &Stop<'_>) -> Result<()> {
    check_length(what, expected, numbers.len())?;
    for piece in numbers.chunks(PIECE) {
        stop.charge(piece.len())?;
        if let Some(number) = piece.iter().find(|number| !number.is_finite()) {
            return Err(Error::invalid(what, "finite numbers", number));
        }
    }
    Ok(())
}
