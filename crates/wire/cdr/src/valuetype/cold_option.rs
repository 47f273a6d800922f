//! Optional state that few messages need: it costs a pointer, and one test at the end.

use std::ops::{Deref, DerefMut};

/// Optional value in memory of its own, which is rarely present: dropping `None` is inlined,
/// dropping the value is out of line.
#[derive(Clone, Debug)]
pub(crate) struct ColdOption<T>(Option<Box<T>>);

impl<T> ColdOption<T> {
    pub(crate) const NONE: Self = Self(None);
}

impl<T> Drop for ColdOption<T> {
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

impl<T> Deref for ColdOption<T> {
    type Target = Option<Box<T>>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T> DerefMut for ColdOption<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
