//! The files of METEOR and WordNet: where they are, and what they contain.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::files::{Files, shown, unreadable};
use super::settings::{Language, Module};
use super::words::{self, Prefixes};
use crate::error::{Error, Result};
use crate::metric::Options;

/// The options that name files.
const JAR: &str = "meteor_jar";
const WORDNET: &str = "wordnet";
const PARAPHRASES: &str = "paraphrases";

/// METEOR's synonyms, and the bases of irregular forms.
pub(super) const SYNSETS: &str = "synonym/english.synsets";
pub(super) const EXCEPTIONS: &str = "synonym/english.exceptions";

/// The parts of speech in the names of WordNet's files.
pub(super) const PARTS: [&str; 4] = ["noun", "verb", "adj", "adv"];

/// Files that the user named. They are opened when a corpus is counted.
pub(super) struct Resources {
    /// METEOR's jar, or a folder with the same files.
    pub(super) jar: Option<Files>,
    /// WordNet's dictionary files.
    pub(super) wordnet: Option<Files>,
    /// A table of paraphrases.
    pub(super) paraphrases: Option<PathBuf>,
    /// Does METEOR have synonyms for the language?
    pub(super) synonyms: bool,
}

impl Resources {
    /// Finds the files for a language: the table of paraphrases may lie beside the jar.
    ///
    /// # Errors
    /// [`Error::InvalidMetricOption`] for paths without the files in question, [`Error::File`] for files that cannot be
    /// read.
    pub(super) fn new(options: &Options) -> Result<Self> {
        let language = Language::named(options);
        let (jar, folder) = match options.path(JAR) {
            Some(path) => find_jar(path, language).map(|(files, folder)| (Some(files), Some(folder)))?,
            None => (None, None),
        };
        let beside = folder.map(|folder| folder.join("data").join(format!("paraphrase-{}.gz", language.code)));
        let paraphrases = match options.path(PARAPHRASES) {
            Some(path) if path.is_file() => Some(path.into()),
            Some(path) => {
                let expected = format!("a table of paraphrases such as METEOR's paraphrase-{}.gz", language.code);
                return Err(refused(PARAPHRASES, expected, path, "is not a file"));
            }
            None => beside.filter(|path| path.is_file()),
        };
        let wordnet = options.path(WORDNET).map(find_wordnet).transpose()?;
        let synonyms = language.modules.contains(&Module::Synonym);
        Ok(Resources { jar, wordnet, paraphrases, synonyms })
    }

    /// No files at all.
    #[cfg(test)]
    pub(super) fn none() -> Self {
        Resources { jar: None, wordnet: None, paraphrases: None, synonyms: true }
    }

    /// Are there resources for this module?
    pub(super) fn has(&self, module: Module) -> bool {
        match module {
            Module::Exact | Module::Stem => true,
            Module::Synonym => self.synonyms && (self.wordnet.is_some() || self.jar_with_synonyms().is_some()),
            Module::Paraphrase => self.paraphrases.is_some(),
        }
    }

    /// METEOR's jar if it contains METEOR's synonyms.
    pub(super) fn jar_with_synonyms(&self) -> Option<&Files> {
        self.jar.as_ref().filter(|jar| [SYNSETS, EXCEPTIONS].iter().all(|name| jar.has(name)))
    }

    /// The function words of the language: from the jar if it is named, else the built-in list.
    ///
    /// # Errors
    /// [`Error::File`] for files that cannot be read.
    pub(super) fn function_words(&self, language: &Language) -> Result<HashSet<String>> {
        let Some(jar) = &self.jar else { return Ok(words::function_words(language.code)) };
        let text = jar.read(&function_file(language))?;
        Ok(text.lines().map(|(_, line)| line.trim_ascii().to_owned()).filter(|word| !word.is_empty()).collect())
    }

