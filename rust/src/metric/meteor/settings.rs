//! Languages, tasks, modules and the parameters tuned for them (Denkowski & Lavie 2014, W14-3348).

use rust_stemmers::Algorithm;

use crate::error::Result;
use crate::metric::Options;

/// A way in which words or phrases match, in the order in which matches are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Module {
    /// Equal words.
    Exact,
    /// Different words with equal stems.
    Stem,
    /// Different words with a common synonym set.
    Synonym,
    /// Entries of a table of paraphrases.
    Paraphrase,
}

impl Module {
    pub(super) const ALL: [Module; 4] = [Module::Exact, Module::Stem, Module::Synonym, Module::Paraphrase];

    pub(super) fn name(self) -> &'static str {
        match self {
            Module::Exact => "exact",
            Module::Stem => "stem",
            Module::Synonym => "synonym",
            Module::Paraphrase => "paraphrase",
        }
    }
}

/// A language.
pub(super) struct Language {
    /// The code on the command line.
    pub(super) code: &'static str,
    /// The name in the file names of METEOR's resources, such as `function/english.words`.
    pub(super) name: &'static str,
    /// The modules that METEOR has for it.
    pub(super) modules: &'static [Module],
    pub(super) stemmer: Option<Algorithm>,
}

/// All languages.
pub(super) static LANGUAGES: &[Language] =
    &[Language { code: "en", name: "english", modules: &Module::ALL, stemmer: Some(Algorithm::English) }];

/// Everything that the options of a metric decide, apart from resources.
pub(super) struct Settings {
    pub(super) language: &'static Language,
    pub(super) task: &'static str,
    /// α, β, γ, δ.
    pub(super) parameters: [f64; 4],
    /// The modules in use. A module for which there are no resources has been left out, if it was not asked for.
    pub(super) modules: Vec<Module>,
    /// The weight of each of the four modules; 0 for one that is not in use.
    pub(super) weights: [f64; 4],
    /// Modules of the language and task that are left out because there are no resources.
    pub(super) missing: Vec<Module>,
    pub(super) lowercase: bool,
    pub(super) normalized: bool,
    pub(super) no_punct: bool,
}

impl Settings {
    /// `has` tells whether there are resources for a module.
    ///
    /// # Errors
    /// Options that do not fit together.
    pub(super) fn new(options: &Options, has: impl Fn(Module) -> bool) -> Result<Self> {
        let language = &LANGUAGES[0];
        let modules: Vec<_> = language.modules.iter().copied().filter(|&module| has(module)).collect();
        Ok(Settings {
            language,
            task: "rank",
            parameters: [0.85, 0.2, 0.6, 0.75],
            weights: [1.0, 0.6, 0.8, 0.6],
            missing: language.modules.iter().copied().filter(|&module| !has(module)).collect(),
            modules,
            lowercase: options.flag("lowercase"),
            normalized: options.flag("normalized"),
            no_punct: options.flag("no_punct"),
        })
    }
}
