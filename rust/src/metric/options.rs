//! The options of a metric. Command line, help, documentation, checks and signature all follow from one description.

use super::Resource;
use crate::error::{Error, Result};

/// The kind of value that an option takes.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// True or false.
    Flag,
    /// An integer in this range, both ends included.
    Integer(i64, i64),
    /// A number in this range, both ends included.
    Real(f64, f64),
    /// Numbers in this range, both ends included; the metric checks how many.
    Reals(f64, f64),
    /// One of the names that the function returns.
    Choice(fn() -> Vec<&'static str>),
    /// Several of the names that the function returns.
    Choices(fn() -> Vec<&'static str>),
    /// The path of a file or folder, which is for the caller: the metric gets its files as [`Resource`]s.
    Path,
}

/// The value of an option.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Not set: the metric decides.
    Unset,
    /// For [`Kind::Flag`].
    Flag(bool),
    /// For [`Kind::Integer`].
    Integer(i64),
    /// For [`Kind::Real`].
    Real(f64),
    /// For [`Kind::Reals`].
    Reals(Vec<f64>),
    /// For [`Kind::Choice`].
    Name(String),
    /// For [`Kind::Choices`].
    Names(Vec<String>),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Unset => write!(f, "none"),
            Value::Flag(value) => write!(f, "{value}"),
            Value::Integer(value) => write!(f, "{value}"),
            // With a decimal point, so that 2.0 does not look like an integer.
            Value::Real(value) => write!(f, "{value:?}"),
            Value::Reals(values) => write!(f, "{values:?}"),
            Value::Name(value) => write!(f, "{value:?}"),
            Value::Names(values) => write!(f, "{values:?}"),
        }
    }
}

/// One option of a metric.
#[derive(Debug, Clone, Copy)]
pub struct OptionSpec {
    /// The argument's name in Python; the flag is the same with dashes.
    pub name: &'static str,
    /// The kind of value.
    pub kind: Kind,
    /// The default value.
    pub default: fn() -> Value,
    /// One line for `--help` and the documentation.
    pub about: &'static str,
}

impl OptionSpec {
    /// A flag that is false by default.
    pub(super) const fn flag(name: &'static str, about: &'static str) -> Self {
        OptionSpec { name, kind: Kind::Flag, default: || Value::Flag(false), about }
    }

    /// An option that is not set by default.
    pub(super) const fn unset(name: &'static str, kind: Kind, about: &'static str) -> Self {
        OptionSpec { name, kind, default: || Value::Unset, about }
    }

    fn invalid(&self, metric: &str, expected: String, got: &Value) -> Error {
        let (metric, option, got) = (metric.into(), self.name.into(), got.to_string());
        Error::InvalidMetricOption { metric, option, expected, other: None, got }
    }

