//! Languages, tasks and options, against what METEOR prints.

use super::*;
use crate::metric::meteor::SPEC;
use crate::metric::testing::values;

fn settings(options: &str, has: impl Fn(Module) -> bool) -> Result<Settings> {
    let values = values(&SPEC, options.split_whitespace());
    Settings::new(&Options::resolve("meteor", SPEC.options, &values)?, has)
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
            let task = if task.is_empty() { String::new() } else { format!("task={task}") };
            let settings = settings(&format!("language={language} {task}"), |_| true).unwrap();
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
                let settings = settings(&format!("language={language} task={task}"), |_| true).unwrap();
                assert_eq!(format!("{parameters}-{modules}-{weights}"), evaluation(&settings), "{language} {task}");
                assert!(settings.signature().contains(&("tuned", "en".into())));
            }
        }
    }
    let tune = settings("language=other task=tune", |_| true).unwrap();
    assert_eq!("0.5_1.0_0.5_0.5-ex-1.0", evaluation(&tune));
    let own = "language=da task=adq parameters=0.5,0.5,0.5,0.5";
    assert!(settings(own, |_| true).unwrap().of_english);
    assert!(!settings(&format!("{own} module_weights=1,0.5"), |_| true).unwrap().of_english);
}

#[test]
fn modules_without_files_are_left_out_and_named_in_the_signature() {
    let settings = settings("", |module| module <= Module::Stem).unwrap();
    let signature: Vec<String> = settings.signature().iter().map(|(key, value)| format!("{key}:{value}")).collect();
    let expected = "case:mixed|lang:en|task:rank|norm:no|modules:exact+stem|weights:1,0.6|params:0.85,0.2,0.6,0.75|\
                    missing:synonym+paraphrase";
    assert_eq!(expected, signature.join("|"));
}

#[test]
fn weights_belong_to_the_modules_as_they_were_named() {
    for (options, modules, weights) in [
        (
            "modules=synonym+exact module_weights=0.25,0.75",
            [Module::Exact, Module::Synonym].as_slice(),
            [0.75, 0.0, 0.25, 0.0],
        ),
        ("modules=synonym+exact", &[Module::Exact, Module::Synonym], [1.0, 0.0, 0.8, 0.0]),
        ("modules=stem", &[Module::Stem], [0.0, 0.6, 0.0, 0.0]),
    ] {
        let own = settings(options, |_| true).unwrap();
        assert_eq!((modules, weights), (own.modules.as_slice(), own.weights), "{options}");
    }
}

#[test]
fn signatures_name_case_and_normalization() {
    for (options, expected) in [
        ("", ["mixed", "no"]),
        ("lowercase", ["lc", "no"]),
        ("normalized", ["lc", "yes"]),
        ("normalized no_punct", ["lc", "yes-nopunct"]),
    ] {
        let signature = settings(options, |_| true).unwrap().signature();
        assert_eq!(expected, [0, 3].map(|i| signature[i].1.as_str()), "{options}");
    }
}

#[test]
fn options_that_do_not_fit_together_are_refused() {
    for (options, expected) in [
        (
            "modules=exact+synonym",
            "wordnet must be a folder with WordNet's files (or meteor_jar METEOR's jar) for the module synonym, got none",
        ),
        (
            "language=de modules=paraphrase",
            "paraphrases must be METEOR's table of paraphrases (or meteor_jar its jar with data/paraphrase-de.gz beside \
             it) for the module paraphrase, got none",
        ),
        (
            "task=universal modules=exact+stem",
            "module_weights must be given, because the task universal has no weight for the module stem, got none",
        ),
        (
            "module_weights=0,0",
            "module_weights must be above 0 for at least one module, since all scores are 0 otherwise, got 0,0",
        ),
        (
            "parameters=0.5,2,1.5,0.5",
            "parameters must be four numbers: alpha (0 to 1), beta (0 or more), gamma (0 to 1), delta (0 to 1), got \
             0.5,2,1.5,0.5",
        ),
        (
            "language=fi normalized",
            "normalized must be false unless language is one of en, cz, de, es, fr, ru (tokenize the texts instead), got \
             true",
        ),
        ("no_punct", "no_punct must be false unless normalized is true, got true"),
    ] {
        let error = settings(options, |module| module <= Module::Stem).err().unwrap();
        assert_eq!(format!("meteor: {expected}"), error.to_string());
    }
    assert!(settings("parameters=1,2,0,0.5", |_| true).is_ok());
}
