//! Errors: facts, and a message template with a placeholder for each fact. `reshuffle.errors` in Python replaces facts
//! of which the core knows only a number or an internal name: systems, and options of the command line.

use std::fmt;

use crate::stats::LARGEST_SUM;

/// The reasons why the core refuses a request, with the value that it got and what it expected.
#[derive(Debug, Clone, PartialEq)]
pub enum Error {
    /// Two lengths that must be equal are not.
    LengthMismatch {
        /// What was measured, for example `segments of masks`.
        what: String,
        /// The length that was required.
        expected: usize,
        /// The actual length.
        got: usize,
    },
    /// A name that is not in the registry.
    UnknownName {
        /// The kind of thing looked up: `metric`, `tokenizer` …
        kind: String,
        /// The unknown name.
        name: String,
        /// The valid names.
        known: Vec<String>,
    },
    /// A value that is not among the choices of a metric's option.
    UnknownChoice {
        /// The option's name.
        option: String,
        /// The unknown value.
        name: String,
        /// The valid values.
        known: Vec<String>,
    },
    /// A value that an argument cannot take.
    InvalidOption {
        /// The argument's name.
        option: String,
        /// The valid values, in words.
        expected: String,
        /// The value it got.
        got: String,
    },
    /// A value that an option of a metric cannot take. Metrics may share an option's name but not its range.
    InvalidMetricOption {
        /// The metric's name.
        metric: String,
        /// The option's name.
        option: String,
        /// The valid values, in words; `{other}` stands for the name of another option.
        expected: String,
        /// The other option.
        other: Option<&'static str>,
        /// The value it got.
        got: String,
    },
    /// A text in the wrong format.
    Malformed {
        /// Where the error is.
        place: Place,
        /// What the format requires there.
        expected: String,
        /// What the text has there.
        got: String,
    },
    /// A file that cannot be used, such as a damaged one.
    File {
        /// The path, or for a member of an archive the archive's path and the member's name.
        file: String,
        /// The line, from 1.
        line: Option<usize>,
        /// What was expected there.
        expected: String,
        /// What the file has there.
        got: String,
    },
    /// A formula that cannot be read.
    Formula {
        /// The name of the metric.
        metric: String,
        /// The column in the text, from 1.
        column: usize,
        /// What was expected there.
        expected: String,
        /// What the text has there.
        got: String,
    },
    /// Sums for which a formula has no value.
    Undefined {
        /// The name of the metric.
        metric: String,
        /// The sums, with their names.
        totals: String,
    },
    /// An empty list.
    Empty {
        /// What is missing.
        what: String,
    },
    /// A segment without a reference.
    NoReference {
        /// The segment's number, from 1.
        segment: usize,
    },
    /// Counts so large that their sums would overflow 64-bit integers.
    Overflow {
        /// The number of the column, from 0.
        column: usize,
    },
    /// An index out of range.
    OutOfRange {
        /// What was indexed.
        what: String,
        /// The index, from 0.
        index: usize,
        /// The number of elements.
        len: usize,
    },
    /// Not enough memory. For a single segment see [`Error::LongSegment`].
    Memory {
        /// How many numbers were to be allocated.
        numbers: u128,
    },
    /// A segment whose tables do not fit in memory.
    LongSegment {
        /// The segment's number, from 1.
        segment: usize,
        /// How many numbers its table would hold.
        numbers: u128,
    },
    /// The operating system refused to start threads.
    Threads {
        /// How many were requested.
        threads: usize,
        /// The reason, from the operating system.
        reason: String,
    },
    /// The caller asked to stop.
    Interrupted,
}

/// Where a text comes from, as far as known. All numbers are from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The segment.
    pub segment: Option<usize>,
    /// The system or column of references that the text belongs to.
    pub column: Option<Column>,
    /// The line within the text.
    pub line: Option<usize>,
}

/// A system, or a column of references, by its number from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// A system.
    System(usize),
    /// A column of references.
    Reference(usize),
}