    fn known(&self, names: &[&'static str], name: &str) -> Result<()> {
        if names.contains(&name) {
            return Ok(());
        }
        let known = names.iter().map(|&known| known.into()).collect();
        Err(Error::UnknownChoice { option: self.name.into(), name: name.into(), known })
    }

    fn check(&self, metric: &str, value: &Value) -> Result<Value> {
        match (self.kind, value) {
            (_, Value::Unset) => Ok((self.default)()),
            (Kind::Flag, Value::Flag(_)) => Ok(value.clone()),
            (Kind::Flag, _) => Err(self.invalid(metric, "true or false".into(), value)),
            (Kind::Integer(low, high), Value::Integer(i)) if (low..=high).contains(i) => Ok(value.clone()),
            (Kind::Integer(low, high), _) => {
                Err(self.invalid(metric, format!("a whole number from {low} to {high}"), value))
            }
            (Kind::Real(..), &Value::Integer(i)) => self.check(metric, &Value::Real(i as f64)),
            (Kind::Real(low, high), Value::Real(x)) if (low..=high).contains(x) => Ok(value.clone()),
            (Kind::Real(low, high), _) => Err(self.invalid(metric, format!("a number from {low} to {high}"), value)),
            (Kind::Reals(low, high), Value::Reals(all)) if all.iter().all(|x| (low..=high).contains(x)) => {
                Ok(value.clone())
            }
            (Kind::Reals(low, high), _) => Err(self.invalid(metric, format!("numbers from {low} to {high}"), value)),
            // Names may look like numbers, for example those of smoothings.
            (Kind::Choice(_), Value::Integer(i)) => self.check(metric, &Value::Name(i.to_string())),
            (Kind::Choice(names), Value::Name(name)) => self.known(&names(), name).map(|()| value.clone()),
            (Kind::Choice(names), _) => Err(self.invalid(metric, format!("one of {}", names().join(", ")), value)),
            (Kind::Choices(_), Value::Name(name)) => self.check(metric, &Value::Names(vec![name.clone()])),
            (Kind::Choices(names), Value::Names(chosen)) if !chosen.is_empty() => {
                chosen.iter().try_for_each(|name| self.known(&names(), name)).map(|()| value.clone())
            }
            (Kind::Choices(names), _) => {
                Err(self.invalid(metric, format!("one or more of {}", names().join(", ")), value))
            }
            (Kind::Path, Value::Name(path)) if !path.is_empty() => {
                Err(self.invalid(metric, "unset, and its files given".into(), value))
            }
            (Kind::Path, _) => Err(self.invalid(metric, "a path".into(), value)),
        }
    }
}

/// A metric's options with checked values, and the files that they name.
#[derive(Debug, Clone)]
pub struct Options {
    values: Vec<(&'static str, Value)>,
    resources: Vec<Resource>,
}

impl Options {
    /// Checks values against the descriptions and fills in the defaults.
    ///
    /// # Errors
    /// [`Error::UnknownName`] for an unknown option, [`Error::UnknownChoice`] and [`Error::InvalidMetricOption`] for an
    /// invalid value.
    pub fn resolve(metric: &str, specs: &[OptionSpec], values: &[(&str, Value)]) -> Result<Self> {
        if let Some((unknown, _)) = values.iter().find(|(name, _)| specs.iter().all(|s| s.name != *name)) {
            return Err(Error::unknown(format_args!("option of {metric}"), unknown, specs.iter().map(|s| s.name)));
        }
        let value_of = |spec: &OptionSpec| values.iter().rev().find(|(name, _)| spec.name == *name).map(|(_, v)| v);
        let resolve = |spec: &OptionSpec| Ok((spec.name, spec.check(metric, value_of(spec).unwrap_or(&Value::Unset))?));
        Ok(Options { values: specs.iter().map(resolve).collect::<Result<_>>()?, resources: Vec::new() })
    }

    /// The same options with files.
    pub fn with(self, resources: Vec<Resource>) -> Self {
        Options { resources, ..self }
    }

    /// The files.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    fn get(&self, name: &str) -> &Value {
        let found = self.values.iter().find(|(n, _)| *n == name);
        &found.unwrap_or_else(|| panic!("no option {name:?} is described")).1
    }

    /// The value of a flag.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.get(name), Value::Flag(true))
    }

    /// The value of an integer.
    pub fn integer(&self, name: &str) -> usize {
        match self.get(name) {
            Value::Integer(i) => usize::try_from(*i).unwrap_or_else(|_| panic!("option {name:?} is below 0")),
            other => panic!("option {name:?} is {other}, not a whole number"),
        }
    }

    /// The value of a number with a default.
    pub fn number(&self, name: &str) -> f64 {
        self.real(name).unwrap_or_else(|| panic!("option {name:?} is no number"))
    }

