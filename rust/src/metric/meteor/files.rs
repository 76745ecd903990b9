//! Text files in a folder or a zip archive. A jar is a zip archive.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::{Error, Result, quoted};

/// No text file of METEOR or WordNet is nearly as large, but a damaged archive may seem to contain one.
const LARGEST: u64 = 1 << 28;

/// A folder or a zip archive with text files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Files {
    /// A folder.
    Folder(PathBuf),
    /// A zip archive.
    Zip {
        path: PathBuf,
        /// The folder within the archive that contains the files: empty, or ending in a slash.
        inside: String,
        /// The names of all files in that folder, without its own name.
        names: Vec<String>,
    },
}

impl Files {
    /// A zip archive that contains this file, at the top or in some folder. None if it does not contain it.
    ///
    /// # Errors
    /// [`Error::File`] if the file is not a zip archive.
    pub(super) fn zip(path: &Path, file: &str) -> Result<Option<Self>> {
        let archive = open(path)?;
        let known: Vec<&str> = archive.file_names_raw().filter_map(|name| std::str::from_utf8(name).ok()).collect();
        let folders = known.iter().filter_map(|name| name.strip_suffix(file));
        let folders = folders.filter(|folder| folder.is_empty() || folder.ends_with('/'));
        let Some(inside) = folders.min_by_key(|folder| folder.len()) else {
            return Ok(None);
        };
        let names = known.iter().filter_map(|name| Some(name.strip_prefix(inside)?.to_owned())).collect();
        Ok(Some(Files::Zip { path: path.into(), inside: inside.into(), names }))
    }

