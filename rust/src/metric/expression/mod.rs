//! A formula of named counts that users write as text, such as `100 * edits / chars`.

mod parse;
mod steps;

use super::Formula;
use super::mean::resolution;
use crate::error::Result;
use parse::{parse, unreadable};
use steps::{Step, derivatives, divides_by_zero, values};

/// The largest magnitude of a score. Squares of scores have to stay finite.
const LARGEST: f64 = 1e75;

/// A formula of sums of counts, with values and derivatives for many rows side by side.
///
/// Divisions by 0 are 0, as in the ratios of all metrics here. A score that is undefined, infinite or above 10⁷⁵ in
/// magnitude becomes NaN: see [`Formula::may_be_undefined`].
pub struct Expression {
    name: String,
    text: String,
    /// The columns that the formula uses.
    columns: Vec<String>,
    /// What each of them is divided by.
    scales: Vec<f64>,
    higher_is_better: bool,
    steps: Vec<Step>,
}

impl Expression {
    /// The formula in `text`, with names from `columns`: each has a name and the scale by which sums are divided, because
    /// numbers are counted in multiples of 1/scale. Its [`Formula::columns`] are those that it uses, in the same order.
    ///
    /// # Errors
    /// [`crate::Error::Formula`] if the text cannot be read, or uses no column.
    pub fn new(name: String, text: &str, columns: &[(String, f64)], higher_is_better: bool) -> Result<Self> {
        let (columns, scales): (Vec<String>, Vec<f64>) = columns.iter().cloned().unzip();
        let (mut steps, text) = parse(&name, text, &columns)?;
        let is_used = |column: usize| steps.contains(&Step::Column(column));
        let used: Vec<usize> = (0..columns.len()).filter(|&column| is_used(column)).collect();
        if used.is_empty() {
            let expected = format!("at least one column ({})", columns.join(", "));
            return Err(unreadable(&name, 1, expected, format!("{text:?}")));
        }
        for step in &mut steps {
            if let Step::Column(column) = step {
                *column = used.partition_point(|used| used < column);
            }
        }
        let scales = used.iter().map(|&column| scales[column]).collect();
        let columns = used.into_iter().map(|column| columns[column].clone()).collect();
        Ok(Expression { name, text, columns, scales, higher_is_better, steps })
    }

    fn values(&self, totals: &[i64], n: usize) -> Vec<f64> {
        values(&self.steps, (totals, &self.scales), n)
    }
}

impl Formula for Expression {
    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> Vec<String> {
        self.columns.clone()
    }

    fn width(&self) -> usize {
        self.columns.len()
    }

    fn higher_is_better(&self) -> bool {
        self.higher_is_better
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        let scaled = self.columns.iter().zip(&self.scales).filter(|(_, scale)| **scale != 1.0);
        let resolutions: Vec<String> =
            scaled.map(|(column, &scale)| format!("{column}={}", resolution(scale))).collect();
        let resolutions = (!resolutions.is_empty()).then(|| ("resolution", resolutions.join(",")));
        [("formula", self.text.clone())].into_iter().chain(resolutions).collect()
    }

    fn score(&self, totals: &[i64]) -> f64 {
        let mut score = [0.0];
        self.scores(totals, &mut score);
        score[0]
    }

    fn scores(&self, totals: &[i64], out: &mut [f64]) {
        let values = self.values(totals, out.len());
        let scores = &values[values.len() - out.len()..];
        out.iter_mut()
            .zip(scores)
            .for_each(|(out, &score)| *out = if score.abs() <= LARGEST { score } else { f64::NAN });
    }

    fn may_be_undefined(&self) -> bool {
        true
    }

    fn divides_by_zero(&self, totals: &[i64]) -> bool {
        divides_by_zero(&self.steps, &self.values(totals, 1))
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        let sums = totals.iter().zip(&self.scales).map(|(&total, scale)| total as f64 / scale);
        self.columns.iter().cloned().zip(sums).collect()
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        self.gradients(totals, &[0.0], out);
    }

