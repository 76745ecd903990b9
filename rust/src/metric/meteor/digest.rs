//! Digests of the files that change scores, for signatures.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::files::{Files, shown, unreadable};
use super::resources::{EXCEPTIONS, PARTS, Resources, SYNSETS};
use super::settings::{Module, Settings};
use crate::error::Result;

/// The signature entries of the files in use: where a list comes from, and the first eight digits of its SHA-256. A file
/// that cannot be read has the digest `unreadable`; counting reports why.
pub(super) fn signature(settings: &Settings, resources: &Resources) -> Vec<(&'static str, String)> {
    let shown = |digest: Result<String>| digest.unwrap_or_else(|_| "unreadable".into());
    let mut entries = Vec::new();
    if let Some(words) = resources.own_function_words(settings.function_language) {
        entries.push((
            "function",
            format!("[{}]", shown(words.map(|words| of_parts(words.iter().map(String::as_bytes))))),
        ));
    }
    if settings.normalized
        && let Some((jar, name)) = resources.own_prefixes(settings.language)
    {
        entries.push(("prefixes", format!("[{}]", shown(of_members(jar, [name.as_str()])))));
    }
    if settings.modules.contains(&Module::Synonym) {
        let entry = match (resources.jar_with_synonyms(), &resources.wordnet) {
            (_, Some(wordnet)) => {
                let names = PARTS.iter().flat_map(|part| [format!("index.{part}"), format!("{part}.exc")]);
                let names: Vec<String> = names.collect();
                format!("wordnet[{}]", shown(of_members(wordnet, names.iter().map(String::as_str))))
            }
            (Some(jar), None) => format!("meteor[{}]", shown(of_members(jar, [SYNSETS, EXCEPTIONS]))),
            (None, None) => "none".into(),
        };
        entries.push(("synonyms", entry));
    }
    if settings.modules.contains(&Module::Paraphrase)
        && let Some(path) = &resources.paraphrases
    {
        entries.push(("paraphrases", format!("[{}]", shown(of_file(path)))));
    }
    entries
}

/// The digest of a file, the beginning of what `sha256sum` prints.
fn of_file(path: &Path) -> Result<String> {
    let failed = |reason: io::Error| unreadable(&shown(path), &reason);
    let (mut file, mut digest) = (File::open(path).map_err(failed)?, Sha256::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(failed)? {
            0 => return Ok(short(digest)),
            length => digest.update(&buffer[..length]),
        }
    }
}

/// The digest of several files, the same for a jar and a folder with the files in it.
fn of_members<'a>(files: &Files, names: impl IntoIterator<Item = &'a str>) -> Result<String> {
    let texts = names.into_iter().map(|name| files.read(name)).collect::<Result<Vec<_>>>()?;
    Ok(of_parts(texts.iter().map(|text| text.bytes())))
}

/// The digest of several texts. Their lengths are part of it, so that it matters where one ends.
fn of_parts<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    short(digest)
}

fn short(digest: Sha256) -> String {
    digest.finalize()[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}
