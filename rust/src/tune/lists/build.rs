//! Lists that grow entry by entry.

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};

use super::{NBest, Strings};
use crate::error::{Error, Result};
use crate::memory::push;

pub(super) const HASHER: FixedState = FixedState::with_seed(3);

impl Strings {
    pub(super) fn push(&mut self, text: &str) -> Result<()> {
        let numbers = (self.bytes.len() + text.len()) as u128;
        self.bytes.try_reserve(text.len()).map_err(|_| Error::Memory { numbers })?;
        self.bytes.push_str(text);
        push(&mut self.ends, self.bytes.len())
    }
}

/// Numbers for names, in the order of their first appearance.
#[derive(Debug, Default)]
pub(super) struct Numbered {
    pub names: Vec<String>,
    known: HashMap<String, i32, FixedState>,
}

/// The names as a set, because there may be many.
pub(super) fn set(names: &[String]) -> HashSet<&str, FixedState> {
    names.iter().map(String::as_str).collect()
}

impl Numbered {
    pub fn from_names(names: &[String]) -> Self {
        let known = names.iter().zip(0..).map(|(name, i)| (name.clone(), i)).collect();
        Numbered { names: names.to_vec(), known }
    }

    /// The number of a name that is known.
    pub fn find(&self, name: &str) -> Option<i32> {
        self.known.get(name).copied()
    }

    pub fn number(&mut self, name: &str) -> i32 {
        if let Some(number) = self.find(name) {
            return number;
        }
        let number = self.names.len() as i32;
        self.names.push(name.to_owned());
        self.known.insert(name.to_owned(), number);
        number
    }
}

/// Lists of texts without features, such as samples, one for each sentence.
pub fn of_texts(lists: &[Vec<impl AsRef<str>>]) -> Result<NBest> {
    if lists.is_empty() || lists.iter().any(Vec::is_empty) {
        return Err(Error::Empty { what: "texts".into() });
    }
    let mut builder = Builder::new();
    for (id, texts) in (0..).zip(lists) {
        builder.begin(id);
        for text in texts {
            builder.text(text.as_ref())?;
            builder.sparse(std::iter::empty())?;
        }
    }
    Ok(builder.finish())
}

/// Lists under construction.
#[derive(Debug)]
pub(super) struct Builder {
    pub lists: NBest,
    /// The distinct hypotheses of the current sentence, by hash.
    texts: HashMap<u64, Vec<i32>, FixedState>,
}

impl Builder {
    pub fn new() -> Self {
        let lists = NBest { indptr: vec![0], ..NBest::default() };
        Builder { lists, texts: HashMap::with_hasher(HASHER) }
    }

    /// Begins the list of another sentence.
    pub fn begin(&mut self, id: i64) {
        let lists = &mut self.lists;
        lists.ids.push(id);
        lists.offsets.push(lists.text_of.len() as i64);
        lists.text_offsets.push(lists.texts.len() as i64);
        self.texts.clear();
    }

    /// Adds the hypothesis of an entry.
    pub fn text(&mut self, hypothesis: &str) -> Result<()> {
        use std::hash::BuildHasher;
        let lists = &mut self.lists;
        let same = self.texts.entry(HASHER.hash_one(hypothesis)).or_default();
        let known = same.iter().find(|&&number| lists.texts.get(number as usize) == hypothesis);
        if let Some(&number) = known {
            return push(&mut lists.text_of, number);
        }
        let number =
            i32::try_from(lists.texts.len()).map_err(|_| Error::Memory { numbers: lists.texts.len() as u128 })?;
        lists.texts.push(hypothesis)?;
        same.push(number);
        push(&mut lists.text_of, number)
    }

    /// Adds the sparse values of an entry, which are in order, and ends the entry.
    pub fn sparse(&mut self, features: impl Iterator<Item = (i32, f64)>) -> Result<()> {
        let lists = &mut self.lists;
        for (index, value) in features.filter(|(_, value)| *value != 0.0) {
            push(&mut lists.indices, index)?;
            push(&mut lists.values, value)?;
        }
        push(&mut lists.indptr, lists.indices.len() as i64)
    }

    /// The lists, without spare memory.
    pub fn finish(self) -> NBest {
        let mut lists = self.lists;
        lists.offsets.push(lists.text_of.len() as i64);
        lists.text_offsets.push(lists.texts.len() as i64);
        lists.text_of.shrink_to_fit();
        lists.dense.shrink_to_fit();
        lists.indptr.shrink_to_fit();
        lists.indices.shrink_to_fit();
        lists.values.shrink_to_fit();
        lists.totals.shrink_to_fit();
        lists.texts.shrink();
        lists.columns.iter_mut().for_each(Strings::shrink);
        lists
    }
}