    fn gradients(&self, totals: &[i64], scores: &[f64], out: &mut [f64]) {
        let n = scores.len();
        out.fill(0.0);
        derivatives(&self.steps, &self.scales, &self.values(totals, n), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use proptest::prelude::*;

    fn columns() -> Vec<String> {
        ["a", "b", "c", "d", "two words"].map(String::from).to_vec()
    }

    fn expression(text: &str) -> Result<Expression> {
        Expression::new("x".into(), text, &columns().into_iter().map(|name| (name, 1.0)).collect::<Vec<_>>(), true)
    }

    /// The value at a = 3, b = 7, c = 11, d = 13 and `two words` = 2.
    fn value(text: &str) -> f64 {
        let expression = expression(text).unwrap();
        let known = |name: &String| [3, 7, 11, 13, 2][columns().iter().position(|column| column == name).unwrap()];
        expression.score(&expression.columns().iter().map(known).collect::<Vec<_>>())
    }

    #[test]
    fn operators_bind_as_in_python() {
        for (text, expected) in [
            ("-a**2", -9.0),
            ("2**3**2 * a", 1536.0),
            ("2**-1 + a", 3.5),
            ("a - b - c", -15.0),
            ("a / b / c", 3.0 / 7.0 / 11.0),
            ("a + b * c", 80.0),
            ("(a + b) * c", 110.0),
            ("a^2 - 1e0", 8.0),
            ("- -a", 3.0),
            (".5 * a + 1.", 2.5),
            ("`two words` * a", 6.0),
            ("(a < b) + (a >= b) + (a == 3) + (a != 3)", 2.0),
        ] {
            assert_eq!(expected, value(text), "{text}");
        }
    }

    #[test]
    fn functions_have_their_values() {
        for (text, expected) in [
            ("log(a)", 3f64.ln()),
            ("exp(a)", 3f64.exp()),
            ("sqrt(a)", 3f64.sqrt()),
            ("abs(a - b)", 4.0),
            ("min(c, a, b)", 3.0),
            ("max(a, c, b)", 11.0),
            ("sum(a, b, c)", 21.0),
            ("mean(a, b)", 5.0),
            ("where(a > b, c, d)", 13.0),
            ("ratio(a, b)", 3.0 / 7.0),
            ("perplexity(a, b)", (3f64 / 7.0).exp()),
            ("f(a, b, c)", 6.0 / 24.0),
            ("f_beta(a, b, c, 2)", 15.0 / (15.0 + 7.0 + 44.0)),
            ("macro_f(a, b, c, b, a, c)", (6.0 / 24.0 + 14.0 / 28.0) / 2.0),
        ] {
            assert_eq!(expected, value(text), "{text}");
        }
    }

    #[test]
    fn only_columns_that_are_used_are_wanted_and_spaces_do_not_matter() {
        let made = expression(" d /  `two words` +b ").unwrap();
        assert_eq!(vec!["b", "d", "two words"], made.columns());
        assert_eq!(vec![("formula", String::from("d/`two words`+b"))], made.signature());
        assert_eq!(9.5, made.score(&[3, 13, 2]));
        assert_eq!(vec![("b".into(), 3.0), ("d".into(), 13.0), ("two words".into(), 2.0)], made.details(&[3, 13, 2]));
    }

    #[test]
    fn numbers_that_are_counted_in_steps_are_divided_by_their_scale() {
        let columns = [("loss", 1000.0), ("tokens", 1.0), ("note", 8.0)].map(|(name, scale)| (name.into(), scale));
        let made = Expression::new("x".into(), "perplexity(loss, tokens)", &columns, false).unwrap();
        assert_eq!(0.25_f64.exp(), made.score(&[2500, 10]));
        assert_eq!(vec![("loss".into(), 2.5), ("tokens".into(), 10.0)], made.details(&[2500, 10]));
        let signature = [("formula", "perplexity(loss,tokens)"), ("resolution", "loss=10^-3")];
        assert_eq!(signature.map(|(name, value)| (name, value.to_string())).to_vec(), made.signature());
        let mut slopes = [0.0; 2];
        made.gradient(&[2500, 10], &mut slopes);
        let expected = [0.25_f64.exp() / 10_000.0, -0.25_f64.exp() / 40.0];
        assert!(expected.iter().zip(&slopes).all(|(expected, slope)| (expected - slope).abs() < 1e-16), "{slopes:?}");
    }

    #[test]
    fn what_is_no_formula_is_refused_at_its_column() {
        for (text, column, expected, got) in [
            ("a +", 4, "a number, a column, a function or (", "the end"),
            ("", 1, "a number, a column, a function or (", "the end"),
            ("a b", 3, "an operator or the end", "\"b\""),
            ("é * a", 1, "a column (a, b, c, d, two words)", "\"é\""),
            ("a * open(b)", 5, "a function (log, exp, sqrt, abs, min, max, sum, mean, where, ratio, ", "\"open\""),
            ("a.b", 2, "a finite number", "\".\""),
            ("a < b < c", 7, "an operator or the end", "\"<\""),
            ("1e999 * a", 1, "a finite number", "\"1e999\""),
            ("a * 'b'", 5, "a number, a name, an operator or a parenthesis", "'\\''"),
            ("where(a, b)", 1, "3 arguments of where", "2"),
            ("macro_f(a, b, c, d)", 1, "3 arguments or more of macro_f, in groups of 3", "4"),
            ("log()", 5, "a number, a column, a function or (", "\")\""),
            ("(a", 3, "an operator or )", "the end"),
            ("min(a", 6, "an operator, a comma or )", "the end"),
            ("`a", 1, "a name between backquotes", "\"`a\""),
            ("1 + 2", 1, "at least one column (a, b, c, d, two words)", "\"1+2\""),
            ("0x10 * a", 2, "an operator or the end", "\"x10\""),
        ] {
            let Err(Error::Formula { metric, column: at, expected: wanted, got: found }) = expression(text) else {
                panic!("{text} is a formula");
            };
            assert_eq!(("x", column, got), (metric.as_str(), at, found.as_str()), "{text}");
            assert!(wanted.starts_with(expected), "{text}: {wanted}");
        }
    }

    #[test]
    fn long_and_deep_formulas_are_refused() {
        for text in ["-".repeat(65) + "a", "(".repeat(65) + "a" + &")".repeat(65), "a**".repeat(65) + "a"] {
            assert!(matches!(expression(&text), Err(Error::Formula { .. })));
        }
        assert!(expression(&("(".repeat(64) + "a" + &")".repeat(64))).is_ok());
        assert!(expression(&("a+".repeat(2047) + "a")).is_ok());
        let Err(Error::Formula { column, .. }) = expression(&("a+".repeat(2048) + "a")) else { panic!() };
        assert_eq!(4097, column);
    }

    #[test]
    fn divisions_by_zero_are_0_and_other_values_undefined() {
        let at = |text: &str, row: &[i64]| expression(text).unwrap().score(row);
        assert_eq!([0.0, 0.0], [at("a / b", &[1, 0]), at("a / b", &[0, 0])]);
        assert!(
            [
                "log(a)",
                "sqrt(a - 1)",
                "a**-1",
                "exp(1000 + a)",
                "min(log(a), 1)",
                "max(1, log(a - 1))",
                "where(log(a - 1), 1, 2)"
            ]
            .iter()
            .all(|text| at(text, &[0]).is_nan())
        );
        assert_eq!(5.0, at("where(a > 0, log(a), 5)", &[0]));
    }

    #[test]
    fn a_division_by_zero_that_the_score_comes_from_is_known() {
        let at = |text: &str, row: &[i64]| expression(text).unwrap().divides_by_zero(row);
        for text in ["a / b", "a / 0", "1 + exp(a / (b - b))", "ratio(a, b)", "min(a / b, 0)", "f(b, b, a - 3)"] {
            assert!(at(text, &[3, 0][..expression(text).unwrap().width()]), "{text}");
        }
        for text in ["b / a", "where(b > 0, a / b, 1)", "a * b", "mean(a, b)"] {
            assert!(!at(text, &[3, 0]), "{text}");
        }
        assert!(at("where(b > 0, 1, a / b)", &[3, 0]) && at("where(a / b, 1, 2)", &[3, 0]));
    }

    #[test]
    fn derivatives_are_limits_of_differences() {
        let row = [300_000_000i64, 700_000_000, 1_100_000_000, 1_300_000_000];
        for text in [
            "100*a/b",
            "exp(min(0, 1 - b/a)) * (a*b/(c*d))**.25",
            "log(a) * sqrt(b) + c**2 / d**2",
            "where(a > b, a/b, c/d) + max(a, b)/sum(c, d)",
            "abs(a - b) / mean(c, d)",
            "f_beta(a, b, c, 2) + macro_f(a, b, c, b, c, d) + perplexity(a, b)",
            "(a/b) ** (c/d)",
            "-a/b + 2**(a/b)",
        ] {
            let made = expression(text).unwrap();
            let row = &row[..made.width()];
            let mut slopes = vec![0.0; row.len()];
            made.gradient(row, &mut slopes);
            for (column, slope) in slopes.iter().enumerate() {
                let at = |step: i64| {
                    let mut row = row.to_vec();
                    row[column] += step;
                    made.score(&row)
                };
                let step = 10_000;
                let expected = (at(step) - at(-step)) / (2 * step) as f64;
                assert!(
                    (expected - slope).abs() <= 1e-5 * expected.abs() + 1e-16,
                    "{text} {column}: {expected} {slope}"
                );
            }
        }
    }

    #[test]
    fn derivatives_at_kinks_are_means_and_where_there_are_none_0() {
        let slopes = |text: &str, row: &[i64]| {
            let made = expression(text).unwrap();
            let mut out = vec![1.0; row.len()];
            made.gradient(row, &mut out);
            out
        };
        assert_eq!(vec![0.5, 0.5], slopes("min(a, b)", &[4, 4]));
        assert_eq!(vec![0.5, 0.5], slopes("max(a, b)", &[4, 4]));
        assert_eq!(vec![0.0], slopes("abs(a)", &[0]));
        assert_eq!(vec![0.0, 0.0], slopes("a / b", &[4, 0]));
        assert_eq!(vec![0.0], slopes("sqrt(a)", &[0]));
        assert_eq!(vec![0.0], slopes("where(a > 0, log(a), 1)", &[0]));
        assert_eq!(vec![1.0, 0.0], slopes("a + (b > 3)", &[4, 0]));
    }

    #[test]
    fn many_rows_have_the_values_of_single_ones() {
        let made = expression("100 * exp(min(0, 1 - b/a)) * (a*b/(c*d))**.25").unwrap();
        let n = 131;
        let totals: Vec<i64> = (0..4 * n).map(|i| (i * 7919 % 1009) as i64).collect();
        let (mut scores, mut slopes) = (vec![0.0; n], vec![0.0; 4 * n]);
        made.scores(&totals, &mut scores);
        made.gradients(&totals, &scores, &mut slopes);
        for i in 0..n {
            let row: Vec<i64> = (0..4).map(|column| totals[column * n + i]).collect();
            assert_eq!(made.score(&row).to_bits(), scores[i].to_bits());
            let mut own = [0.0; 4];
            made.gradient(&row, &mut own);
            (0..4).for_each(|column| assert_eq!(own[column].to_bits(), slopes[column * n + i].to_bits()));
        }
    }

    /// What formulas consist of, and what they must not.
    fn parts() -> Vec<&'static str> {
        let words = "a b _ x 1 2.5 .5e3 1e 0x1 ( ) , + - * / ** ^ < <= == != = log( sqrt( min( mean( where( f( macro_f( \
                     ,a,b) )/( ` é ' [ a.b lambda __import__( \u{0} \u{202e} 😀";
        words.split(' ').chain([" ", "`two words`"]).collect()
    }

    proptest! {
        #![proptest_config(crate::testing::cases(128))]

    /// Run with RESHUFFLE_FUZZ=1000000 after a change of the parser.
    #[test]
    fn any_text_is_computed_or_refused(
        parts in prop::collection::vec(prop::sample::select(parts()), 0..14),
        row in prop::array::uniform3(-3_i64..4),
    ) {
        if let Ok(made) = expression(&parts.concat()) {
            let row = &row[..made.width()];
            let again = expression(&made.signature()[0].1).unwrap();
            prop_assert_eq!(made.signature(), again.signature());
            prop_assert_eq!(made.score(row).to_bits(), again.score(row).to_bits());
            made.gradient(row, &mut [0.0; 3][..row.len()]);
        }
    }
    }
}
