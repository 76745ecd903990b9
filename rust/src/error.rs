//! Errors: facts, and a message template with a placeholder for each fact. The core knows systems by number only, and
//! options by the names of Python's arguments; `reshuffle.errors` replaces both by the words that users know.
//!
//! The documentation of a function that other crates can call lists its errors, but leaves out those that follow from its
//! arguments: [`Error::Interrupted`] of functions that take a [`Stop`](crate::pool::Stop) or a [`Run`](crate::pool::Run),
//! errors that the `watch` of a `Run` returns, [`Error::Memory`], and [`Error::UnknownName`] of functions that look up a
//! name.

use std::fmt;

/// The largest sum of counts, in absolute value. Differences of two sums below it fit in 64 bits.
pub const LARGEST_SUM: i64 = 1 << 62;

/// Why the core refuses a request: what it expected, and what it got. Segments, lines and characters are counted from 1,
/// columns and indices from 0.
#[allow(missing_docs)] // Of the fields, which the variants explain.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// Two lengths that must be equal are not: those of `what`, for example `segments of masks`.
    LengthMismatch { what: String, expected: usize, got: usize },
    /// A name that is not in the registry of its kind: `metric`, `tokenizer` …
    UnknownName { kind: String, name: String, known: Vec<String> },
    /// A value that is not among the choices of a metric's option.
    UnknownChoice { option: String, name: String, known: Vec<String> },
    /// A value that an argument cannot take, and those that it can, in words.
    InvalidOption { option: String, expected: String, got: String },
    /// A value that an option of a metric cannot take. Metrics may share an option's name but not its range. `{other}` in
    /// `expected` stands for the name of another option.
    InvalidMetricOption { metric: String, option: String, expected: String, other: Option<&'static str>, got: String },
    /// A text in the wrong format, what the format requires at that place, and what the text has there.
    Malformed { place: Place, expected: String, got: String },
    /// A file that cannot be used, such as a damaged one: its path, and the name of a member of an archive.
    File { file: String, line: Option<usize>, expected: String, got: String },
    /// A metric's formula that cannot be read from the character `column` on.
    Formula { metric: String, column: usize, expected: String, got: String },
    /// Sums, with their names, for which a metric's formula has no value.
    Undefined { metric: String, totals: String },
    /// An empty list, of what is missing.
    Empty { what: String },
    /// A segment without a reference.
    NoReference { segment: usize },
    /// Counts of a column so large that their sums would overflow 64-bit integers.
    Overflow { column: usize },
    /// An index out of the range of `len` elements.
    OutOfRange { what: String, index: usize, len: usize },
    /// Not enough memory for so many numbers. For a single segment see [`Error::LongSegment`].
    Memory { numbers: u128 },
    /// A segment whose table of so many numbers does not fit in memory.
    LongSegment { segment: usize, numbers: u128 },
    /// The operating system refused to start threads, for a reason of its own.
    Threads { threads: usize, reason: String },
    /// The caller asked to stop.
    Interrupted,
}

/// Where a text comes from, as far as known. All numbers are from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    pub segment: Option<usize>,
    /// The system or column of references that the text belongs to.
    pub column: Option<Column>,
    pub line: Option<usize>,
}

/// A system, or a column of references, by its number from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    System(usize),
    Reference(usize),
}

/// A value in a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    Number(u128),
    Text(String),
    /// The number of a system, from 1.
    System(usize),
    Option(String),
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fact::Number(number) => write!(f, "{number}"),
            Fact::Text(text) | Fact::Option(text) => f.write_str(text),
            Fact::System(number) => write!(f, "system {number}"),
        }
    }
}

impl Error {
    /// [`Error::InvalidOption`].
    pub(crate) fn invalid(option: impl fmt::Display, expected: impl fmt::Display, got: impl fmt::Display) -> Self {
        Error::InvalidOption { option: option.to_string(), expected: expected.to_string(), got: got.to_string() }
    }

