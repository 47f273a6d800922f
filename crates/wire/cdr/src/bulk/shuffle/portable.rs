//! Shuffles without instructions for them: for Miri, which checks the accesses to memory, and for
//! comparison in tests.

use std::mem::MaybeUninit;

#[cfg(miri)]
use super::Turn;
use super::{Vector, ZERO};

#[cfg(miri)]
pub(super) use for_miri::{copy, look};

/// Sixteen bytes, of which those that were loaded from padding are not initialised.
#[derive(Clone, Copy)]
pub(super) struct Sixteen([MaybeUninit<u8>; 16]);

#[cfg(miri)]
mod for_miri {
    use super::{Sixteen, Turn};
    use crate::bulk::layout::PlainData;
    use crate::bulk::shuffle::{Copied, Turning};

    /// Copies as `super::super::copy` does.
    ///
    /// # Safety
    /// As `super::super::copy`.
    pub(in super::super) unsafe fn copy<T: PlainData, const RECEIVED: bool>(
        from: *const u8,
        to: *mut u8,
        count: usize,
        turning: Turning,
    ) -> Copied {
        // SAFETY: as the caller promises.
        unsafe { Turn::<Sixteen, T>::copy::<RECEIVED>(from, to, count, turning) }
    }

    /// Looks at values as `super::super::look` does.
    pub(in super::super) fn look<T: PlainData>(octets: &[u8]) -> Copied {
        // SAFETY: these vectors need no processor.
        unsafe { Turn::<Sixteen, T>::look(octets) }
    }
}

// SAFETY: the size is that of the array.
unsafe impl Vector for Sixteen {
    const BYTES: usize = 16;

    unsafe fn zero() -> Self {
        Self([MaybeUninit::new(0); 16])
    }

    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: as the caller promises; an array of bytes needs no alignment.
        unsafe { Self::load_any(from) }
    }

    unsafe fn load_any(from: *const u8) -> Self {
        // SAFETY: as the caller promises.
        Self(unsafe { from.cast::<[MaybeUninit<u8>; 16]>().read() })
    }

    unsafe fn shuffled(self, Self(control): Self) -> Self {
        let Self(octets) = self;
        Self(control.map(|control| {
            // SAFETY: operands are initialised.
            match unsafe { control.assume_init() } {
                ZERO => MaybeUninit::new(0),
                offset => octets[usize::from(offset % 16)],
            }
        }))
    }

    unsafe fn or(self, Self(other): Self) -> Self {
        let Self(mut octets) = self;
        for (octet, other) in octets.iter_mut().zip(other) {
            // SAFETY: what is or-ed was shuffled, or loaded from initialised memory.
            *octet = MaybeUninit::new(unsafe { octet.assume_init() | other.assume_init() });
        }
        Self(octets)
    }

    unsafe fn store(self, to: *mut u8) {
        // SAFETY: as the caller promises; an array of bytes needs no alignment.
        unsafe { to.cast::<[MaybeUninit<u8>; 16]>().write(self.0) }
    }
}