    /// Is there a file of this name?
    pub(super) fn has(&self, name: &str) -> bool {
        match self {
            Files::Folder(folder) => folder.join(name).is_file(),
            Files::Zip { names, .. } => names.iter().any(|known| known == name),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::File`] for a file that is missing, cannot be read, is too large or is not UTF-8.
    pub(super) fn read(&self, name: &str) -> Result<Text> {
        match self {
            Files::Folder(folder) => {
                let path = folder.join(name);
                let file = shown(&path);
                let opened = File::open(&path).map_err(|reason| unreadable(&file, &reason))?;
                Text::read(file, opened)
            }
            Files::Zip { path, inside, .. } => {
                let file = format!("{}/{inside}{name}", shown(path));
                let mut archive = open(path)?;
                let member = archive.by_name(&format!("{inside}{name}"));
                Text::read(file.clone(), member.map_err(|reason| unreadable(&file, &reason))?)
            }
        }
    }
}

/// The path as in messages.
pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// The error for a file that cannot be read.
pub(super) fn unreadable(file: &str, reason: &dyn std::fmt::Display) -> Error {
    Error::File { file: file.into(), line: None, expected: "a file that can be read".into(), got: reason.to_string() }
}

fn open(path: &Path) -> Result<ZipArchive<BufReader<File>>> {
    let file = File::open(path).map_err(|reason| unreadable(&shown(path), &reason))?;
    ZipArchive::new(BufReader::new(file)).map_err(|reason| match reason {
        ZipError::Io(reason) => unreadable(&shown(path), &reason),
        reason => {
            Error::File { file: shown(path), line: None, expected: "a zip archive".into(), got: reason.to_string() }
        }
    })
}

/// The contents of a file.
#[derive(Debug)]
pub(super) struct Text {
    /// The name in messages.
    pub(super) file: String,
    text: String,
}

impl Text {
    fn read(file: String, reader: impl Read) -> Result<Self> {
        let mut bytes = Vec::new();
        reader.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|reason| unreadable(&file, &reason))?;
        if bytes.len() as u64 > LARGEST {
            let expected = format!("at most {LARGEST} bytes");
            return Err(Error::File { file, line: None, expected, got: "more".into() });
        }
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Text { file, text }),
            Err(error) => {
                let line =
                    1 + memchr::memchr_iter(b'\n', &error.as_bytes()[..error.utf8_error().valid_up_to()]).count();
                Err(not_utf8(&file, line))
            }
        }
    }

    /// The lines with their numbers, from 1, without white space at their ends.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(i, line)| (i + 1, line.trim_ascii_end()))
    }

    /// The contents as bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The error for a line.
    pub(super) fn malformed(&self, line: usize, expected: impl Into<String>, got: &str) -> Error {
        Error::File { file: self.file.clone(), line: Some(line), expected: expected.into(), got: quoted(got) }
    }

    /// The error for a file that ends too early: the number of its last line, and what should come after it.
    pub(super) fn ends(&self, line: usize, expected: impl Into<String>) -> Error {
        let got = "the end of the file".into();
        Error::File { file: self.file.clone(), line: Some(line), expected: expected.into(), got }
    }
}

/// The error for a line that is not UTF-8.
pub(super) fn not_utf8(file: &str, line: usize) -> Error {
    Error::File { file: file.into(), line: Some(line), expected: "UTF-8".into(), got: "other bytes".into() }
}

/// Folders for tests.
#[cfg(test)]
pub(super) mod testing {
    use std::io::Write;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A new folder, which is removed with the value.
    pub(in crate::metric::meteor) struct Folder(pub(in crate::metric::meteor) PathBuf);

    impl Folder {
        pub(in crate::metric::meteor) fn new() -> Self {
            static NUMBER: AtomicUsize = AtomicUsize::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("reshuffle-{}-{number}", std::process::id()));
            std::fs::create_dir(&path).unwrap();
            Folder(path)
        }

        /// Writes a file, and makes the folders above it. Returns its path.
        pub(in crate::metric::meteor) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
            let path = self.0.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, bytes).unwrap();
            path
        }

        /// Writes a zip archive. Returns its path.
        pub(in crate::metric::meteor) fn zip(&self, name: &str, members: &[(&str, &str)]) -> PathBuf {
            let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
            for (member, text) in members {
                writer.start_file(*member, zip::write::SimpleFileOptions::default()).unwrap();
                writer.write_all(text.as_bytes()).unwrap();
            }
            self.write(name, writer.finish().unwrap().into_inner())
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::testing::Folder;
    use super::*;

    #[test]
    fn files_of_folders_and_archives_are_the_same() {
        let folder = Folder::new();
        folder.write("a/b.txt", "one \r\n\ntwo");
        let zip =
            folder.zip("x.zip", &[("top/a/b.txt", "one \r\n\ntwo"), ("deep/down/a/b.txt", "no"), ("a/xb.txt", "")]);
        for files in [Files::Folder(folder.0.clone()), Files::zip(&zip, "a/b.txt").unwrap().unwrap()] {
            assert_eq!((true, false), (files.has("a/b.txt"), files.has("b.txt")));
            let text = files.read("a/b.txt").unwrap();
            assert_eq!(vec![(1, "one"), (2, ""), (3, "two")], text.lines().collect::<Vec<_>>());
            assert!(text.file.ends_with("/a/b.txt"), "{}", text.file);
        }
        assert_eq!(None, Files::zip(&zip, "b.text").unwrap());
    }

    #[test]
    fn damaged_files_are_refused() {
        let folder = Folder::new();
        let path = folder.write("latin-1", b"one\ntw\xF6\n");
        let files = Files::Folder(folder.0.clone());
        let message = |outcome: Result<Text>| outcome.unwrap_err().to_string();
        let expected = format!("{}, line 2: expected UTF-8, got other bytes", shown(&path));
        assert_eq!(expected, message(files.read("latin-1")));
        assert!(message(files.read("missing")).contains("missing: expected a file that can be read, got "));
        let error = Files::zip(&path, "a").unwrap_err().to_string();
        assert!(error.contains("latin-1: expected a zip archive, got "), "{error}");
        let zip = folder.zip("x.zip", &[("a", "one\n")]);
        let mut bytes = std::fs::read(&zip).unwrap();
        // The first byte of the compressed data, after a header of 30 bytes and the name.
        bytes[31] ^= 0x55;
        std::fs::write(&zip, bytes).unwrap();
        let error = message(Files::zip(&zip, "a").unwrap().unwrap().read("a"));
        assert!(error.contains("x.zip/a: expected a file that can be read, got "), "{error}");
    }
}
