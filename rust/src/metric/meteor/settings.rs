//! Languages, tasks, modules and the parameters tuned for them (Denkowski & Lavie 2014, W14-3348).

use rust_stemmers::Algorithm;

use crate::error::{Error, Result};
use crate::metric::text::{LOWERCASE, case};
use crate::metric::{Kind, OptionSpec, Options, Value};

pub(super) const LANGUAGE: OptionSpec = OptionSpec {
    name: "language",
    kind: Kind::Choice(|| LANGUAGES.iter().flat_map(|language| language.codes).copied().collect()),
    default: || Value::Name("en".into()),
    about: "the language of the texts; with other, words match only if they are equal",
};

pub(super) const TASK: OptionSpec = OptionSpec::unset(
    "task",
    Kind::Choice(|| TASKS.to_vec()),
    "what the parameters were tuned for (default: rank; li for languages without parameters for rank)",
);

pub(super) const MODULES: OptionSpec = OptionSpec::unset(
    "modules",
    Kind::Choices(|| Module::ALL.map(Module::name).to_vec()),
    "how words may match (default: the modules of the language, or of the task universal, whose files are found)",
);

pub(super) const MODULE_WEIGHTS: OptionSpec = OptionSpec::unset(
    "module_weights",
    Kind::Reals(0.0, 1.0),
    "a weight for each module, in the order of the modules (default: those of language and task)",
);

pub(super) const PARAMETERS: OptionSpec = OptionSpec::unset(
    "parameters",
    Kind::Reals(0.0, 1e6),
    "alpha, beta, gamma and delta, all but beta at most 1 (default: those of language and task)",
);

pub(super) const NORMALIZED: OptionSpec =
    OptionSpec::flag("normalized", "separate punctuation from words, split hyphens and contractions, and ignore case");

pub(super) const NO_PUNCT: OptionSpec =
    OptionSpec::flag("no_punct", "with normalized: drop everything but letters and digits");

pub(super) const ENGLISH_FUNCTION_WORDS: OptionSpec = OptionSpec::flag(
    "english_function_words",
    "English function words for all languages, as METEOR's command line has them",
);

pub(super) const METEOR_JAR: OptionSpec = OptionSpec::unset(
    "meteor_jar",
    Kind::Path,
    "METEOR's jar, or the folder with it, for synonyms, paraphrases and lists of words",
);

pub(super) const WORDNET: OptionSpec = OptionSpec::unset(
    "wordnet",
    Kind::Path,
    "folder with WordNet's dictionary files (default: the synonyms of the jar, or an installed WordNet)",
);

pub(super) const PARAPHRASES: OptionSpec = OptionSpec::unset(
    "paraphrases",
    Kind::Path,
    "METEOR's table of paraphrases, such as paraphrase-en.gz (default: the one in the folder data beside the jar)",
);

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

pub(super) struct Language {
    /// The code on the command line: METEOR's, or ISO 639-1's.
    pub(super) code: &'static str,
    /// All codes on the command line.
    codes: &'static [&'static str],
    /// The modules that METEOR uses for it.
    pub(super) modules: &'static [Module],
    pub(super) stemmer: Option<Algorithm>,
    /// Parameters and weights tuned to rank translations.
    rank: Option<Tuning>,
}

impl Language {
    /// The language that the options name.
    pub(super) fn named(options: &Options) -> &'static Self {
        let code = options.name(LANGUAGE.name);
        LANGUAGES.iter().find(|language| language.codes.contains(&code)).unwrap_or(&LANGUAGES[0])
    }

    const fn new(codes: &'static [&'static str], modules: &'static [Module], stemmer: Option<Algorithm>) -> Self {
        Language { code: codes[0], codes, modules, stemmer, rank: None }
    }

    /// A language whose parameters are not tuned.
    const fn stemmed(codes: &'static [&'static str], stemmer: Algorithm) -> Self {
        Self::new(codes, &[Module::Exact, Module::Stem], Some(stemmer))
    }

    /// The same language with parameters and weights tuned to rank translations.
    const fn ranked(self, parameters: [f64; 4], weights: [Option<f64>; 4]) -> Self {
        Language { rank: Some((parameters, weights)), ..self }
    }

    /// Can the module be used, given its files? Tables of paraphrases can be made for any language.
    fn supports(&self, module: Module) -> bool {
        match module {
            Module::Exact | Module::Paraphrase => true,
            Module::Stem => self.stemmer.is_some(),
            Module::Synonym => self.modules.contains(&module),
        }
    }

    /// Can METEOR normalize texts in the language? It has rules for those with parameters of their own.
    fn has_rules_for_punctuation(&self) -> bool {
        self.rank.is_some()
    }
}

