//! Languages, tasks, modules and the parameters tuned for them (Denkowski & Lavie 2014, W14-3348).

use rust_stemmers::Algorithm;

use crate::error::{Error, Result};
use crate::metric::text::{LOWERCASE, case};
use crate::metric::{Kind, OptionSpec, Options, Value};

pub(super) const LANGUAGE: OptionSpec = OptionSpec {
    name: "language",
    kind: Kind::Choice(|| LANGUAGES.iter().flat_map(|language| language.codes).copied().collect()),
    default: || Value::Name("en".into()),
    about: "the language of the texts; other has equal words only",
};

pub(super) const TASK: OptionSpec = OptionSpec {
    name: "task",
    kind: Kind::Choice(|| TASKS.to_vec()),
    default: || Value::Unset,
    about: "what the parameters are tuned for (default rank; li, for any language, where rank is not tuned)",
};

pub(super) const MODULES: OptionSpec = OptionSpec {
    name: "modules",
    kind: Kind::Choices(|| Module::ALL.map(Module::name).to_vec()),
    default: || Value::Unset,
    about: "how words may match (default: the modules of language and task whose files are found)",
};

pub(super) const MODULE_WEIGHTS: OptionSpec = OptionSpec {
    name: "module_weights",
    kind: Kind::Reals(0.0, 1.0),
    default: || Value::Unset,
    about: "the weight of a match by each of the modules, in their order (default: those of language and task)",
};

pub(super) const PARAMETERS: OptionSpec = OptionSpec {
    name: "parameters",
    kind: Kind::Reals(0.0, 1e6),
    default: || Value::Unset,
    about: "alpha, beta, gamma and delta (default: those of language and task)",
};

pub(super) const NORMALIZED: OptionSpec = OptionSpec {
    name: "normalized",
    kind: Kind::Flag,
    default: || Value::Flag(false),
    about: "separate punctuation from words, and ignore case",
};

