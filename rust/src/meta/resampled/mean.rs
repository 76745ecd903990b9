//! The means over groups of the coefficients of two metrics, in many replicates side by side.

use crate::resample::BATCH;

/// Sums and numbers of the values of groups, of both metrics.
#[derive(Clone)]
pub(super) struct Mean {
    pub sums: [[f64; BATCH]; 2],
    pub counts: [[f64; BATCH]; 2],
}

impl Default for Mean {
    fn default() -> Self {
        Mean { sums: [[0.0; BATCH]; 2], counts: [[0.0; BATCH]; 2] }
    }
}

impl Mean {
    /// Adds the values of a group unless they are undefined.
    pub fn add(&mut self, lane: usize, values: [f64; 2]) {
        for ((sum, count), value) in self.sums.iter_mut().zip(&mut self.counts).zip(values) {
            if !value.is_nan() {
                sum[lane] += value;
                count[lane] += 1.0;
            }
        }
    }

    /// Adds the values of a group in all replicates.
    pub fn add_lanes(&mut self, values: &[[f64; BATCH]; 2]) {
        (0..BATCH).for_each(|lane| self.add(lane, [values[0][lane], values[1][lane]]));
    }

    /// The differences of the means.
    pub fn differences(&self) -> [f64; BATCH] {
        let mean = |side: usize, lane: usize| self.sums[side][lane] / self.counts[side][lane];
        // Equal numbers of groups: one division, and no difference between equal sums.
        std::array::from_fn(|lane| match self.counts[0][lane] == self.counts[1][lane] {
            true => (self.sums[0][lane] - self.sums[1][lane]) / self.counts[0][lane],
            false => mean(0, lane) - mean(1, lane),
        })
    }
}
