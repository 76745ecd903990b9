//! Lists made of other lists.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::build::{Builder, HASHER, Numbered, set};
use super::{NBest, Strings};
use crate::error::{Error, Result, quoted};
use crate::memory::{extend, push, reserved, zeros};
use crate::pool::Stop;

/// Where a feature of the old lists is in the new ones.
#[derive(Debug, Clone, Copy)]
enum Place {
    Dense(usize),
    Sparse(i32),
}

/// The places of features in lists with these dense features. Other features become sparse ones of `sparse`.
fn places(names: &[String], dense: &[String], sparse: &mut Numbered) -> Vec<Place> {
    let known: HashMap<&str, usize, FixedState> = dense.iter().zip(0..).map(|(name, i)| (name.as_str(), i)).collect();
    let place = |name: &String| match known.get(name.as_str()) {
        Some(&column) => Place::Dense(column),
        None => Place::Sparse(sparse.number(name)),
    };
    names.iter().map(place).collect()
}

/// The same lists with other dense features: sparse features that are among `names` become dense, and dense ones take
/// their order. The values of dense features that are not there are 0.
pub(super) fn reshaped(mut lists: NBest, names: &[String], stop: &Stop<'_>) -> Result<NBest> {
    let wanted = set(names);
    if lists.names == names && !lists.sparse_names.iter().any(|name| wanted.contains(name.as_str())) {
        return Ok(lists);
    }
    let mut sparse = Numbered::default();
    let dense_places = places(&lists.names, names, &mut sparse);
    let sparse_places = places(&lists.sparse_names, names, &mut sparse);
    let (width, entries) = (names.len(), lists.text_of.len());
    let mut dense = zeros(&[entries, width])?;
    let (mut kept, mut start) = (0, 0);
    for entry in 0..entries {
        stop.charge(8 * width + 64)?;
        let row = &mut dense[entry * width..(entry + 1) * width];
        let old_width = lists.names.len();
        for (place, value) in dense_places.iter().zip(&lists.dense[entry * old_width..]) {
            if let Place::Dense(column) = place {
                row[*column] = *value;
            }
        }
        let end = lists.indptr[entry + 1] as usize;
        for i in start..end {
            match sparse_places[lists.indices[i] as usize] {
                Place::Dense(column) => row[column] = lists.values[i],
                Place::Sparse(index) => {
                    (lists.indices[kept], lists.values[kept]) = (index, lists.values[i]);
                    kept += 1;
                }
            }
        }
        start = end;
        lists.indptr[entry + 1] = kept as i64;
    }
    lists.indices.truncate(kept);
    lists.values.truncate(kept);
    lists.indices.shrink_to_fit();
    lists.values.shrink_to_fit();
    lists.dense = dense;
    lists.names = names.to_vec();
    lists.sparse_names = sparse.names;
    Ok(lists)
}

/// Copies entries of lists to other lists.
struct Copier<'a> {
    from: &'a NBest,
    dense: Vec<Place>,
    sparse: Vec<Place>,
    row: Vec<(i32, f64)>,
}

impl<'a> Copier<'a> {
    fn new(from: &'a NBest, names: &[String], sparse: &mut Numbered) -> Self {
        let (dense, sparse) = (places(&from.names, names, sparse), places(&from.sparse_names, names, sparse));
        Copier { from, dense, sparse, row: Vec::new() }
    }

    /// Sets the row of dense features, and keeps that of sparse ones.
    fn read(&mut self, entry: usize, dense: &mut [f64]) {
        dense.fill(0.0);
        self.row.clear();
        let mut put = |place: Place, value: f64| match place {
            Place::Dense(column) => dense[column] = value,
            Place::Sparse(index) => self.row.push((index, value)),
        };
        self.dense.iter().zip(self.from.dense_of(entry)).for_each(|(place, value)| put(*place, *value));
        let (indices, values) = self.from.sparse_of(entry);
        indices.iter().zip(values).for_each(|(index, value)| put(self.sparse[*index as usize], *value));
        self.row.sort_unstable_by_key(|(index, _)| *index);
    }

    /// Adds the entry that was read.
    fn write(&self, entry: usize, dense: &[f64], to: &mut Builder, totals: bool) -> Result<()> {
        to.text(self.from.hypothesis(entry))?;
        let lists = &mut to.lists;
        extend(&mut lists.dense, dense.iter().copied())?;
        if totals {
            push(&mut lists.totals, self.from.totals[entry])?;
        }
        for (column, own) in lists.columns.iter_mut().zip(&self.from.columns) {
            column.push(own.get(entry))?;
        }
        to.sparse(self.row.iter().copied())
    }
}

/// The dense features of joined lists.
fn joined_names(lists: &[&NBest]) -> Result<Vec<String>> {
    let first = &lists[0].names;
    let mut names = first.clone();
    for &other in lists {
        let (known, own) = (set(&names), set(&other.names));
        let lost = first.iter().find(|name| !own.contains(name.as_str()) && !other.omits_zeros);
        let more: Vec<&String> = other.names.iter().filter(|name| !known.contains(name.as_str())).collect();
        drop(known);
        let Some(name) = lost.or(more.first().copied().filter(|_| !lists.iter().all(|list| list.omits_zeros))) else {
            names.extend(more.into_iter().cloned());
            continue;
        };
        return Err(Error::invalid(
            "the dense features of joined lists",
            "the same in all lists",
            format!("{} in some of them", quoted(name)),
        ));
    }
    Ok(names)
}