pub(super) const NO_PUNCT: OptionSpec = OptionSpec {
    name: "no_punct",
    kind: Kind::Flag,
    default: || Value::Flag(false),
    about: "with normalized: drop everything but letters and digits",
};

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
    /// The code on the command line: METEOR's, or ISO 639-1's.
    pub(super) code: &'static str,
    /// All codes on the command line.
    codes: &'static [&'static str],
    /// The name in the file names of METEOR's resources, such as `function/english.words`.
    pub(super) name: &'static str,
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

    /// A language whose parameters are not tuned.
    const fn stemmed(codes: &'static [&'static str], name: &'static str, stemmer: Algorithm) -> Self {
        let modules = &[Module::Exact, Module::Stem];
        Language { code: codes[0], codes, name, modules, stemmer: Some(stemmer), rank: None }
    }

    /// Can the module be used, given its files? Tables of paraphrases can be made for any language.
    fn supports(&self, module: Module) -> bool {
        match module {
            Module::Exact | Module::Paraphrase => true,
            Module::Stem => self.stemmer.is_some(),
            Module::Synonym => self.modules.contains(&module),
        }
    }

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
    Language {
        code: "en",
        codes: &["en"],
        name: "english",
        modules: ALL_MODULES,
        stemmer: Some(Algorithm::English),
        rank: Some(([0.85, 0.2, 0.6, 0.75], [Some(1.0), Some(0.6), Some(0.8), Some(0.6)])),
    },
    Language {
        code: "cz",
        codes: &["cz", "cs"],
        name: "czech",
        modules: WITHOUT_STEMS,
        stemmer: None,
        rank: Some(([0.95, 0.2, 0.6, 0.8], [Some(1.0), None, None, Some(0.4)])),
    },
    Language {
        code: "de",
        codes: &["de"],
        name: "german",
        modules: WITHOUT_SYNONYMS,
        stemmer: Some(Algorithm::German),
        rank: Some(([0.95, 1.0, 0.55, 0.55], [Some(1.0), Some(0.8), None, Some(0.2)])),
    },
    Language {
        code: "es",
        codes: &["es"],
        name: "spanish",
        modules: WITHOUT_SYNONYMS,
        stemmer: Some(Algorithm::Spanish),
        rank: Some(([0.65, 1.3, 0.5, 0.8], [Some(1.0), Some(0.8), None, Some(0.6)])),
    },
    Language {
        code: "fr",
        codes: &["fr"],
        name: "french",
        modules: WITHOUT_SYNONYMS,
        stemmer: Some(Algorithm::French),
        rank: Some(([0.9, 1.4, 0.6, 0.65], [Some(1.0), Some(0.2), None, Some(0.4)])),
    },
    Language {
        code: "ru",
        codes: &["ru"],
        name: "russian",
        modules: WITHOUT_SYNONYMS,
        stemmer: Some(Algorithm::Russian),
        rank: Some(([0.75, 1.4, 0.7, 0.5], [Some(1.0), Some(0.5), None, Some(0.5)])),
    },
    Language::stemmed(&["da"], "danish", Algorithm::Danish),
    Language::stemmed(&["fi"], "finnish", Algorithm::Finnish),
    Language::stemmed(&["hu"], "hungarian", Algorithm::Hungarian),
    Language::stemmed(&["it"], "italian", Algorithm::Italian),
    Language::stemmed(&["nl"], "dutch", Algorithm::Dutch),
    Language::stemmed(&["no"], "norwegian", Algorithm::Norwegian),
    Language::stemmed(&["pt"], "portuguese", Algorithm::Portuguese),
    Language::stemmed(&["ro"], "romanian", Algorithm::Romanian),
    Language::stemmed(&["sv", "se"], "swedish", Algorithm::Swedish),
    Language::stemmed(&["tr"], "turkish", Algorithm::Turkish),
    Language { code: "other", codes: &["other"], name: "other", modules: &[Module::Exact], stemmer: None, rank: None },
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
    ///
    /// # Errors
    /// Options that do not fit together.
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
        Ok(Settings {
            language,
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
        let expected = format!("some of {} if {{other}} is {}", joined(&possible, ", "), language.code);
        return Err(invalid(&MODULES, expected, Some(LANGUAGE.name), joined(&modules, ", ")));
    }
    if (1..modules.len()).any(|i| modules[..i].contains(&modules[i])) {
        return Err(invalid(&MODULES, "different names".into(), None, joined(&modules, ", ")));
    }
    let wanting = |module: &Module| modules.contains(module) && !has(*module);
    if wanting(&Module::Synonym) {
        let expected = "a folder with WordNet's files, or {other} METEOR's jar, for the module synonym";
        let option = OptionSpec { name: "wordnet", ..MODULES };
        return Err(invalid(&option, expected.into(), Some("meteor_jar"), "none".into()));
    }
    if wanting(&Module::Paraphrase) {
        let code = language.code;
        let expected = format!(
            "a file of paraphrases, or {{other}} a jar with data/paraphrase-{code}.gz beside it, for the module paraphrase"
        );
        let option = OptionSpec { name: "paraphrases", ..MODULES };
        return Err(invalid(&option, expected, Some("meteor_jar"), "none".into()));
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
mod tests {
    use super::*;
    use crate::metric::meteor::SPEC;

    fn settings(values: &[(&str, Value)], has: impl Fn(Module) -> bool) -> Result<Settings> {
        let values: Vec<_> = values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Settings::new(&Options::resolve("meteor", SPEC.options, &values)?, has)
    }

    fn name(name: &str) -> Value {
        Value::Name(name.into())
    }

    fn names(names: &[&str]) -> Value {
        Value::Names(names.iter().map(|&name| name.into()).collect())
    }

    fn message(values: &[(&str, Value)]) -> String {
        settings(values, |module| module <= Module::Stem).err().expect("an error").to_string()
    }

    /// The end of the line `Eval ID` of `java -jar meteor-1.5.jar hyp ref -l LANGUAGE -t TASK`.
    fn evaluation(settings: &Settings) -> String {
        let numbers = |all: &mut dyn Iterator<Item = f64>| all.map(|x| format!("{x:?}")).collect::<Vec<_>>().join("_");
        let modules: Vec<_> = settings.modules.iter().map(|module| &module.name()[..2]).collect();
        let weights = numbers(&mut settings.modules.iter().map(|&module| settings.weights[module as usize]));
        format!("{}-{}-{weights}", numbers(&mut settings.parameters.into_iter()), modules.join("_"))
    }

    const STEMMED: &str = "da fi hu it nl no pt ro sv se tr";

    // METEOR 1.5, `java -jar meteor-1.5.jar hyp ref -l LANGUAGE -t TASK`, without -t where the task is "".
    const EVALUATIONS: &[(&str, &str, &str)] = &[
        ("en", "", "0.85_0.2_0.6_0.75-ex_st_sy_pa-1.0_0.6_0.8_0.6"),
        ("en", "rank", "0.85_0.2_0.6_0.75-ex_st_sy_pa-1.0_0.6_0.8_0.6"),
        ("en", "adq", "0.75_1.4_0.45_0.7-ex_st_sy_pa-1.0_1.0_0.6_0.8"),
        ("en", "hter", "0.4_1.5_0.35_0.55-ex_st_sy_pa-1.0_0.2_0.6_0.8"),
        ("en", "util", "0.65_0.1_0.55_0.65-ex_st_sy_pa-1.0_0.0_0.0_0.8"),
        ("en", "li", "0.75_1.4_0.7_0.5-ex_st_sy_pa-1.0_0.5_0.5_0.5"),
        ("en", "tune", "0.5_1.0_0.5_0.5-ex_st_sy_pa-1.0_0.5_0.5_0.5"),
        ("cz cs", "", "0.95_0.2_0.6_0.8-ex_pa-1.0_0.4"),
        ("cz cs", "rank", "0.95_0.2_0.6_0.8-ex_pa-1.0_0.4"),
        ("cz cs", "li", "0.75_1.4_0.7_0.5-ex_pa-1.0_0.5"),
        ("cz cs", "tune", "0.5_1.0_0.5_0.5-ex_pa-1.0_0.5"),
        ("fr", "", "0.9_1.4_0.6_0.65-ex_st_pa-1.0_0.2_0.4"),
        ("fr", "rank", "0.9_1.4_0.6_0.65-ex_st_pa-1.0_0.2_0.4"),
        ("es", "", "0.65_1.3_0.5_0.8-ex_st_pa-1.0_0.8_0.6"),
        ("es", "rank", "0.65_1.3_0.5_0.8-ex_st_pa-1.0_0.8_0.6"),
        ("de", "", "0.95_1.0_0.55_0.55-ex_st_pa-1.0_0.8_0.2"),
        ("de", "rank", "0.95_1.0_0.55_0.55-ex_st_pa-1.0_0.8_0.2"),
        ("ru", "", "0.75_1.4_0.7_0.5-ex_st_pa-1.0_0.5_0.5"),
        ("ru", "rank", "0.75_1.4_0.7_0.5-ex_st_pa-1.0_0.5_0.5"),
        ("de es fr ru", "li", "0.75_1.4_0.7_0.5-ex_st_pa-1.0_0.5_0.5"),
        ("de es fr ru", "tune", "0.5_1.0_0.5_0.5-ex_st_pa-1.0_0.5_0.5"),
        (STEMMED, "", "0.75_1.4_0.7_0.5-ex_st-1.0_0.5"),
        (STEMMED, "li", "0.75_1.4_0.7_0.5-ex_st-1.0_0.5"),
        (STEMMED, "tune", "0.5_1.0_0.5_0.5-ex_st-1.0_0.5"),
        ("other", "", "0.75_1.4_0.7_0.5-ex-1.0"),
        ("other", "li", "0.75_1.4_0.7_0.5-ex-1.0"),
        ("en cz cs de es fr ru", "universal", "0.7_1.4_0.3_0.7-ex_pa-1.0_0.6"),
        (STEMMED, "universal", "0.7_1.4_0.3_0.7-ex_pa-1.0_0.6"),
        ("other", "universal", "0.7_1.4_0.3_0.7-ex_pa-1.0_0.6"),
    ];

    #[test]
    fn languages_and_tasks_have_the_modules_weights_and_parameters_of_meteor() {
        for &(languages, task, expected) in EVALUATIONS {
            for language in languages.split(' ') {
                let task = if task.is_empty() { Value::Unset } else { name(task) };
                let settings = settings(&[("language", name(language)), ("task", task)], |_| true).unwrap();
                assert_eq!(expected, evaluation(&settings), "{language} {}", settings.task);
                assert!(!settings.of_english);
            }
        }
    }

    // For these, METEOR 1.5 has parameters and weights of 0, so all scores are 0; and in unknown languages it uses li
    // when asked for tune.
    #[test]
    fn tasks_tuned_for_english_only_lend_their_parameters() {
        for (task, parameters, weights) in [
            ("adq", "0.75_1.4_0.45_0.7", ["1.0_0.8", "1.0_1.0_0.8", "1.0_1.0", "1.0"]),
            ("hter", "0.4_1.5_0.35_0.55", ["1.0_0.8", "1.0_0.2_0.8", "1.0_0.2", "1.0"]),
            ("util", "0.65_0.1_0.55_0.65", ["1.0_0.8", "1.0_0.0_0.8", "1.0_0.0", "1.0"]),
        ] {
            let groups = [("cz", "ex_pa"), ("de es fr ru", "ex_st_pa"), (STEMMED, "ex_st"), ("other", "ex")];
            for ((languages, modules), weights) in groups.into_iter().zip(weights) {
                for language in languages.split(' ') {
                    let settings = settings(&[("language", name(language)), ("task", name(task))], |_| true).unwrap();
                    assert_eq!(format!("{parameters}-{modules}-{weights}"), evaluation(&settings), "{language} {task}");
                    assert!(settings.signature().contains(&("tuned", "en".into())));
                }
            }
        }
        let tune = settings(&[("language", name("other")), ("task", name("tune"))], |_| true).unwrap();
        assert_eq!("0.5_1.0_0.5_0.5-ex-1.0", evaluation(&tune));
        let own = [
            ("language", name("da")),
            ("task", name("adq")),
            ("parameters", Value::Reals(vec![0.5; 4])),
            ("module_weights", Value::Reals(vec![1.0, 0.5])),
        ];
        assert!(settings(&own[..3], |_| true).unwrap().of_english);
        assert!(!settings(&own, |_| true).unwrap().of_english);
    }

    #[test]
    fn modules_without_files_are_left_out_and_named_in_the_signature() {
        let settings = settings(&[], |module| module <= Module::Stem).unwrap();
        let signature: Vec<String> = settings.signature().iter().map(|(key, value)| format!("{key}:{value}")).collect();
        let expected = "case:mixed|lang:en|task:rank|norm:no|modules:exact+stem|weights:1,0.6|params:0.85,0.2,0.6,0.75|\
                        missing:synonym+paraphrase";
        assert_eq!(expected, signature.join("|"));
    }

    #[test]
    fn weights_belong_to_the_modules_as_they_were_named() {
        let named = |weights| {
            let modules = ("modules", names(&["synonym", "exact"]));
            settings(&[modules, ("module_weights", weights)], |_| true).unwrap()
        };
        let own = named(Value::Reals(vec![0.25, 0.75]));
        assert_eq!((vec![Module::Exact, Module::Synonym], [0.75, 0.0, 0.25, 0.0]), (own.modules, own.weights));
        assert_eq!([1.0, 0.0, 0.8, 0.0], named(Value::Unset).weights);
        let only = settings(&[("modules", names(&["stem"]))], |_| true).unwrap();
        assert_eq!((vec![Module::Stem], [0.0, 0.6, 0.0, 0.0]), (only.modules, only.weights));
    }

    #[test]
    fn signatures_name_case_and_normalization() {
        let entries = |values: &[(&str, Value)]| {
            let signature = settings(values, |_| true).unwrap().signature();
            [0, 3].map(|i| signature[i].1.clone())
        };
        let on = Value::Flag(true);
        assert_eq!(["mixed", "no"].map(String::from), entries(&[]));
        assert_eq!(["lc", "no"].map(String::from), entries(&[("lowercase", on.clone())]));
        assert_eq!(["lc", "yes"].map(String::from), entries(&[("normalized", on.clone())]));
        assert_eq!(["lc", "yes-nopunct"].map(String::from), entries(&[("normalized", on.clone()), ("no_punct", on)]));
    }

    #[test]
    fn options_that_do_not_fit_together_are_refused() {
        let language = |code: &str| ("language", name(code));
        let reals = |all: &[f64]| Value::Reals(all.to_vec());
        let on = || Value::Flag(true);
        let cases = [
            (
                vec![language("da"), ("task", name("rank"))],
                "meteor: task must be one of adq, hter, li, tune, util, universal if language is da, for which rank is \
                 not tuned, got rank",
            ),
            (
                vec![language("de"), ("modules", names(&["exact", "synonym"]))],
                "meteor: modules must be some of exact, stem, paraphrase if language is de, got exact, synonym",
            ),
            (
                vec![language("cs"), ("modules", name("stem"))],
                "meteor: modules must be some of exact, paraphrase if language is cz, got stem",
            ),
            (
                vec![("modules", names(&["exact", "stem", "exact"]))],
                "meteor: modules must be different names, got exact, stem, exact",
            ),
            (
                vec![("modules", names(&["exact", "synonym"]))],
                "meteor: wordnet must be a folder with WordNet's files, or meteor_jar METEOR's jar, for the module \
                 synonym, got none",
            ),
            (
                vec![language("de"), ("modules", name("paraphrase"))],
                "meteor: paraphrases must be a file of paraphrases, or meteor_jar a jar with data/paraphrase-de.gz \
                 beside it, for the module paraphrase, got none",
            ),
            (
                vec![("task", name("universal")), ("modules", names(&["exact", "stem"]))],
                "meteor: module_weights must be given, because the task universal has no weight for the module stem, \
                 got none",
            ),
            (
                vec![("module_weights", reals(&[1.0, 0.5, 0.5]))],
                "meteor: module_weights must be as many numbers as modules, one for each of exact, stem, got 1,0.5,0.5",
            ),
            (
                vec![("module_weights", reals(&[0.0, 0.0]))],
                "meteor: module_weights must be above 0 for at least one module, since all scores are 0 otherwise, got \
                 0,0",
            ),
            (
                vec![("parameters", reals(&[0.5, 2.0, 1.5, 0.5]))],
                "meteor: parameters must be four numbers: alpha (0 to 1), beta (0 or more), gamma (0 to 1), delta (0 to \
                 1), got 0.5,2,1.5,0.5",
            ),
            (
                vec![language("fi"), ("normalized", on())],
                "meteor: normalized must be false unless language is one of en, cz, de, es, fr, ru (tokenize the texts \
                 instead), got true",
            ),
            (vec![("no_punct", on())], "meteor: no_punct must be false unless normalized is true, got true"),
        ];
        for (values, expected) in cases {
            assert_eq!(expected, message(&values));
        }
        assert!(message(&[("parameters", reals(&[0.5, 2.0, 0.5]))]).ends_with("got 0.5,2,0.5"));
        assert!(settings(&[("parameters", reals(&[1.0, 2.0, 0.0, 0.5]))], |_| true).is_ok());
    }
}