    /// The function words of the language in alphabetical order, if they are the jar's and not equal to the built-in list.
    pub(super) fn own_function_words(&self, language: &Language) -> Option<Result<Vec<String>>> {
        self.jar.as_ref()?;
        match self.function_words(language) {
            Ok(words) if words == words::function_words(language.code) => None,
            Ok(words) => {
                let mut words: Vec<_> = words.into_iter().collect();
                words.sort_unstable();
                Some(Ok(words))
            }
            Err(error) => Some(Err(error)),
        }
    }

    /// The jar and the name of its list of prefixes, if it has one for the language.
    pub(super) fn own_prefixes(&self, language: &Language) -> Option<(&Files, String)> {
        let name = format!("nonbreaking/{}.prefixes", language.name);
        self.jar.as_ref().filter(|jar| jar.has(&name)).map(|jar| (jar, name))
    }

    /// Words before a dot that does not end a sentence: from the jar if it has a list for the language, else the built-in
    /// list.
    ///
    /// # Errors
    /// [`Error::File`] for files that cannot be read.
    pub(super) fn prefixes(&self, language: &Language) -> Result<Prefixes> {
        let Some((jar, name)) = self.own_prefixes(language) else {
            return Ok(Prefixes::built_in(language.code));
        };
        let mut prefixes = Prefixes::default();
        for (_, line) in jar.read(&name)?.lines().filter(|(_, line)| !line.starts_with('#')) {
            let mut words = line.split_ascii_whitespace();
            if let Some(word) = words.next() {
                prefixes.insert(word, words.next() == Some("#NUMERIC_ONLY#"));
            }
        }
        Ok(prefixes)
    }
}

fn function_file(language: &Language) -> String {
    format!("function/{}.words", language.name)
}

/// The error for a path that the user named.
fn refused(option: &str, expected: impl Into<String>, path: &Path, problem: &str) -> Error {
    let (metric, option, got) = ("meteor".into(), option.into(), format!("{}, which {problem}", shown(path)));
    Error::InvalidMetricOption { metric, option, expected: expected.into(), other: None, got }
}

/// [`Files::zip`], with an error that names the option.
fn zip(option: &str, expected: &str, path: &Path, file: &str) -> Result<Option<Files>> {
    Files::zip(path, file).map_err(|error| match error {
        Error::File { got, .. } => refused(option, expected, path, &format!("cannot be read as a zip archive ({got})")),
        other => other,
    })
}

/// An error for a path at which there is no regular file. To open a named pipe would block until something writes to it.
fn require_file(option: &str, expected: &str, path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(metadata) if metadata.is_file() => Ok(()),
        Ok(_) => Err(refused(option, expected, path, "is neither a file nor a folder")),
        Err(reason) if reason.kind() == ErrorKind::NotFound => Err(refused(option, expected, path, "does not exist")),
        Err(reason) => Err(refused(option, expected, path, &format!("cannot be read ({reason})"))),
    }
}

/// METEOR's files for a language, and the folder beside whose folder `data` they lie. The path is that of the jar, a
/// folder with the jar, or a folder with the unpacked files, which may be in a folder `resources`.
fn find_jar(path: &Path, language: &Language) -> Result<(Files, PathBuf)> {
    let expected = "METEOR's jar, or a folder that contains it or its files";
    let function = function_file(language);
    let jar = if path.is_dir() {
        let jars = jars_in(path)?;
        match &jars[..] {
            [jar] => jar.clone(),
            [] => {
                let mut folders = [path.into(), path.join("resources")].into_iter();
                let files = folders.find_map(|folder| Some(Files::Folder(folder)).filter(|files| files.has(&function)));
                return match files {
                    Some(files) => Ok((files, path.into())),
                    None => Err(refused(JAR, expected, path, &format!("has no meteor-*.jar and no {function}"))),
                };
            }
            _ => {
                let names: Vec<_> = jars.iter().filter_map(|jar| jar.file_name()?.to_str()).collect();
                let problem = format!("has several: {}; name one of them", names.join(", "));
                return Err(refused(JAR, expected, path, &problem));
            }
        }
    } else {
        path.into()
    };
    require_file(JAR, expected, &jar)?;
    let files = zip(JAR, expected, &jar, &function)?;
    let files = files.ok_or_else(|| refused(JAR, "the jar of METEOR 1.5", &jar, &format!("has no {function}")))?;
    Ok((files, jar.parent().map_or_else(PathBuf::new, Into::into)))
}

