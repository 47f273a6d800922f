//! A place that hardly any message needs: it costs a pointer, and a look at it at the end.

use std::ops::{Deref, DerefMut};

/// Maybe something, in memory of its own. Dropping nothing is done where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Rarely<T>(Option<Box<T>>);

impl<T> Rarely<T> {
    pub(crate) const NOTHING: Self = Self(None);
}

impl<T> Drop for Rarely<T> {
    #[inline(always)]
    fn drop(&mut self) {
        #[cold]
        #[inline(never)]
        fn end<T>(content: Box<T>) {
            drop(content);
        }
        if let Some(content) = self.0.take() {
            end(content);
        }
    }
}

impl<T> Deref for Rarely<T> {
    type Target = Option<Box<T>>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for Rarely<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