    /// The value of a number, if it is set.
    pub fn real(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Value::Real(x) => Some(*x),
            _ => None,
        }
    }

    /// The value of a list of numbers, if it is set.
    pub fn reals(&self, name: &str) -> Option<&[f64]> {
        match self.get(name) {
            Value::Reals(all) => Some(all),
            _ => None,
        }
    }

    /// The values of a choice of several, if they are set.
    pub fn names(&self, name: &str) -> Option<&[String]> {
        match self.get(name) {
            Value::Names(chosen) => Some(chosen),
            _ => None,
        }
    }

    /// The value of a choice without a default, if it is set.
    pub fn choice(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Value::Name(chosen) => Some(chosen),
            _ => None,
        }
    }

    /// The value of a choice.
    pub fn name(&self, name: &str) -> &str {
        self.choice(name).unwrap_or_else(|| panic!("option {name:?} is no name"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[OptionSpec] = &[
        OptionSpec::flag("flag", ""),
        OptionSpec { name: "order", kind: Kind::Integer(1, 9), default: || Value::Integer(4), about: "" },
        OptionSpec::unset("value", Kind::Real(0.0, 1e6), ""),
        OptionSpec {
            name: "tool",
            kind: Kind::Choice(|| vec!["a", "b", "7"]),
            default: || Value::Name("a".into()),
            about: "",
        },
        OptionSpec::unset("parts", Kind::Choices(|| vec!["x", "y"]), ""),
        OptionSpec::unset("file", Kind::Path, ""),
    ];

    fn resolve(name: &str, value: Value) -> Result<Options> {
        Options::resolve("m", SPECS, &[(name, value)])
    }

    #[test]
    fn unset_options_have_their_defaults() {
        let options = Options::resolve("m", SPECS, &[]).unwrap();
        assert!(!options.flag("flag"));
        assert_eq!(4, options.integer("order"));
        assert_eq!(None, options.real("value"));
        assert_eq!("a", options.name("tool"));
        assert_eq!((None, None), (options.names("parts"), options.choice("file")));
    }

    #[test]
    fn valid_values_are_accepted() {
        assert!(resolve("flag", Value::Flag(true)).unwrap().flag("flag"));
        assert_eq!(9, resolve("order", Value::Integer(9)).unwrap().integer("order"));
        assert_eq!(Some(2.0), resolve("value", Value::Integer(2)).unwrap().real("value"));
        assert_eq!("b", resolve("tool", Value::Name("b".into())).unwrap().name("tool"));
        assert_eq!("7", resolve("tool", Value::Integer(7)).unwrap().name("tool"));
        let names = |names: &[&str]| Value::Names(names.iter().map(|&name| name.into()).collect());
        assert_eq!(["y", "x"], resolve("parts", names(&["y", "x"])).unwrap().names("parts").unwrap());
        assert_eq!(["x"], resolve("parts", Value::Name("x".into())).unwrap().names("parts").unwrap());
    }

    #[test]
    fn invalid_values_are_refused() {
        let message = |name, value| resolve(name, value).unwrap_err().to_string();
        assert_eq!("m: order must be a whole number from 1 to 9, got 10", message("order", Value::Integer(10)));
        assert_eq!("m: order must be a whole number from 1 to 9, got 2.0", message("order", Value::Real(2.0)));
        assert_eq!("m: order must be a whole number from 1 to 9, got \"2\"", message("order", Value::Name("2".into())));
        let range = "m: value must be a number from 0 to 1000000";
        for (value, got) in [(f64::NAN, "NaN"), (-0.5, "-0.5"), (f64::INFINITY, "inf"), (1e200, "1e200")] {
            assert_eq!(format!("{range}, got {got}"), message("value", Value::Real(value)));
        }
        assert_eq!("m: flag must be true or false, got 1", message("flag", Value::Integer(1)));
        assert_eq!("unknown tool \"c\"; known: a, b, 7", message("tool", Value::Name("c".into())));
        assert_eq!("unknown tool \"4\"; known: a, b, 7", message("tool", Value::Integer(4)));
        assert_eq!("m: tool must be one of a, b, 7, got 4.0", message("tool", Value::Real(4.0)));
        assert_eq!("unknown parts \"z\"; known: x, y", message("parts", Value::Names(vec!["x".into(), "z".into()])));
        assert_eq!("m: parts must be one or more of x, y, got []", message("parts", Value::Names(vec![])));
        assert_eq!("m: file must be a path, got \"\"", message("file", Value::Name(String::new())));
        assert_eq!("m: file must be unset, and its files given, got \"a\"", message("file", Value::Name("a".into())));
        assert_eq!(
            "unknown option of m \"colour\"; known: flag, order, value, tool, parts, file",
            message("colour", Value::Flag(true))
        );
    }
}