    /// [`Error::UnknownName`].
    pub(crate) fn unknown<'a>(kind: impl fmt::Display, name: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        let known = known.into_iter().map(Into::into).collect();
        Error::UnknownName { kind: kind.to_string(), name: name.into(), known }
    }

    /// The message, with `{name}` in place of the fact `name`.
    pub fn template(&self) -> String {
        self.parts().0
    }

    /// The facts in the message, with their names.
    pub fn facts(&self) -> Vec<(&'static str, Fact)> {
        self.parts().1
    }

    fn parts(&self) -> (String, Vec<(&'static str, Fact)>) {
        let number = |name, n: usize| (name, Fact::Number(n as u128));
        let text = |name, text: &str| (name, Fact::Text(text.into()));
        let option = |name, option: &str| (name, Fact::Option(option.into()));
        let (template, facts) = match self {
            Error::LengthMismatch { what, expected, got } => (
                "{what}: expected {expected}, got {got}",
                vec![text("what", what), number("expected", *expected), number("got", *got)],
            ),
            Error::UnknownName { kind, name, known } => (
                "unknown {kind} {name}; known: {known}",
                vec![text("kind", kind), text("name", &format!("{name:?}")), text("known", &known.join(", "))],
            ),
            Error::UnknownChoice { option: of, name, known } => (
                "unknown {option} {name}; known: {known}",
                vec![option("option", of), text("name", &format!("{name:?}")), text("known", &known.join(", "))],
            ),
            Error::InvalidOption { option: of, expected, got } => (
                "{option} must be {expected}, got {got}",
                vec![option("option", of), text("expected", expected), text("got", got)],
            ),
            Error::InvalidMetricOption { metric, option: of, expected, other, got } => {
                let template = format!("{{metric}}: {{option}} must be {expected}, got {{got}}");
                let mut facts = vec![text("metric", metric), option("option", of), text("got", got)];
                facts.extend(other.map(|other| option("other", other)));
                return (template, facts);
            }
            Error::Malformed { place, expected, got } => {
                let known = [
                    place.segment.map(|segment| ("segment {segment}", number("segment", segment))),
                    place.column.map(|column| match column {
                        Column::System(system) => ("{system}", ("system", Fact::System(system))),
                        Column::Reference(reference) => ("reference {reference}", number("reference", reference)),
                    }),
                    place.line.map(|line| ("line {line}", number("line", line))),
                ];
                let (names, mut facts): (Vec<_>, Vec<_>) = known.into_iter().flatten().unzip();
                facts.extend([text("expected", expected), text("got", got)]);
                let colon = if names.is_empty() { "" } else { ": " };
                let template = format!("{}{colon}expected {{expected}}, got {{got}}", names.join(", "));
                return (template, facts);
            }
            Error::File { file, line: Some(line), expected, got } => (
                "{file}, line {line}: expected {expected}, got {got}",
                vec![text("file", file), number("line", *line), text("expected", expected), text("got", got)],
            ),
            Error::File { file, line: None, expected, got } => (
                "{file}: expected {expected}, got {got}",
                vec![text("file", file), text("expected", expected), text("got", got)],
            ),
            Error::Formula { metric, column, expected, got } => (
                "{metric}: at character {column} of the formula: expected {expected}, got {got}",
                vec![text("metric", metric), number("column", *column), text("expected", expected), text("got", got)],
            ),
            Error::Undefined { metric, totals } => (
                "{metric}: the formula has no value, or none of at most 1e75 in magnitude, for the sums {totals}; \
                 where(condition, a, b) in a formula gives such sums a value",
                vec![text("metric", metric), text("totals", totals)],
            ),
            Error::Empty { what } => ("{what}: expected at least one, got none", vec![text("what", what)]),
            Error::NoReference { segment } => (
                "segment {segment} has no reference; every segment needs at least one (an empty line counts as one)",
                vec![number("segment", *segment)],
            ),
            Error::Overflow { column } => (
                "the counts of column {column} are too large: their sum would pass 2^{bits}",
                vec![number("column", *column), number("bits", LARGEST_SUM.ilog2() as usize)],
            ),
            Error::OutOfRange { what, index, len } => (
                "{what} {index} is out of range: there are {len}, counted from 0",
                vec![text("what", what), number("index", *index), number("len", *len)],
            ),
            Error::Memory { numbers } => (
                "cannot allocate {numbers} numbers: ask for fewer replicates, systems or metrics at a time",
                vec![("numbers", Fact::Number(*numbers))],
            ),
            Error::LongSegment { segment, numbers } => (
                "segment {segment} is too long: a table of {numbers} numbers does not fit in memory; split the segment",
                vec![number("segment", *segment), ("numbers", Fact::Number(*numbers))],
            ),
            Error::Threads { threads, reason } => {
                ("cannot start {threads} threads: {reason}", vec![number("threads", *threads), text("reason", reason)])
            }
            Error::Interrupted => ("interrupted", vec![]),
        };
        (template.into(), facts)
    }

    /// Adds the segment (from 1) to the place; [`Error::Memory`] becomes [`Error::LongSegment`].
    pub(crate) fn in_segment(self, segment: usize) -> Self {
        match self {
            Error::Malformed { place, expected, got } => {
                Error::Malformed { place: Place { segment: Some(segment), ..place }, expected, got }
            }
            Error::Memory { numbers } => Error::LongSegment { segment, numbers },
            other => other,
        }
    }

    /// Adds the system or column of references to the place.
    pub(crate) fn in_column(self, column: Column) -> Self {
        match self {
            Error::Malformed { place, expected, got } => {
                Error::Malformed { place: Place { column: Some(column), ..place }, expected, got }
            }
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (template, facts) = self.parts();
        let mut pieces = template.split('{');
        f.write_str(pieces.next().unwrap_or_default())?;
        for piece in pieces {
            let (name, words) = piece.split_once('}').unwrap_or((piece, ""));
            match facts.iter().find(|(known, _)| *known == name) {
                Some((_, fact)) => write!(f, "{fact}{words}")?,
                None => write!(f, "{{{piece}")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Checks a length.
pub(crate) fn check_length(what: impl fmt::Display, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::LengthMismatch { what: what.to_string(), expected, got }) }
}

/// The value of a name.
pub(crate) fn named<T: Copy>(kind: &str, name: &str, known: &[(&str, T)]) -> Result<T> {
    let found = known.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).ok_or_else(|| Error::unknown(kind, name, known.iter().map(|(name, _)| *name)))
}

/// A text in quotation marks, of which at most 40 characters are shown.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// A result with this crate's [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    fn malformed(place: Place) -> Error {
        Error::Malformed { place, expected: "a number".into(), got: "{segment}".into() }
    }

    #[test]
    fn messages_are_templates_filled_with_facts() {
        // Those that other tests hold are left out.
        let name = || "a".to_owned();
        let all = [
            (
                Error::UnknownChoice { option: name(), name: "b".into(), known: vec!["c".into(), "d".into()] },
                "unknown a \"b\"; known: c, d",
            ),
            (
                Error::InvalidMetricOption {
                    metric: name(),
                    option: "b".into(),
                    expected: "1 if {other} is 0".into(),
                    other: Some("c"),
                    got: "d".into(),
                },
                "a: b must be 1 if c is 0, got d",
            ),
            (malformed(Place::default()), "expected a number, got {segment}"),
            (malformed(Place { line: Some(3), ..Place::default() }), "line 3: expected a number, got {segment}"),
            (
                Error::File { file: name(), line: None, expected: "b".into(), got: "{line}".into() },
                "a: expected b, got {line}",
            ),
            (
                Error::NoReference { segment: 4 },
                "segment 4 has no reference; every segment needs at least one (an empty line counts as one)",
            ),
            (
                Error::Memory { numbers: 6 },
                "cannot allocate 6 numbers: ask for fewer replicates, systems or metrics at a time",
            ),
            (
                Error::Memory { numbers: 6 }.in_segment(7),
                "segment 7 is too long: a table of 6 numbers does not fit in memory; split the segment",
            ),
            (Error::Threads { threads: 8, reason: name() }, "cannot start 8 threads: a"),
            (Error::Interrupted, "interrupted"),
        ];
        for (error, message) in all {
            assert_eq!(message, error.to_string());
        }
    }

    #[test]
    fn places_are_listed_from_the_segment_inwards() {
        let place = || malformed(Place { line: Some(3), ..Place::default() });
        for (column, expected) in [(Column::System(1), "system 1"), (Column::Reference(2), "reference 2")] {
            let message = format!("segment 5, {expected}, line 3: expected a number, got {{segment}}");
            assert_eq!(message, place().in_column(column).in_segment(5).to_string());
        }
        let system = ("system", Fact::System(1));
        assert!(place().in_column(Column::System(1)).facts().contains(&system));
    }
}
