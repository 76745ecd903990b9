//! The compiled module `reshuffle._core`: the only place that uses pyo3 or numpy.
//!
//! Every function converts its arguments, releases the interpreter, calls the core and converts the result. The
//! docstrings are in `_core.pyi`.

#![allow(clippy::too_many_arguments, reason = "Python passes most of them by name")]

mod call;
mod convert;
mod counts;
mod histograms;
mod meta;
mod metric;
mod nbest;
mod reduce;
mod resampler;
mod scored;
mod sequential;
mod streams;
mod studentized;
mod study;
mod tokens;
mod tune;
mod votes;

/// The module.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::call::{Progress, load_numpy, simd, threads};
    #[pymodule_export]
    use super::counts::Counts;
    #[pymodule_export]
    use super::histograms::histograms;
    #[pymodule_export]
    use super::meta::{
        meta_calibrate, meta_cell_counts, meta_drawn, meta_pair_counts, meta_permuted, meta_permuted_votes,
        meta_soft_drawn, meta_soft_permuted, meta_soft_pvalues, meta_soft_values, meta_votes,
    };
    #[pymodule_export]
    use super::metric::{
        Metric, MetricSpec, OptionSpec, Studentized, TokenizerSpec, broken_parse, count, metrics, tokenize, tokenizers,
    };
    #[pymodule_export]
    use super::nbest::NBest;
    #[pymodule_export]
    use super::reduce::{
        Draws, Feed, Histograms, MaxT, MinP, Moments, PermutedTally, Reduction, SequentialTally, Series, Spread,
        StoppingRule, Sums, Tally,
    };
    #[pymodule_export]
    use super::resampler::{Resampler, draw_many, shuffle_many};
    #[pymodule_export]
    use super::scored::read_comet;
    #[pymodule_export]
    use super::sequential::betting_wealth;
    #[pymodule_export]
    use super::streams::{derive, draw_weights, permutations, stream_indices, stream_values, subset_sum_distribution};
    #[pymodule_export]
    use super::studentized::{Cross, PairCounts};
    #[pymodule_export]
    use super::study::Experiment;
    #[pymodule_export]
    use super::tokens::{common_ngrams, count_tokens};
    #[pymodule_export]
    use super::tune::{
        tune_l1, tune_line_search, tune_mert, tune_mira, tune_oracle, tune_pro, tune_templates, tune_xbleu,
        tune_xbleu_objective,
    };
    #[pymodule_export]
    use super::votes::{votes_drawn, votes_fit, votes_groups};

    #[pymodule_export]
    const GENERATOR: &str = crate::stream::GENERATOR;
    #[pymodule_export]
    const LARGEST_SUM: i64 = crate::error::LARGEST_SUM;
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        use pyo3::types::PyModuleMethods;
        module.add("UNICODE_VERSION", crate::text::tokenize::unicode_version())
    }
}
