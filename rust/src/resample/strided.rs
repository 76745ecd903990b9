//! Columns of one length that lie one after another in a slice.

use std::ops::{Deref, DerefMut};

/// Columns of numbers, `stride` apart, in a slice `V` that is borrowed or mutably borrowed. Kernels have a column for
/// what they add up or draw, and a row for each replicate, so that replicates lie side by side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strided<V> {
    /// From the first row of the view on.
    values: V,
    stride: usize,
    /// Rows from the first one of the view to the end of a column.
    rows: usize,
}

impl<T: 'static, V: Deref<Target = [T]>> Strided<V> {
    /// All rows of columns of this length.
    pub fn new(values: V, stride: usize) -> Self {
        Strided { values, stride, rows: stride }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.values.len().div_ceil(self.stride)
    }

    /// A column.
    #[inline(always)]
    pub fn column(&self, column: usize) -> &[T] {
        &self.values[column * self.stride..][..self.rows]
    }

    /// The columns.
    #[inline(always)]
    pub fn columns(&self) -> impl Iterator<Item = &[T]> {
        self.values.chunks(self.stride).map(|column| &column[..self.rows])
    }

    /// The value of each column in the first row.
    #[inline(always)]
    pub fn first_row(&self) -> impl Iterator<Item = &T> {
        self.values.iter().step_by(self.stride)
    }

    /// The rows from this one on.
    pub fn rows_from(&self, row: usize) -> Strided<&[T]> {
        let values = self.values.get(row..).unwrap_or_default();
        Strided { values, stride: self.stride, rows: self.rows - row }
    }
}

impl<T: 'static, V: DerefMut<Target = [T]>> Strided<V> {
    /// As [`Strided::column`].
    #[inline(always)]
    pub fn column_mut(&mut self, column: usize) -> &mut [T] {
        &mut self.values[column * self.stride..][..self.rows]
    }

    /// As [`Strided::columns`].
    #[inline(always)]
    pub fn columns_mut(&mut self) -> impl Iterator<Item = &mut [T]> {
        let rows = self.rows;
        self.values.chunks_mut(self.stride).map(move |column| &mut column[..rows])
    }

    /// As [`Strided::first_row`].
    #[inline(always)]
    pub fn first_row_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.iter_mut().step_by(self.stride)
    }

    /// As [`Strided::rows_from`].
    pub fn rows_from_mut(&mut self, row: usize) -> Strided<&mut [T]> {
        let values = self.values.get_mut(row..).unwrap_or_default();
        Strided { values, stride: self.stride, rows: self.rows - row }
    }

    /// The same view, for a function that takes it.
    pub fn reborrow(&mut self) -> Strided<&mut [T]> {
        self.rows_from_mut(0)
    }

    /// The first columns, and the others.
    pub fn split_at(&mut self, columns: usize) -> [Strided<&mut [T]>; 2] {
        let (stride, rows) = (self.stride, self.rows);
        let end = self.values.len().min(columns * stride);
        <[_; 2]>::from(self.values.split_at_mut(end)).map(|values| Strided { values, stride, rows })
    }

    /// The columns of a view of all rows, one after another.
    pub fn as_flattened_mut(&mut self) -> &mut [T] {
        assert_eq!(self.rows, self.stride, "values of other rows lie between the columns");
        &mut self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_from_a_row_on_has_no_other_rows() {
        let mut values = [10, 11, 12, 20, 21, 22, 30, 31, 32];
        let all = Strided::new(&values[..], 3);
        assert_eq!((3, 3), (all.rows(), all.width()));
        assert_eq!([[10, 11, 12], [20, 21, 22], [30, 31, 32]].map(Vec::from), *columns_of(all));
        let later = all.rows_from(1);
        assert_eq!((2, 3), (later.rows(), later.width()));
        assert_eq!([[11, 12], [21, 22], [31, 32]].map(Vec::from), *columns_of(later));
        assert_eq!([31, 32], later.column(2));
        assert_eq!(vec![12, 22, 32], later.rows_from(1).first_row().copied().collect::<Vec<_>>());

        let mut all = Strided::new(&mut values[..], 3);
        let mut later = all.rows_from_mut(1);
        later.columns_mut().for_each(|column| column.fill(0));
        later.column_mut(1)[1] = 5;
        later.reborrow().first_row_mut().for_each(|value| *value += 7);
        assert_eq!([10, 7, 0, 20, 7, 5, 30, 7, 0], all.as_flattened_mut());
    }

    #[test]
    fn columns_are_split_at_any_row() {
        let mut values = [10, 11, 12, 20, 21, 22];
        for (row, first, second) in [(0, vec![10, 11, 12], vec![20, 21, 22]), (2, vec![12], vec![22])] {
            let mut all = Strided::new(&mut values[..], 3);
            let mut view = all.rows_from_mut(row);
            let split = |at, view: &mut Strided<&mut [i32]>| view.split_at(at).map(columns_of);
            assert_eq!([vec![], vec![first.clone(), second.clone()]], split(0, &mut view));
            assert_eq!([vec![first.clone()], vec![second.clone()]], split(1, &mut view));
            assert_eq!([vec![first, second], vec![]], split(2, &mut view));
        }
    }

    #[test]
    fn a_view_of_no_columns_has_rows() {
        let mut none = Strided::new(&mut [0; 0][..], 3);
        assert_eq!((1, 0), (none.rows_from_mut(2).rows(), none.rows_from(2).width()));
        assert_eq!(0, none.rows_from_mut(2).columns_mut().count());
    }

    fn columns_of(view: Strided<impl Deref<Target = [i32]>>) -> Vec<Vec<i32>> {
        view.columns().map(<[i32]>::to_vec).collect()
    }
}
