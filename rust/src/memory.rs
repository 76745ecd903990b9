//! Vectors whose length the caller's data decide: too little memory is an error, not an abort.

use crate::error::{Error, Result};

/// Zeros.
///
/// The operating system provides zeroed pages when they are first written to, so this takes no time even for gigabytes,
/// during which a call could not be interrupted.
pub(crate) fn zeros<T: Zero>(factors: &[usize]) -> Result<Vec<T>> {
    let numbers = factors.iter().fold(1, |product: u128, &factor| product.saturating_mul(factor as u128));
    let length = usize::try_from(numbers).map_err(|_| Error::Memory { numbers })?;
    zeroed::vector(length).ok_or(Error::Memory { numbers })
}

pub(crate) use zeroed::Zero;

#[allow(unsafe_code)]
mod zeroed {
    use std::alloc::{Layout, alloc_zeroed};

    /// A type that is 0 if all of its bits are 0.
    ///
    /// # Safety
    /// All bits 0 must be a valid value.
    pub unsafe trait Zero: Copy {}

    macro_rules! zero {
        ($($number:ty),*) => {$(
            // SAFETY: all bits 0 are the number 0.
            unsafe impl Zero for $number {}
        )*};
    }

    zero!(u8, u16, u32, u64, i8, i16, i32, i64, i128, f64);

    // SAFETY: all bits 0 are an array of zeros.
    unsafe impl<T: Zero, const N: usize> Zero for [T; N] {}

    /// None if there is no room.
    pub fn vector<T: Zero>(length: usize) -> Option<Vec<T>> {
        const { assert!(size_of::<T>() > 0) };
        if length == 0 {
            return Some(Vec::new());
        }
        let layout = Layout::array::<T>(length).ok()?;
        // SAFETY: neither the length nor the size of a value is 0.
        let memory = unsafe { alloc_zeroed(layout) };
        // SAFETY: the global allocator returned it for this layout, and all bits 0 are a valid value of every element.
        (!memory.is_null()).then(|| unsafe { Vec::from_raw_parts(memory.cast(), length, length) })
    }
}

/// An empty vector with capacity.
pub(crate) fn reserved<T>(length: usize) -> Result<Vec<T>> {
    let mut out = Vec::new();
    out.try_reserve_exact(length).map_err(|_| Error::Memory { numbers: length as u128 })?;
    Ok(out)
}

/// The values of an iterator.
pub(crate) fn collected<T>(values: impl ExactSizeIterator<Item = T>) -> Result<Vec<T>> {
    let mut out = reserved(values.len())?;
    out.extend(values);
    Ok(out)
}

/// A copy.
pub(crate) fn copied<T: Copy>(values: &[T]) -> Result<Vec<T>> {
    collected(values.iter().copied())
}

/// A vector of this length, all of whose values are equal.
pub(crate) fn filled<T: Clone>(length: usize, value: T) -> Result<Vec<T>> {
    collected(std::iter::repeat_n(value, length))
}

/// Resizes a reused buffer; new elements are 0.
pub(crate) fn resize<T: Zero + Default>(buffer: &mut Vec<T>, length: usize) -> Result<()> {
    let more = length.saturating_sub(buffer.len());
    buffer.try_reserve(more).map_err(|_| Error::Memory { numbers: length as u128 })?;
    buffer.resize(length, T::default());
    Ok(())
}

/// Appends values.
pub(crate) fn extend<T>(
    values: &mut Vec<T>,
    more: impl IntoIterator<IntoIter: ExactSizeIterator<Item = T>>,
) -> Result<()> {
    let more = more.into_iter();
    room(values, more.len())?;
    values.extend(more);
    Ok(())
}

/// Appends a value.
#[inline]
pub(crate) fn push<T>(values: &mut Vec<T>, value: T) -> Result<()> {
    room(values, 1)?;
    values.push(value);
    Ok(())
}

/// Makes room for some more elements.
pub(crate) fn room<T>(values: &mut Vec<T>, more: usize) -> Result<()> {
    values.try_reserve(more).map_err(|_| Error::Memory { numbers: (values.len() + more) as u128 })
}