/// α, β, γ, δ and the weights of the modules; None for a module that had no weight.
type Tuning = ([f64; 4], [Option<f64>; 4]);

const ALL_MODULES: &[Module] = &Module::ALL;
const WITHOUT_SYNONYMS: &[Module] = &[Module::Exact, Module::Stem, Module::Paraphrase];
const WITHOUT_STEMS: &[Module] = &[Module::Exact, Module::Paraphrase];

/// All languages, the default first.
pub(super) static LANGUAGES: &[Language] = &[
    Language::new(&["en"], ALL_MODULES, Some(Algorithm::English))
        .ranked([0.85, 0.2, 0.6, 0.75], [Some(1.0), Some(0.6), Some(0.8), Some(0.6)]),
    Language::new(&["cz", "cs"], WITHOUT_STEMS, None).ranked([0.95, 0.2, 0.6, 0.8], [Some(1.0), None, None, Some(0.4)]),
    Language::new(&["de"], WITHOUT_SYNONYMS, Some(Algorithm::German))
        .ranked([0.95, 1.0, 0.55, 0.55], [Some(1.0), Some(0.8), None, Some(0.2)]),
    Language::new(&["es"], WITHOUT_SYNONYMS, Some(Algorithm::Spanish))
        .ranked([0.65, 1.3, 0.5, 0.8], [Some(1.0), Some(0.8), None, Some(0.6)]),
    Language::new(&["fr"], WITHOUT_SYNONYMS, Some(Algorithm::French))
        .ranked([0.9, 1.4, 0.6, 0.65], [Some(1.0), Some(0.2), None, Some(0.4)]),
    Language::new(&["ru"], WITHOUT_SYNONYMS, Some(Algorithm::Russian))
        .ranked([0.75, 1.4, 0.7, 0.5], [Some(1.0), Some(0.5), None, Some(0.5)]),
    Language::stemmed(&["da"], Algorithm::Danish),
    Language::stemmed(&["fi"], Algorithm::Finnish),
    Language::stemmed(&["hu"], Algorithm::Hungarian),
    Language::stemmed(&["it"], Algorithm::Italian),
    Language::stemmed(&["nl"], Algorithm::Dutch),
    Language::stemmed(&["no"], Algorithm::Norwegian),
    Language::stemmed(&["pt"], Algorithm::Portuguese),
    Language::stemmed(&["ro"], Algorithm::Romanian),
    Language::stemmed(&["sv", "se"], Algorithm::Swedish),
    Language::stemmed(&["tr"], Algorithm::Turkish),
    Language::new(&["other"], &[Module::Exact], None),
];

/// Tuned language by language.
const RANK: &str = "rank";
/// Tuned for many languages at once, with modules of its own.
const UNIVERSAL: &str = "universal";
const TASKS: [&str; 7] = [RANK, "adq", "hter", "li", "tune", "util", UNIVERSAL];

/// Parameters and weights of a task, and whether they were tuned for English only. None for [`RANK`] in a language for
/// which it is not tuned.
fn tuning(language: &Language, task: &str) -> Option<(Tuning, bool)> {
    let halves = [Some(1.0), Some(0.5), Some(0.5), Some(0.5)];
    let (tuning, of_english) = match task {
        RANK => return language.rank.map(|tuning| (tuning, false)),
        "li" => (([0.75, 1.4, 0.7, 0.5], halves), false),
        "tune" => (([0.5, 1.0, 0.5, 0.5], halves), false),
        UNIVERSAL => (([0.7, 1.4, 0.3, 0.7], [Some(1.0), None, None, Some(0.6)]), false),
        "adq" => (([0.75, 1.4, 0.45, 0.7], [Some(1.0), Some(1.0), Some(0.6), Some(0.8)]), true),
        "hter" => (([0.4, 1.5, 0.35, 0.55], [Some(1.0), Some(0.2), Some(0.6), Some(0.8)]), true),
        _util => (([0.65, 0.1, 0.55, 0.65], [Some(1.0), Some(0.0), Some(0.0), Some(0.8)]), true),
    };
    Some((tuning, of_english && language.code != LANGUAGES[0].code))
}

