//! View of a received sequence, for a servant.

use std::fmt;
use std::ops::Deref;

use crate::bulk::Scratch;

/// Elements of a received sequence: the received bytes themselves where order and alignment allow
/// it, else values in memory that the thread keeps for the next call, else (for types other than
/// plain numbers) a vector.
pub struct View<'d, T>(Storage<'d, T>);

enum Storage<'d, T> {
    Received(&'d [T]),
    Kept(Scratch<T>),
    Owned(Vec<T>),
}

impl<T> View<'_, T> {
    /// Returns whether the elements are viewed where they were received, without a copy.
    #[must_use]
    pub fn is_borrowed(&self) -> bool {
        matches!(self.0, Storage::Received(_))
    }
}

impl<T> Deref for View<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Storage::Received(values) => values,
            Storage::Kept(values) => values.as_slice(),
            Storage::Owned(values) => values,
        }
    }
}

impl<T> AsRef<[T]> for View<'_, T> {
    #[inline]
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<'d, T> From<&'d [T]> for View<'d, T> {
    #[inline]
    fn from(values: &'d [T]) -> Self {
        Self(Storage::Received(values))
    }
}

impl<T> From<Vec<T>> for View<'_, T> {
    #[inline]
    fn from(values: Vec<T>) -> Self {
        Self(Storage::Owned(values))
    }
}

impl<T> From<Scratch<T>> for View<'_, T> {
    #[inline]
    fn from(values: Scratch<T>) -> Self {
        Self(Storage::Kept(values))
    }
}

impl<T: fmt::Debug> fmt::Debug for View<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
