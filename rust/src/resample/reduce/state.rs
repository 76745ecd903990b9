//! The state of a reduction: what it has computed, without its specification, as words of 64 bits.
//!
//! A process that runs a part of the replicates sends the state to the process that has the specification, which merges
//! it with the states of the other parts. Floats are stored by their bits, so nothing is rounded.

use crate::error::{Error, Result};
use crate::memory::{extend, push, reserved};

/// A reduction whose state can be sent to another process.
pub trait State {
    /// The state after a run.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] before a run.
    fn state(&self) -> Result<Vec<u64>>;

    /// Replaces the result by the one with this state, which a reduction with the same specification has computed.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the words are not the state of such a reduction.
    fn set_state(&mut self, words: &[u64]) -> Result<()>;
}

/// The error for words that are not the state of a reduction with the same specification.
pub(crate) fn foreign() -> Error {
    Error::invalid("the state of a reduction", "that of a reduction with the same specification", "other numbers")
}

/// Words that are read from the front.
pub struct Reader<'a>(&'a [u64]);

impl<'a> Reader<'a> {
    pub(crate) fn new(words: &'a [u64]) -> Self {
        Reader(words)
    }

    pub(crate) fn word(&mut self) -> Result<u64> {
        let (&first, rest) = self.0.split_first().ok_or_else(foreign)?;
        self.0 = rest;
        Ok(first)
    }

    pub(crate) fn words(&mut self, n: usize) -> Result<&'a [u64]> {
        let (words, rest) = self.0.split_at_checked(n).ok_or_else(foreign)?;
        self.0 = rest;
        Ok(words)
    }

    pub(crate) fn check_left(&self, words: usize) -> Result<()> {
        if words <= self.0.len() { Ok(()) } else { Err(foreign()) }
    }

    pub(crate) fn end(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(foreign()) }
    }
}

/// A part of a state.
pub trait Field {
    /// Appends the part to a state.
    fn save(&self, out: &mut Vec<u64>) -> Result<()>;

    /// Reads what [`Field::save`] has written.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if it cannot have been written.
    fn load(&mut self, from: &mut Reader<'_>) -> Result<()>;
}

/// A number that a word can hold.
trait Word: Copy {
    fn to_word(self) -> u64;
    fn from_word(word: u64) -> Option<Self>;
}

macro_rules! words {
    ($($number:ty: $to:expr, $from:expr;)+) => {$(
        impl Word for $number {
            fn to_word(self) -> u64 {
                $to(self)
            }

            fn from_word(word: u64) -> Option<Self> {
                $from(word)
            }
        }
    )+};
}

words! {
    u64: |number| number, Some;
    i64: i64::cast_unsigned, |word: u64| Some(word.cast_signed());
    f64: f64::to_bits, |word| Some(f64::from_bits(word));
    usize: |number| number as u64, |word: u64| word.try_into().ok();
}

impl Field for usize {
    fn save(&self, out: &mut Vec<u64>) -> Result<()> {
        push(out, self.to_word())
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<()> {
        *self = Word::from_word(from.word()?).ok_or_else(foreign)?;
        Ok(())
    }
}

impl<T: Word> Field for Vec<T> {
    fn save(&self, out: &mut Vec<u64>) -> Result<()> {
        self.len().save(out)?;
        extend(out, self.iter().map(|number| number.to_word()))
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<()> {
        let mut n = 0;
        n.load(from)?;
        let words = from.words(n)?;
        *self = reserved(n)?;
        for &word in words {
            self.push(T::from_word(word).ok_or_else(foreign)?);
        }
        Ok(())
    }
}

/// Implements [`Field`] for fields one after another.
macro_rules! fields {
    ($class:ident: $($($field:ident).+),+) => {
        impl $crate::resample::reduce::Field for $class {
            fn save(&self, out: &mut Vec<u64>) -> Result<()> {
                $(self.$($field).+.save(out)?;)+
                Ok(())
            }

            fn load(&mut self, from: &mut $crate::resample::reduce::state::Reader<'_>) -> Result<()> {
                $(self.$($field).+.load(from)?;)+
                Ok(())
            }
        }
    };
}

pub(super) use fields;

/// Implements [`State`] for a reduction from its fields with results, and a check that they fit each other and the
/// specification. The number distinguishes the state from those of other reductions.
macro_rules! state {
    ($class:ident = $number:literal, [$($field:ident),+], $fits:expr) => {
        impl $crate::resample::reduce::State for $class {
            fn state(&self) -> Result<Vec<u64>> {
                use $crate::resample::reduce::state::Field;
                let mut out = Vec::new();
                Field::save(&($number as usize), &mut out)?;
                $(Field::save(&self.$field, &mut out)?;)+
                Ok(out)
            }

            fn set_state(&mut self, words: &[u64]) -> Result<()> {
                use $crate::resample::reduce::state::{Field, Reader, foreign};
                let mut from = Reader::new(words);
                if from.word()? != $number {
                    return Err(foreign());
                }
                $(Field::load(&mut self.$field, &mut from)?;)+
                from.end()?;
                let fits: fn(&mut Self) -> bool = $fits;
                if fits(self) { Ok(()) } else { Err(foreign()) }
            }
        }
    };
}

pub(super) use state;