fn invalid(option: &OptionSpec, expected: String, other: Option<&'static str>, got: String) -> Error {
    Error::InvalidMetricOption { metric: "meteor".into(), option: option.name.into(), expected, other, got }
}

fn joined(modules: &[Module], separator: &str) -> String {
    modules.iter().map(|module| module.name()).collect::<Vec<_>>().join(separator)
}

fn listed(numbers: &[f64]) -> String {
    numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(",")
}

/// Everything that the options of a metric decide, apart from resources.
pub(super) struct Settings {
    pub(super) language: &'static Language,
    /// The language of the function words.
    pub(super) function_language: &'static Language,
    pub(super) task: &'static str,
    /// Are the parameters or weights English ones, for want of the language's own?
    of_english: bool,
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
    pub(super) fn new(options: &Options, has: impl Fn(Module) -> bool) -> Result<Self> {
        let language = Language::named(options);
        let default = if language.rank.is_some() { RANK } else { "li" };
        let asked = options.choice(TASK.name).unwrap_or(default);
        let task = TASKS.into_iter().find(|&task| task == asked).unwrap_or(default);
        let Some((tuned, of_english)) = tuning(language, task) else {
            let possible = TASKS.into_iter().filter(|&task| task != RANK).collect::<Vec<_>>().join(", ");
            let expected = format!("one of {possible} if {{other}} is {}, for which rank is not tuned", language.code);
            return Err(invalid(&TASK, expected, Some(LANGUAGE.name), task.into()));
        };
        let given = asked_for(options, language, &has)?;
        let (modules, missing) = match &given {
            Some(given) => {
                let mut modules = given.clone();
                modules.sort_unstable();
                (modules, Vec::new())
            }
            None => (if task == UNIVERSAL { WITHOUT_STEMS } else { language.modules }).iter().partition(|&&m| has(m)),
        };
        let weights = weights(options, given.as_deref(), &modules, task, tuned.1)?;
        let parameters = parameters(options, tuned.0)?;
        let [normalized, no_punct] = [NORMALIZED, NO_PUNCT].map(|flag| options.flag(flag.name));
        if normalized && !language.has_rules_for_punctuation() {
            let known = LANGUAGES.iter().filter(|language| language.has_rules_for_punctuation());
            let known = known.map(|language| language.code).collect::<Vec<_>>().join(", ");
            let expected = format!("false unless {{other}} is one of {known} (tokenize the texts instead)");
            return Err(invalid(&NORMALIZED, expected, Some(LANGUAGE.name), "true".into()));
        }
        if no_punct && !normalized {
            return Err(invalid(
                &NO_PUNCT,
                "false unless {other} is true".into(),
                Some(NORMALIZED.name),
                "true".into(),
            ));
        }
        // All that could be English is replaced if both are given.
        let replaced = [&PARAMETERS, &MODULE_WEIGHTS].iter().all(|option| options.reals(option.name).is_some());
        let english_function_words = options.flag(ENGLISH_FUNCTION_WORDS.name);
        Ok(Settings {
            language,
            function_language: if english_function_words { &LANGUAGES[0] } else { language },
            task,
            of_english: of_english && !replaced,
            parameters,
            modules,
            weights,
            missing,
            lowercase: options.flag(LOWERCASE.name),
            normalized,
            no_punct,
        })
    }

    /// The signature entries.
    pub(super) fn signature(&self) -> Vec<(&'static str, String)> {
        let weights: Vec<f64> = self.modules.iter().map(|&module| self.weights[module as usize]).collect();
        let norm = match (self.normalized, self.no_punct) {
            (false, _) => "no",
            (true, false) => "yes",
            (true, true) => "yes-nopunct",
        };
        let mut signature = vec![
            case(self.lowercase || self.normalized),
            ("lang", self.language.code.into()),
            ("task", self.task.into()),
            ("norm", norm.into()),
            ("modules", joined(&self.modules, "+")),
            ("weights", listed(&weights)),
            ("params", listed(&self.parameters)),
        ];
        if self.function_language.code != self.language.code {
            signature.push(("function-lang", self.function_language.code.into()));
        }
        if self.of_english {
            signature.push(("tuned", LANGUAGES[0].code.into()));
        }
        if !self.missing.is_empty() {
            signature.push(("missing", joined(&self.missing, "+")));
        }
        signature
    }
}