/// The jars in a folder whose names are like METEOR's, in order.
fn jars_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = || -> std::io::Result<Vec<PathBuf>> {
        let mut jars = Vec::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| name.starts_with("meteor-") && name.ends_with(".jar")) {
                jars.push(entry.path());
            }
        }
        jars.sort_unstable();
        Ok(jars)
    };
    read().map_err(|reason| unreadable(&shown(folder), &reason))
}

/// WordNet's files. The path is that of the folder of its dictionary files, or of a zip archive of the folder, as NLTK
/// installs it.
fn find_wordnet(path: &Path) -> Result<Files> {
    let expected = "a folder with WordNet's files index.noun, noun.exc …, or a zip archive of it";
    let files = if path.is_dir() {
        Some(Files::Folder(path.into()))
    } else {
        require_file(WORDNET, expected, path)?;
        zip(WORDNET, expected, path, "index.noun")?
    };
    let names = || PARTS.iter().flat_map(|part| [format!("index.{part}"), format!("{part}.exc")]);
    let missing = match &files {
        Some(files) => names().find(|name| !files.has(name)),
        None => names().next(),
    };
    match (files, missing) {
        (Some(files), None) => Ok(files),
        (_, missing) => Err(refused(WORDNET, expected, path, &format!("has no {}", missing.unwrap_or_default()))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::SPEC;
    use super::super::files::testing::Folder;
    use super::super::settings::LANGUAGES;
    use super::*;
    use crate::metric::Value;

    fn resources(named: &[(&str, &Path)]) -> Result<Resources> {
        let value = |(name, path): &(&str, &Path)| (name.to_string(), Value::Name(path.to_str().unwrap().into()));
        let values: Vec<_> = named.iter().map(value).collect();
        Resources::new(&Options::resolve("meteor", SPEC.options, &values).unwrap())
    }

    fn message(named: &[(&str, &Path)]) -> String {
        match resources(named) {
            Ok(_) => panic!("no error for {named:?}"),
            Err(error) => error.to_string(),
        }
    }

    const MEMBERS: [(&str, &str); 4] = [
        ("function/english.words", "the\n\n of \n"),
        ("nonbreaking/english.prefixes", "# No dogs\r\nDr\r\n\r\nNo #NUMERIC_ONLY# \r\n"),
        (SYNSETS, ""),
        (EXCEPTIONS, ""),
    ];

    /// Writes METEOR's files into a folder.
    fn unpack(folder: &Folder, below: &str) {
        MEMBERS.iter().for_each(|(name, text)| drop(folder.write(&format!("{below}{name}"), text)));
    }

    #[test]
    fn the_jar_and_unpacked_files_are_found() {
        let [whole, packed, unpacked, below] = [0; 4].map(|_| Folder::new());
        let jar = whole.zip("other.jar", &MEMBERS);
        packed.zip("meteor-1.5.jar", &MEMBERS.map(|(name, text)| (name, text)));
        unpack(&unpacked, "");
        unpack(&below, "resources/");
        let english = &LANGUAGES[0];
        for (folder, path) in [(&whole, &jar), (&packed, &packed.0), (&unpacked, &unpacked.0), (&below, &below.0)] {
            let found = resources(&[(JAR, path)]).unwrap();
            assert_eq!([true, true, true, false], Module::ALL.map(|module| found.has(module)));
            let words = found.function_words(english).unwrap();
            assert_eq!(HashSet::from(["the", "of"].map(String::from)), words);
            let prefixes = found.prefixes(english).unwrap();
            let known =
                ["Dr", "No", "dogs", "Mr"].map(|word| [false, true].map(|number| prefixes.contain(word, number)));
            assert_eq!([[true, true], [false, true], [false; 2], [false; 2]], known);
            let table = folder.write("data/paraphrase-en.gz", "");
            assert_eq!(Some(table), resources(&[(JAR, path)]).unwrap().paraphrases);
            let named = resources(&[(JAR, path), (PARAPHRASES, &jar)]).unwrap();
            assert_eq!(Some(jar.clone()), named.paraphrases);
        }
    }

    #[test]
    fn without_files_there_are_built_in_lists() {
        let none = resources(&[]).unwrap();
        assert_eq!([true, true, false, false], Module::ALL.map(|module| none.has(module)));
        assert_eq!(words::function_words("en"), none.function_words(&LANGUAGES[0]).unwrap());
        assert_eq!(Prefixes::built_in("en"), none.prefixes(&LANGUAGES[0]).unwrap());
    }

    #[test]
    fn a_jar_without_synonyms_or_prefixes_is_used_for_the_rest() {
        let folder = Folder::new();
        let jar = folder.zip("meteor-new.jar", &MEMBERS[..1]);
        let found = resources(&[(JAR, &jar)]).unwrap();
        assert!(!found.has(Module::Synonym));
        assert_eq!(Prefixes::built_in("en"), found.prefixes(&LANGUAGES[0]).unwrap());
    }

    #[test]
    fn both_codes_of_a_language_have_the_same_files() {
        let folder = Folder::new();
        folder.write("function/czech.words", "a\n");
        folder.write("function/english.words", "the\n");
        let table = folder.write("data/paraphrase-cz.gz", "");
        folder.write("data/paraphrase-en.gz", "");
        for code in ["cz", "cs"] {
            let value = |text: &str| Value::Name(text.into());
            let values = [("language".into(), value(code)), (JAR.into(), value(folder.0.to_str().unwrap()))];
            let found = Resources::new(&Options::resolve("meteor", SPEC.options, &values).unwrap()).unwrap();
            assert_eq!(Some(&table), found.paraphrases.as_ref());
            assert!(!found.has(Module::Synonym));
        }
    }

    #[test]
    fn wordnet_is_a_folder_or_an_archive() {
        let (folder, archive) = (Folder::new(), Folder::new());
        let mut members = Vec::new();
        for name in PARTS.iter().flat_map(|part| [format!("index.{part}"), format!("{part}.exc")]) {
            let missing = message(&[(WORDNET, &folder.0)]);
            assert!(missing.ends_with(&format!(", which has no {name}")), "{missing}");
            folder.write(&name, "");
            members.push(format!("wordnet/{name}"));
        }
        let members: Vec<_> = members.iter().map(|name| (name.as_str(), "")).collect();
        let zip = archive.zip("wordnet.zip", &members);
        for path in [&folder.0, &zip] {
            assert!(resources(&[(WORDNET, path)]).unwrap().has(Module::Synonym));
        }
        let empty = archive.zip("empty.zip", &[]);
        assert!(message(&[(WORDNET, &empty)]).ends_with("empty.zip, which has no index.noun"));
    }

    #[test]
    fn paths_without_the_files_are_refused() {
        let folder = Folder::new();
        let got = |named: &[(&str, &Path)], problem: &str| {
            let message = message(named);
            let option = named[0].0;
            assert!(message.starts_with(&format!("meteor: {option} must be ")), "{message}");
            assert!(message.contains(&format!(", which {problem}")), "{message}");
        };
        got(&[(JAR, &folder.0)], "has no meteor-*.jar and no function/english.words");
        for option in [JAR, WORDNET] {
            got(&[(option, &folder.0.join("missing"))], "does not exist");
        }
        got(&[(PARAPHRASES, &folder.0)], "is not a file");
        let jar = folder.zip("meteor-1.jar", &[("function/german.words", "")]);
        got(&[(JAR, &jar)], "has no function/english.words");
        folder.zip("meteor-2.jar", &[]);
        got(&[(JAR, &folder.0)], "has several: meteor-1.jar, meteor-2.jar; name one of them");
        let text = folder.write("text", "the\n");
        for option in [JAR, WORDNET] {
            got(&[(option, &text)], "cannot be read as a zip archive (");
        }
    }
}
