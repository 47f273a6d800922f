//! A process's own shared memory: regions to fill, words for a peer to watch.

use super::SEALS;
use super::mapping::Mapping;
use rustix::fs::{MemfdFlags, fcntl_add_seals, ftruncate, memfd_create};
use std::io;
use std::ops::Deref;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// Makes `len` bytes of zeroed memory that only this process can write, and returns them with the
/// descriptor by which a peer may map them for reading.
///
/// Pages are taken from the machine when they are first touched. `name` shows in `/proc/PID/maps`.
///
/// # Errors
/// Errors of `memfd_create`, `ftruncate`, `mmap` and `fcntl`; `InvalidInput` when `len` is 0.
pub fn create(name: &str, len: usize) -> io::Result<(OwnedFd, Region)> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know the flag for memory that is never executed.
    let file = memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL)
        .or_else(|_| memfd_create(name, flags))?;
    ftruncate(&file, len as u64)?;
    let mapping = Mapping::new(file.as_fd(), len, true)?;
    fcntl_add_seals(&file, SEALS)?;
    let region = Region {
        mapping: Arc::new(mapping),
        start: 0,
        len,
    };
    Ok((file, region))
}

/// Range of this process's own shared memory, and the only way to it.
#[derive(Debug)]
pub struct Region {
    mapping: Arc<Mapping>,
    /// Offset of the range; with `len`, within the mapping, and disjoint from every other region
    /// and words of it.
    start: usize,
    len: usize,
}

impl Region {
    /// Returns the size of the memory region in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the memory region has a size of 0 bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the offset of the region from the memory's first byte.
    #[must_use]
    pub fn start(&self) -> usize {
        self.start
    }

    /// Returns the bytes of the memory region.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the range lies within the mapping, which `self` keeps; the kernel zeroed it, so
        // it is initialised. Only this region refers to it in this process, and the borrow of
        // `self` excludes `as_mut_slice`; no other process can write, as `create` sealed the file
        // before another process had its descriptor.
        unsafe { std::slice::from_raw_parts(self.mapping.base().add(self.start), self.len) }
    }

    /// Returns the bytes of the memory region, for writing.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, and the borrow of `self` is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.mapping.base().add(self.start), self.len) }
    }

    /// Splits the region into its first `at` bytes (all, if it has fewer) and the rest.
    #[must_use]
    pub fn split(self, at: usize) -> (Self, Self) {
        let at = at.min(self.len);
        let rest = Self {
            mapping: self.mapping.clone(),
            start: self.start + at,
            len: self.len - at,
        };
        (Self { len: at, ..self }, rest)
    }

    /// Joins this region and the one that begins where it ends.
    ///
    /// # Errors
    /// Both regions, when they are not neighbours in one memory.
    pub fn join(self, next: Self) -> Result<Self, (Self, Self)> {
        if Arc::ptr_eq(&self.mapping, &next.mapping) && self.start + self.len == next.start {
            let len = self.len + next.len;
            Ok(Self { len, ..self })
        } else {
            Err((self, next))
        }
    }

    /// Turns the region into words permanently; bytes before the first aligned word, and after the
    /// last whole one, are lost.
    #[must_use]
    pub fn into_words(self) -> Words {
        let start = self.start.next_multiple_of(size_of::<AtomicU32>());
        let count = (self.start + self.len).saturating_sub(start) / size_of::<AtomicU32>();
        Words {
            mapping: self.mapping,
            start: start.min(self.start + self.len),
            count,
        }
    }
}

/// Words of this process's own memory, which a peer watches: any thread of this process may write
/// them.
#[derive(Clone, Debug)]
pub struct Words {
    mapping: Arc<Mapping>,
    start: usize,
    count: usize,
}

impl Deref for Words {
    type Target = [AtomicU32];

    fn deref(&self) -> &[AtomicU32] {
        // SAFETY: `into_words` gave up the region permanently, so that the range is reached only
        // through words, which are atomic; it lies within the mapping, which `self` keeps, and
        // `start` is aligned, as the mapping begins with a page.
        unsafe {
            let first = self.mapping.base().add(self.start);
            std::slice::from_raw_parts(first.cast::<AtomicU32>(), self.count)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::mm::{MapFlags, ProtFlags};
    use std::sync::atomic::Ordering;

    #[test]
    fn regions_split_and_join_and_keep_what_they_hold() {
        let (_file, mut region) = create("punctual-test", 8192).unwrap();
        region.as_mut_slice().fill(7);
        let (first, second) = region.split(4096);
        let (second, third) = second.split(100);
        assert_eq!((second.start(), third.len()), (4096, 3996));
        let (first, third) = first.join(third).unwrap_err();
        let whole = first.join(second).unwrap().join(third).unwrap();
        assert_eq!(whole.as_slice(), [7; 8192]);
    }

    #[test]
    fn neighbours_of_different_memories_do_not_join() {
        let (_a, one) = create("punctual-test", 4096).unwrap();
        let (_b, other) = create("punctual-test", 8192).unwrap();
        let (_, end) = other.split(4096);
        assert!(one.join(end).is_err());
    }

    #[test]
    fn words_of_an_unaligned_region_begin_at_the_next_word() {
        let (_file, region) = create("punctual-test", 4096).unwrap();
        let (_, region) = region.split(3);
        let words = region.split(10).0.into_words();
        assert_eq!(words.len(), 2);
        words[1].store(5, Ordering::Relaxed);
        assert_eq!(words.clone()[1].load(Ordering::Relaxed), 5);
    }

    #[test]
    fn memory_once_made_keeps_its_size_and_its_only_writer() {
        let (file, _region) = create("punctual-test", 4096).unwrap();
        assert!(ftruncate(&file, 0).is_err());
        assert!(ftruncate(&file, 8192).is_err());
        assert!(rustix::io::write(&file, b"x").is_err());
        assert!(fcntl_add_seals(&file, SEALS).is_err());
        // SAFETY: the kernel chooses the address, and no other code uses it.
        let mapped = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                4096,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                &file,
                0,
            )
        };
        assert!(mapped.is_err());
    }
}
