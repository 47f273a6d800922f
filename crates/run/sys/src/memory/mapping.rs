//! Single mapping of a memory file.

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::BorrowedFd;
use std::ptr::{NonNull, null_mut};

/// Address range at which a memory file is mapped, shared; unmapped when dropped.
#[derive(Debug)]
pub(super) struct Mapping {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping is an address and a length, which do not change; it gives no access by itself.
// Its owners answer for what they read and write there.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `len` bytes of `file`; the caller knows that the file keeps at least that
    /// length for ever.
    pub(super) fn new(file: BorrowedFd<'_>, len: usize, writable: bool) -> io::Result<Self> {
        let access = if writable {
            ProtFlags::READ | ProtFlags::WRITE
        } else {
            ProtFlags::READ
        };
        // SAFETY: no address is asked for, so the kernel takes one at which nothing is mapped.
        let base = unsafe { mmap(null_mut(), len, access, MapFlags::SHARED, file, 0)? };
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Self { base, len })
    }

    /// Returns the address of the first byte, which begins a page and so is aligned for every word.
    pub(super) fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by `new`, and nothing refers to it any more: whatever gives
        // access borrows from this mapping or holds it in an `Arc`. Unmapping a whole mapping
        // does not fail.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.len) };
    }
}
