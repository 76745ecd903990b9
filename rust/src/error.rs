//! What can go wrong, as facts. The words shown to a Python user are chosen at the border (`py/`), the words
//! below are for users of the crate.

use thiserror::Error;

/// Everything the core refuses to do, with what came and what was expected.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum Error {
    /// Two things that must be equally long are not.
    #[error("{what}: expected {expected}, got {got}")]
    LengthMismatch {
        /// What was compared, for example `segments of system "b"`.
        what: String,
        /// The length that the other side has.
        expected: usize,
        /// The length that came.
        got: usize,
    },
    /// A name that no registry holds.
    #[error("unknown {kind} {name:?}; known: {}", known.join(", "))]
    UnknownName {
        /// The kind of thing looked up: `metric`, `tokenizer` …
        kind: String,
        /// The name that came.
        name: String,
        /// The names that would have been found.
        known: Vec<String>,
    },
    /// An option with a value it cannot take.
    #[error("{option} must be {expected}, got {got}")]
    InvalidOption {
        /// The option's name.
        option: String,
        /// What it takes, in words.
        expected: String,
        /// The value that came.
        got: String,
    },
    /// A text that is not what it should be.
    #[error("{place}: expected {expected}, got {got}")]
    Malformed {
        /// Where: a line, a segment.
        place: String,
        /// What should stand there.
        expected: String,
        /// What stands there.
        got: String,
    },
    /// Nothing to work on.
    #[error("{what}: nothing given, at least one is needed")]
    Empty {
        /// What there is none of.
        what: String,
    },
    /// A segment without a single reference.
    #[error("segment {segment} has no reference; every segment needs at least one (an empty line counts as one)")]
    NoReference {
        /// The segment's number, from 1.
        segment: usize,
    },
    /// Counts so large that their sums would leave the 64-bit integers.
    #[error("the counts of column {column} are too large: their sum would pass 2^62")]
    Overflow {
        /// The column's number, from 0.
        column: usize,
    },
    /// An index outside the thing it indexes.
    #[error("{what} {index} is out of range: there are {len}")]
    OutOfRange {
        /// What was indexed.
        what: String,
        /// The index that came, from 0.
        index: usize,
        /// How many there are.
        len: usize,
    },
    /// What does not fit the memory; of a segment it is [`Error::LongSegment`].
    #[error("cannot allocate {numbers} numbers: ask for fewer replicates, systems or metrics at a time")]
    Memory {
        /// How many numbers were to be kept.
        numbers: u128,
    },
    /// A segment whose tables do not fit the memory.
    #[error("segment {segment} is too long: a table of {numbers} numbers does not fit the memory; cut the segment")]
    LongSegment {
        /// The segment's number, from 1.
        segment: usize,
        /// How many numbers its table was to hold.
        numbers: u128,
    },
    /// The operating system did not give the threads.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// The system's words.
        reason: String,
    },
    /// The caller asked to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// The same with the segment (from 1): put in front of the place, or as what did not fit the memory.
    pub(crate) fn in_segment(self, segment: usize) -> Self {
        match self {
            Error::Malformed { place, expected, got } => {
                Error::Malformed { place: format!("segment {segment}, {place}"), expected, got }
            }
            Error::Memory { numbers } => Error::LongSegment { segment, numbers },
            other => other,
        }
    }
}

/// A result with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;
