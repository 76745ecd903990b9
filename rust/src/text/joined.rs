//! Lists of different lengths in one vector.

use std::ops::Range;

/// Lists, one after another, and where each ends. An open list at the end takes new values.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined<T> {
    values: Vec<T>,
    ends: Vec<usize>,
}

impl<T> Default for Joined<T> {
    fn default() -> Self {
        Joined { values: Vec::new(), ends: Vec::new() }
    }
}

impl<T> Joined<T> {
    /// Removes all lists.
    #[inline]
    pub fn clear(&mut self) {
        self.values.clear();
        self.ends.clear();
    }

    /// Adds a value to the open list.
    #[inline]
    pub fn push(&mut self, value: T) {
        self.values.push(value);
    }

    /// All values so far, to append those of the open list.
    #[inline]
    pub fn open(&mut self) -> &mut Vec<T> {
        &mut self.values
    }

    /// Ends the open list, and opens the next one.
    #[inline]
    pub fn end(&mut self) {
        self.ends.push(self.values.len());
    }

    /// The number of lists that have ended.
    #[inline]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where a list is among all values.
    #[inline]
    pub fn range(&self, list: usize) -> Range<usize> {
        let start = if list == 0 { 0 } else { self.ends[list - 1] };
        start..self.ends[list]
    }

    /// One of the lists.
    #[inline]
    pub fn get(&self, list: usize) -> &[T] {
        &self.values[self.range(list)]
    }

    /// All lists.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.values[std::mem::replace(&mut start, end)..end])
    }

    /// The values of all lists.
    #[inline]
    pub fn values(&self) -> &[T] {
        &self.values
    }
}

impl<T: Clone> Joined<T> {
    /// Adds a list.
    #[inline]
    pub fn add(&mut self, list: &[T]) {
        self.values.extend_from_slice(list);
        self.end();
    }
}