/// Joins lists of several decodes. A sentence has the entries of the first lists that have it, then those of the next.
/// Entries with the same hypothesis and features as an earlier one are left out.
pub fn merged(lists: &[&NBest], stop: &Stop<'_>) -> Result<NBest> {
    if lists.is_empty() {
        return Err(Error::Empty { what: "lists".into() });
    }
    let names = joined_names(lists)?;
    let mut sparse = Numbered::default();
    let mut copiers: Vec<_> = lists.iter().map(|list| Copier::new(list, &names, &mut sparse)).collect();
    let totals = lists.iter().all(|list| !list.totals.is_empty());
    let columns = lists.iter().map(|list| list.columns.len()).min().unwrap_or(0);
    let mut builder = Builder::new();
    builder.lists.columns = vec![Strings::default(); columns];
    let mut ids: Vec<i64> = reserved(lists.iter().map(|list| list.sentences()).sum())?;
    lists.iter().for_each(|list| ids.extend_from_slice(&list.ids));
    ids.sort_unstable();
    ids.dedup();
    let mut row = vec![0.0; names.len()];
    let mut known: HashMap<u64, Vec<usize>, _> = HashMap::with_hasher(HASHER);
    for id in ids {
        builder.begin(id);
        known.clear();
        for copier in &mut copiers {
            let Ok(sentence) = copier.from.ids.binary_search(&id) else { continue };
            for entry in copier.from.entries_of(sentence) {
                stop.charge(32 * row.len() + 256)?;
                copier.read(entry, &mut row);
                let text = copier.from.hypothesis(entry);
                let same = known.entry(hashed(text, &row, &copier.row)).or_default();
                let lists = &builder.lists;
                if !same.iter().any(|&other| equals(lists, other, text, &row, &copier.row)) {
                    same.push(lists.text_of.len());
                    copier.write(entry, &row, &mut builder, totals)?;
                }
            }
        }
    }
    Ok(finished(builder, names, sparse, lists.iter().all(|list| list.omits_zeros)))
}

fn finished(builder: Builder, names: Vec<String>, sparse: Numbered, omits_zeros: bool) -> NBest {
    let mut lists = builder.finish();
    (lists.names, lists.sparse_names) = (names, sparse.names);
    lists.omits_zeros = omits_zeros;
    lists
}

fn hashed(text: &str, dense: &[f64], sparse: &[(i32, f64)]) -> u64 {
    let mut hasher = HASHER.build_hasher();
    text.hash(&mut hasher);
    // 0 and -0 are equal, and so is their sum with 0.
    dense.iter().for_each(|value| (value + 0.0).to_bits().hash(&mut hasher));
    sparse.iter().for_each(|(index, value)| (index, value.to_bits()).hash(&mut hasher));
    hasher.finish()
}

fn equals(lists: &NBest, entry: usize, text: &str, dense: &[f64], sparse: &[(i32, f64)]) -> bool {
    let width = dense.len();
    let own = lists.indptr[entry] as usize..lists.indptr[entry + 1] as usize;
    lists.texts.get(lists.text_of[entry] as usize) == text
        && lists.dense[entry * width..(entry + 1) * width] == *dense
        && own.len() == sparse.len()
        && own.zip(sparse).all(|(i, (index, value))| lists.indices[i] == *index && lists.values[i] == *value)
}

/// The number of an entry or the like, of which there are `len`.
pub fn check_place(what: &str, number: i64, len: usize) -> Result<usize> {
    let place = usize::try_from(number).ok().filter(|&place| place < len);
    place.ok_or_else(|| Error::invalid(what, format_args!("at least 0 and less than {len}"), number))
}

/// The lists of some entries, which are in increasing order. Sentences without any are left out.
pub fn selected(lists: &NBest, entries: &[i64], stop: &Stop<'_>) -> Result<NBest> {
    for &entry in entries {
        check_place("entry", entry, lists.entries())?;
    }
    if let Some(pair) = entries.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(Error::invalid("entries", "in increasing order", format!("{} before {}", pair[0], pair[1])));
    }
    let names = lists.names.clone();
    let mut sparse = Numbered::from_names(&lists.sparse_names);
    let mut copier = Copier::new(lists, &names, &mut sparse);
    let (mut builder, mut sentence) = (Builder::new(), None);
    builder.lists.columns = vec![Strings::default(); lists.columns.len()];
    let mut row = vec![0.0; names.len()];
    for &entry in entries {
        stop.charge(16 * row.len() + 256)?;
        let of = lists.offsets.partition_point(|&offset| offset <= entry) - 1;
        if sentence.replace(of) != Some(of) {
            builder.begin(lists.ids[of]);
        }
        copier.read(entry as usize, &mut row);
        copier.write(entry as usize, &row, &mut builder, !lists.totals.is_empty())?;
    }
    Ok(finished(builder, names, sparse, lists.omits_zeros))
}
