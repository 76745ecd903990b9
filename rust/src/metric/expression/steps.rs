//! The steps of a formula, each of which computes a value from those of earlier steps, for many rows side by side.

/// A function of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Log,
    Exp,
    Sqrt,
    Abs,
}

/// A function of two values. Comparisons are 1 where they hold, and 0 elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    /// 0 where the divisor is 0, as in all ratios of counts here.
    Divide,
    Power,
    Min,
    Max,
    Less,
    LessOrEqual,
    Equal,
    Unequal,
}

/// A step. Operands are numbers of earlier steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step {
    Constant(f64),
    /// The sum of a column.
    Column(usize),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    /// The second value where the first is not 0, and the third elsewhere.
    Where(usize, usize, usize),
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

impl Unary {
    fn each(self, x: &[f64], out: &mut [f64]) {
        let each = |function: fn(f64) -> f64, out: &mut [f64]| {
            out.iter_mut().zip(x).for_each(|(out, &x)| *out = function(x));
        };
        match self {
            Unary::Negate => each(|x| -x, out),
            Unary::Log => each(f64::ln, out),
            Unary::Exp => each(f64::exp, out),
            Unary::Sqrt => each(f64::sqrt, out),
            Unary::Abs => each(f64::abs, out),
        }
    }

    /// The derivative at `x`, where the function has this `value`.
    fn slope(self, x: f64, value: f64) -> f64 {
        match self {
            Unary::Negate => -1.0,
            Unary::Log => 1.0 / x,
            Unary::Exp => value,
            Unary::Sqrt => 0.5 / value,
            // The mean of both sides at 0.
            Unary::Abs => truth(x > 0.0) - truth(x < 0.0),
        }
    }
}

impl Binary {
    fn each(self, x: &[f64], y: &[f64], out: &mut [f64]) {
        macro_rules! each {
            (|$x:ident, $y:ident| $value:expr) => {
                for ((out, &$x), &$y) in out.iter_mut().zip(x).zip(y) {
                    *out = $value;
                }
            };
        }
        match self {
            Binary::Add => each!(|x, y| x + y),
            Binary::Subtract => each!(|x, y| x - y),
            Binary::Multiply => each!(|x, y| x * y),
            Binary::Divide => each!(|x, y| if y == 0.0 { 0.0 } else { x / y }),
            Binary::Power => each!(|x, y| x.powf(y)),
            // Undefined values stay undefined.
            Binary::Min => each!(|x, y| if x < y || x.is_nan() { x } else { y }),
            Binary::Max => each!(|x, y| if x > y || x.is_nan() { x } else { y }),
            Binary::Less => each!(|x, y| truth(x < y)),
            Binary::LessOrEqual => each!(|x, y| truth(x <= y)),
            Binary::Equal => each!(|x, y| truth(x == y)),
            Binary::Unequal => each!(|x, y| truth(x != y)),
        }
    }

    /// The derivatives with respect to both operands, where the function has this `value`.
    fn slopes(self, x: f64, y: f64, value: f64) -> [f64; 2] {
        match self {
            Binary::Add => [1.0, 1.0],
            Binary::Subtract => [1.0, -1.0],
            Binary::Multiply => [y, x],
            Binary::Divide if y == 0.0 => [0.0, 0.0],
            Binary::Divide => [1.0 / y, -value / y],
            Binary::Power => [y * x.powf(y - 1.0), value * x.ln()],
            // The mean of both sides where they are equal.
            Binary::Min | Binary::Max if x == y => [0.5, 0.5],
            Binary::Min => [truth(x < y), truth(x > y)],
            Binary::Max => [truth(x > y), truth(x < y)],
            Binary::Less | Binary::LessOrEqual | Binary::Equal | Binary::Unequal => [0.0, 0.0],
        }
    }
}

/// The values of all steps for `n` rows of sums, which are stored column by column and divided by the scale of the
/// column. The last ones are the scores.
pub(super) fn values(steps: &[Step], (totals, scales): (&[i64], &[f64]), n: usize) -> Vec<f64> {
    let mut values = vec![0.0; steps.len() * n];
    for (i, step) in steps.iter().enumerate() {
        let (earlier, out) = values.split_at_mut(i * n);
        let (of, out) = (|step: usize| &earlier[step * n..][..n], &mut out[..n]);
        match *step {
            Step::Constant(number) => out.fill(number),
            Step::Column(column) => {
                let scale = scales[column];
                out.iter_mut().zip(&totals[column * n..]).for_each(|(out, &total)| *out = total as f64 / scale);
            }
            Step::Unary(function, x) => function.each(of(x), out),
            Step::Binary(function, x, y) => function.each(of(x), of(y), out),
            Step::Where(condition, yes, no) => {
                for ((out, &holds), (&yes, &no)) in out.iter_mut().zip(of(condition)).zip(of(yes).iter().zip(of(no))) {
                    *out = if holds.is_nan() {
                        f64::NAN
                    } else if holds != 0.0 {
                        yes
                    } else {
                        no
                    };
                }
            }
        }
    }
    values
}

/// Whether the score of one row comes from a division by 0. `values` are those of [`values`].
pub(super) fn divides_by_zero(steps: &[Step], values: &[f64]) -> bool {
    let mut found = vec![false; steps.len()];
    for (i, step) in steps.iter().enumerate() {
        found[i] = match *step {
            Step::Constant(_) | Step::Column(_) => false,
            Step::Unary(_, x) => found[x],
            Step::Binary(function, x, y) => found[x] || found[y] || (function == Binary::Divide && values[y] == 0.0),
            // What is not chosen does not count.
            Step::Where(condition, yes, no) => {
                found[condition] || found[if values[condition] == 0.0 { no } else { yes }]
            }
        }
    }
    found.last().is_some_and(|&last| last)
}

/// Adds the derivatives of the scores with respect to all columns to `out`, column by column, by the chain rule from the
/// last step back to the first. `values` are those of [`values`].
pub(super) fn derivatives(steps: &[Step], scales: &[f64], values: &[f64], out: &mut [f64]) {
    let n = out.len() / scales.len();
    let mut by_step = vec![0.0; steps.len() * n];
    let last = by_step.len() - n;
    by_step[last..].fill(1.0);
    // Where a function has no finite derivative, such as the root of 0, it counts as 0.
    let times = |outer: f64, slope: f64| if slope.is_finite() { outer * slope } else { 0.0 };
    for (i, step) in steps.iter().enumerate().rev() {
        let (earlier, outer) = by_step.split_at_mut(i * n);
        for (row, &outer) in outer[..n].iter().enumerate() {
            let value = |step: usize| values[step * n + row];
            let mut add = |step: usize, slope: f64| earlier[step * n + row] += times(outer, slope);
            match *step {
                Step::Constant(_) => {}
                Step::Column(column) => out[column * n + row] += outer / scales[column],
                Step::Unary(function, x) => add(x, function.slope(value(x), value(i))),
                Step::Binary(function, x, y) => {
                    let [by_x, by_y] = function.slopes(value(x), value(y), value(i));
                    add(x, by_x);
                    add(y, by_y);
                }
                Step::Where(condition, yes, no) => add(if value(condition) == 0.0 { no } else { yes }, 1.0),
            }
        }
    }
}