/// A value in a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Fact {
    /// A number or a count.
    Number(u128),
    /// Any text.
    Text(String),
    /// The number of a system, from 1.
    System(usize),
    /// The name of an option.
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
        match self {
            Error::LengthMismatch { .. } => "{what}: expected {expected}, got {got}".into(),
            Error::UnknownName { .. } => "unknown {kind} {name}; known: {known}".into(),
            Error::UnknownChoice { .. } => "unknown {option} {name}; known: {known}".into(),
            Error::InvalidOption { .. } => "{option} must be {expected}, got {got}".into(),
            Error::InvalidMetricOption { expected, .. } => {
                format!("{{metric}}: {{option}} must be {expected}, got {{got}}")
            }
            Error::Malformed { place, .. } => {
                let column = place.column.map(|column| match column {
                    Column::System(_) => "{system}",
                    Column::Reference(_) => "reference {reference}",
                });
                let known = [place.segment.map(|_| "segment {segment}"), column, place.line.map(|_| "line {line}")];
                let known: Vec<&str> = known.into_iter().flatten().collect();
                let colon = if known.is_empty() { "" } else { ": " };
                format!("{}{colon}expected {{expected}}, got {{got}}", known.join(", "))
            }
            Error::File { line, .. } => {
                let line = line.map_or("", |_| ", line {line}");
                format!("{{file}}{line}: expected {{expected}}, got {{got}}")
            }
            Error::Formula { .. } => {
                "{metric}: at character {column} of the formula: expected {expected}, got {got}".into()
            }
            Error::Undefined { .. } => {
                "{metric}: the formula has no value, or none of at most 1e75 in magnitude, for the sums {totals}; \
                 where(condition, a, b) in a formula gives such sums a value"
                    .into()
            }
            Error::Empty { .. } => "{what}: expected at least one, got none".into(),
            Error::NoReference { .. } => {
                "segment {segment} has no reference; every segment needs at least one (an empty line counts as one)"
                    .into()
            }
            Error::Overflow { .. } => {
                "the counts of column {column} are too large: their sum would pass 2^{bits}".into()
            }
            Error::OutOfRange { .. } => "{what} {index} is out of range: there are {len}, counted from 0".into(),
            Error::Memory { .. } => {
                "cannot allocate {numbers} numbers: ask for fewer replicates, systems or metrics at a time".into()
            }
            Error::LongSegment { .. } => {
                "segment {segment} is too long: a table of {numbers} numbers does not fit in memory; split the segment"
                    .into()
            }
            Error::Threads { .. } => "cannot start {threads} threads: {reason}".into(),
            Error::Interrupted => "interrupted".into(),
        }
    }

    /// The facts in the message, with their names.
    pub fn facts(&self) -> Vec<(&'static str, Fact)> {
        let number = |n: usize| Fact::Number(n as u128);
        let text = |text: &str| Fact::Text(text.into());
        match self {
            Error::LengthMismatch { what, expected, got } => {
                vec![("what", text(what)), ("expected", number(*expected)), ("got", number(*got))]
            }
            Error::UnknownName { kind, name, known } => {
                vec![
                    ("kind", text(kind)),
                    ("name", Fact::Text(format!("{name:?}"))),
                    ("known", Fact::Text(known.join(", "))),
                ]
            }
            Error::UnknownChoice { option, name, known } => {
                let (name, known) = (Fact::Text(format!("{name:?}")), Fact::Text(known.join(", ")));
                vec![("option", Fact::Option(option.clone())), ("name", name), ("known", known)]
            }
            Error::InvalidOption { option, expected, got } => {
                vec![("option", Fact::Option(option.clone())), ("expected", text(expected)), ("got", text(got))]
            }
            Error::InvalidMetricOption { metric, option, other, got, .. } => {
                let other = other.map(|other| ("other", Fact::Option(other.into())));
                let facts = [("metric", text(metric)), ("option", Fact::Option(option.clone())), ("got", text(got))];
                facts.into_iter().chain(other).collect()
            }
            Error::Malformed { place, expected, got } => {
                let column = place.column.map(|column| match column {
                    Column::System(system) => ("system", Fact::System(system)),
                    Column::Reference(reference) => ("reference", number(reference)),
                });
                let segment = place.segment.map(|segment| ("segment", number(segment)));
                let line = place.line.map(|line| ("line", number(line)));
                let facts = [segment, column, line, Some(("expected", text(expected))), Some(("got", text(got)))];
                facts.into_iter().flatten().collect()
            }
            Error::File { file, line, expected, got } => {
                let line = line.map(|line| ("line", number(line)));
                let facts =
                    [Some(("file", text(file))), line, Some(("expected", text(expected))), Some(("got", text(got)))];
                facts.into_iter().flatten().collect()
            }
            Error::Formula { metric, column, expected, got } => {
                let facts = [("metric", text(metric)), ("column", number(*column)), ("expected", text(expected))];
                facts.into_iter().chain([("got", text(got))]).collect()
            }
            Error::Undefined { metric, totals } => vec![("metric", text(metric)), ("totals", text(totals))],
            Error::Empty { what } => vec![("what", text(what))],
            Error::NoReference { segment } => vec![("segment", number(*segment))],
            Error::Overflow { column } => {
                vec![("column", number(*column)), ("bits", number(LARGEST_SUM.ilog2() as usize))]
            }
            Error::OutOfRange { what, index, len } => {
                vec![("what", text(what)), ("index", number(*index)), ("len", number(*len))]
            }
            Error::Memory { numbers } => vec![("numbers", Fact::Number(*numbers))],
            Error::LongSegment { segment, numbers } => {
                vec![("segment", number(*segment)), ("numbers", Fact::Number(*numbers))]
            }
            Error::Threads { threads, reason } => vec![("threads", number(*threads)), ("reason", text(reason))],
            Error::Interrupted => vec![],
        }
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
        let (template, facts) = (self.template(), self.facts());
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
        let name = || "a".to_owned();
        let all = [
            (Error::LengthMismatch { what: name(), expected: 1, got: 2 }, "a: expected 1, got 2"),
            (
                Error::UnknownName { kind: name(), name: "b".into(), known: vec!["c".into(), "d".into()] },
                "unknown a \"b\"; known: c, d",
            ),
            (
                Error::UnknownChoice { option: name(), name: "b".into(), known: vec!["c".into()] },
                "unknown a \"b\"; known: c",
            ),
            (Error::InvalidOption { option: name(), expected: "b".into(), got: "c".into() }, "a must be b, got c"),
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
                Error::File { file: name(), line: Some(8), expected: "b".into(), got: "c".into() },
                "a, line 8: expected b, got c",
            ),
            (
                Error::Formula { metric: name(), column: 3, expected: "b".into(), got: "c".into() },
                "a: at character 3 of the formula: expected b, got c",
            ),
            (
                Error::Undefined { metric: name(), totals: "b = 0".into() },
                "a: the formula has no value, or none of at most 1e75 in magnitude, for the sums b = 0; \
                 where(condition, a, b) in a formula gives such sums a value",
            ),
            (Error::Empty { what: name() }, "a: expected at least one, got none"),
            (
                Error::NoReference { segment: 4 },
                "segment 4 has no reference; every segment needs at least one (an empty line counts as one)",
            ),
            (Error::Overflow { column: 5 }, "the counts of column 5 are too large: their sum would pass 2^62"),
            (Error::OutOfRange { what: name(), index: 2, len: 1 }, "a 2 is out of range: there are 1, counted from 0"),
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