/// The modules of the option, in the user's order.
fn asked_for(options: &Options, language: &Language, has: impl Fn(Module) -> bool) -> Result<Option<Vec<Module>>> {
    let Some(names) = options.names(MODULES.name) else {
        return Ok(None);
    };
    let named = |name: &String| Module::ALL.into_iter().find(|module| module.name() == name);
    let modules: Vec<Module> = names.iter().filter_map(named).collect();
    let possible: Vec<Module> = Module::ALL.into_iter().filter(|&module| language.supports(module)).collect();
    if modules.iter().any(|module| !possible.contains(module)) {
        let expected = format!("one or more of {} if {{other}} is {}", joined(&possible, ", "), language.code);
        return Err(invalid(&MODULES, expected, Some(LANGUAGE.name), joined(&modules, ", ")));
    }
    if (1..modules.len()).any(|i| modules[..i].contains(&modules[i])) {
        return Err(invalid(&MODULES, "a list without repetitions".into(), None, joined(&modules, ", ")));
    }
    let wanting = |module: &Module| modules.contains(module) && !has(*module);
    if wanting(&Module::Synonym) {
        let expected = "a folder with WordNet's files (or {other} METEOR's jar) for the module synonym";
        return Err(invalid(&WORDNET, expected.into(), Some(METEOR_JAR.name), "none".into()));
    }
    if wanting(&Module::Paraphrase) {
        let code = language.code;
        let expected = format!(
            "METEOR's table of paraphrases (or {{other}} its jar with data/paraphrase-{code}.gz beside it) for the module \
             paraphrase"
        );
        return Err(invalid(&PARAPHRASES, expected, Some(METEOR_JAR.name), "none".into()));
    }
    Ok(Some(modules))
}

/// The weight of each module in use: the user's, in the user's order of modules, or the task's.
fn weights(
    options: &Options,
    given: Option<&[Module]>,
    modules: &[Module],
    task: &str,
    tuned: [Option<f64>; 4],
) -> Result<[f64; 4]> {
    let mut weights = [0.0; 4];
    let Some(own) = options.reals(MODULE_WEIGHTS.name) else {
        for &module in modules {
            let missing = || {
                let expected = format!("given, because the task {task} has no weight for the module {}", module.name());
                invalid(&MODULE_WEIGHTS, expected, None, "none".into())
            };
            weights[module as usize] = tuned[module as usize].ok_or_else(missing)?;
        }
        return Ok(weights);
    };
    let order = given.unwrap_or(modules);
    if own.len() != order.len() {
        let expected = format!("as many numbers as {{other}}, one for each of {}", joined(order, ", "));
        return Err(invalid(&MODULE_WEIGHTS, expected, Some(MODULES.name), listed(own)));
    }
    if own.iter().all(|&weight| weight == 0.0) {
        let expected = "above 0 for at least one module, since all scores are 0 otherwise";
        return Err(invalid(&MODULE_WEIGHTS, expected.into(), None, listed(own)));
    }
    order.iter().zip(own).for_each(|(&module, &weight)| weights[module as usize] = weight);
    Ok(weights)
}

/// α, β, γ, δ: the user's or the task's.
fn parameters(options: &Options, tuned: [f64; 4]) -> Result<[f64; 4]> {
    let Some(own) = options.reals(PARAMETERS.name) else {
        return Ok(tuned);
    };
    match <[f64; 4]>::try_from(own) {
        Ok(own) if [0, 2, 3].iter().all(|&i| own[i] <= 1.0) => Ok(own),
        _ => {
            let expected = "four numbers: alpha (0 to 1), beta (0 or more), gamma (0 to 1), delta (0 to 1)";
            Err(invalid(&PARAMETERS, expected.into(), None, listed(own)))
        }
    }
}

#[cfg(test)]
mod tests;
