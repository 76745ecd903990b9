//! METEOR 1.5 (Denkowski & Lavie 2014, W14-3348): words of hypothesis and reference are aligned by equal words, stems,
//! synonyms and paraphrases; the score is a mean of precision and recall, reduced by the number of chunks of the alignment.

mod align;
mod count;
mod lexicon;
mod matches;
mod normalize;
mod paraphrases;
mod resources;
mod score;
mod settings;
mod wordnet;
mod words;

use std::sync::{Arc, Mutex};

use super::text::LOWERCASE;
use super::{Counters, Formula, Metric, MetricSpec, Options, Texts};
use crate::error::Result;
use crate::pool::{Run, locked};
use count::MeteorCounter;
use lexicon::Lexicon;
use resources::Resources;
use score::{Parameters, Parts};
use settings::{Module, Settings};

pub(super) const SPEC: MetricSpec = MetricSpec {
    name: "meteor",
    about: "METEOR 1.5: precision, recall and order of words that match exactly, or by stem, synonym or paraphrase",
    source: "W14-3348",
    reads_parses: false,
    options: &[
        settings::LANGUAGE,
        settings::TASK,
        settings::MODULES,
        settings::MODULE_WEIGHTS,
        settings::PARAMETERS,
        LOWERCASE,
        settings::NORMALIZED,
        settings::NO_PUNCT,
        settings::ENGLISH_FUNCTION_WORDS,
        settings::METEOR_JAR,
        settings::WORDNET,
        settings::PARAPHRASES,
    ],
    build: |options| Ok(Box::new(Meteor::new(options)?)),
};

/// The number of counts of a row.
const WIDTH: usize = 23;

/// METEOR. A row has METEOR's 23 counts: words and function words of both sides; content and function words that each
/// module matches on each side; chunks; matched words of both sides. The chunks of a segment whose words all match in one
/// chunk are 0, so that sums over segments are METEOR's.
pub struct Meteor {
    settings: Settings,
    resources: Resources,
    /// Of the texts that were counted so far, so that counting texts with the same words reads no file again.
    lexicon: Mutex<Option<Arc<Lexicon>>>,
}

impl Meteor {
    /// # Errors
    /// Options that do not fit together, and files that are missing.
    pub fn new(options: &Options) -> Result<Self> {
        let resources = Resources(options.resources().to_vec());
        let settings = Settings::new(options, |module| resources.has(module))?;
        Ok(Meteor { settings, resources, lexicon: Mutex::default() })
    }

    fn parameters(&self) -> Parameters {
        let ([alpha, beta, gamma, delta], weights) = (self.settings.parameters, self.settings.weights);
        Parameters { alpha, beta, gamma, delta, weights }
    }
}

impl Formula for Meteor {
    fn name(&self) -> &str {
        "METEOR"
    }

    fn columns(&self) -> Vec<String> {
        let ends = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let by_module = Module::ALL.iter().flat_map(|module| {
            ["hyp_content", "ref_content", "hyp_function", "ref_function"]
                .map(|what| format!("{}_{what}", module.name()))
        });
        let mut columns = ends(&["hyp_len", "ref_len", "hyp_function", "ref_function"]);
        columns.extend(by_module);
        columns.extend(ends(&["chunks", "hyp_match", "ref_match"]));
        columns
    }

    fn width(&self) -> usize {
        WIDTH
    }

    fn signature(&self) -> Vec<(&'static str, String)> {
        self.settings.signature().into_iter().chain(self.resources.signature(&self.settings)).collect()
    }

    fn score(&self, totals: &[i64]) -> f64 {
        100.0 * self.parameters().score(totals)
    }

    fn details(&self, totals: &[i64]) -> Vec<(String, f64)> {
        let Parts { precision, recall, f, fragmentation, penalty } = self.parameters().parts(totals);
        let shares = [("precision", precision), ("recall", recall), ("f", f), ("fragmentation", fragmentation)];
        let shares = shares.into_iter().chain([("penalty", penalty)]).map(|(name, share)| (name, 100.0 * share));
        let matches = (totals[21] as f64 + totals[22] as f64) / 2.0;
        let numbers = [("chunks", totals[20] as f64), ("matches", matches)];
        shares.chain(numbers).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn gradient(&self, totals: &[i64], out: &mut [f64]) {
        self.parameters().gradient(totals, out);
        out.iter_mut().for_each(|slope| *slope *= 100.0);
    }
}

impl Metric for Meteor {
    fn counters<'a>(&'a self, texts: &Texts<'a>, run: &mut Run<'_>) -> Result<Counters<'a>> {
        let before = locked(&self.lexicon).clone();
        let lexicon = Lexicon::new(&self.settings, &self.resources, texts, before, run)?;
        *locked(&self.lexicon) = Some(lexicon.clone());
        Ok(Box::new(move || Box::new(MeteorCounter::new(self, lexicon.clone()))))
    }
}

#[cfg(test)]
mod tests;
