//! Memory of a peer: read only, and never assumed to stay unchanged.

use super::SEALS;
use super::mapping::Mapping;
use crate::credentials::SameUser;
use crate::futex;
use rustix::fs::{SeekFrom, fcntl_get_seals, fstat, fstatfs, seek};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering, fence};
use std::time::Duration;

/// Type of the file system of memory files (`statfs(2)`). Memory files of huge pages live in
/// another: touching one of those when the machine has none left ends the process by SIGBUS.
const TMPFS_MAGIC: u64 = 0x0102_1994;

/// Reason why memory that a peer offers is not mapped.
#[derive(thiserror::Error)]
pub enum Refused {
    /// The file is not a memory file of ordinary pages.
    #[error("not a memory file")]
    NotMemory,
    /// The file could still shrink, grow, be written by others, or be unsealed.
    #[error("the memory file is not sealed")]
    NotSealed,
    /// The file's size is not what the peer said.
    #[error("the memory file's size differs from the announced size")]
    WrongSize,
    /// The operating system reported an error.
    #[error("{0}")]
    Os(#[from] io::Error),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Error for a range that does not lie within a peer's memory.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the range lies outside of the peer's memory")]
pub struct OutOfRange;

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for OutOfRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Choice to trust a peer of the same user not to change the memory it has lent; made only by
/// [`Trusted::by_choice`]. See [`PeerMemory::view`].
#[derive(Clone, Copy, Debug)]
pub struct Trusted(SameUser);

impl Trusted {
    /// Makes the choice. The same user does not justify it by itself: the operator of both
    /// processes must have asked for it.
    #[must_use]
    pub fn by_choice(peer: SameUser) -> Self {
        Self(peer)
    }
}

/// Memory that a peer writes and this process reads.
///
/// A second read may return something else: read, check the copy, use the copy.
///
/// An untouched page is allocated when it is read, and charged to the reader's control group until
/// the peer closes its file, even after it was unmapped here. [`PeerMemory::unwritten_from`] finds
/// such pages without touching them.
#[derive(Debug)]
pub struct PeerMemory {
    mapping: Mapping,
    file: OwnedFd,
}

impl PeerMemory {
    /// Maps a memory file sent by a peer, which states its length as `len` bytes.
    ///
    /// # Errors
    /// [`Refused`], before anything is mapped: no memory file, not sealed, or of another size.
    pub fn map(file: impl AsFd, len: usize) -> Result<Self, Refused> {
        let file = file.as_fd();
        if !check_memory_file(file)? {
            return Err(Refused::NotMemory);
        }
        let seals = fcntl_get_seals(file).map_err(|_| Refused::NotMemory)?;
        if !seals.contains(SEALS) {
            return Err(Refused::NotSealed);
        }
        // The seals keep the size from changing.
        let size = fstat(file).map_err(io::Error::from)?.st_size;
        if len == 0 || usize::try_from(size) != Ok(len) {
            return Err(Refused::WrongSize);
        }
        Ok(Self {
            mapping: Mapping::new(file, len, false)?,
            file: file.try_clone_to_owned()?,
        })
    }

    /// Returns the size of the mapped memory in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.mapping.len()
    }

    /// Returns whether the memory has no bytes; never so for mapped memory.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mapping.len() == 0
    }

    /// Returns the offset of the first untouched page from `offset` on; the memory's end if there
    /// is none. Pages before it stay: the seals prevent their removal. One system call.
    #[must_use]
    pub fn unwritten_from(&self, offset: usize) -> usize {
        let hole = seek(&self.file, SeekFrom::Hole(offset as u64));
        hole.ok()
            .and_then(|hole| usize::try_from(hole).ok())
            .map_or(self.len(), |hole| hole.min(self.len()))
    }

    /// Returns the offset of the first touched page from `offset` on, if there is one. One system
    /// call.
    #[must_use]
    pub fn written_from(&self, offset: usize) -> Option<usize> {
        let data = seek(&self.file, SeekFrom::Data(offset as u64)).ok()?;
        usize::try_from(data).ok().filter(|data| *data < self.len())
    }

    /// Loads the word at `index`, counted in words of four bytes; relaxed.
    ///
    /// # Panics
    /// When the memory has no such word: indices must be the caller's, never the peer's.
    #[inline]
    #[must_use]
    pub fn load(&self, index: usize) -> u32 {
        self.words()[index].load(Ordering::Relaxed)
    }

    /// Loads as [`PeerMemory::load`] does; what the peer wrote before it stored that value is
    /// visible afterwards.
    ///
    /// # Panics
    /// As [`PeerMemory::load`].
    #[inline]
    #[must_use]
    pub fn load_acquire(&self, index: usize) -> u32 {
        let value = self.load(index);
        // Only relaxed loads are defined on memory mapped for reading; the fence, after the load,
        // pairs with the peer's Release store of the value.
        fence(Ordering::Acquire);
        value
    }

    /// Sleeps until the peer wakes the waiters of the word at `index`, `timeout` has passed, or a
    /// signal came; returns at once if the word is not `expected`.
    ///
    /// # Panics
    /// As [`PeerMemory::load`].
    pub fn wait(&self, index: usize, expected: u32, timeout: Option<Duration>) {
        futex::wait_shared(&self.words()[index], expected, timeout);
    }

    /// Wakes the threads of any process that wait on the word at `index`.
    ///
    /// # Panics
    /// As [`PeerMemory::load`].
    pub fn wake(&self, index: usize) {
        futex::wake_shared(&self.words()[index]);
    }

    /// Returns the eight bytes at `offset`, in one load.
    ///
    /// # Errors
    /// [`OutOfRange`], also when `offset` is not a multiple of 8.
    #[inline]
    pub fn double_word(&self, offset: usize) -> Result<u64, OutOfRange> {
        let from = self.range(offset, size_of::<u64>())?;
        if !offset.is_multiple_of(size_of::<u64>()) {
            return Err(OutOfRange);
        }
        // SAFETY: within the mapping, and aligned, as the mapping begins with a page; memory that
        // is mapped for reading may be loaded from, relaxed, in words up to eight bytes.
        Ok(unsafe { load_u64(from) })
    }

    /// Copies bytes at `offset` to `to`, until that is full.
    ///
    /// # Errors
    /// [`OutOfRange`]; then nothing was copied.
    pub fn copy_to(&self, offset: usize, to: &mut [u8]) -> Result<(), OutOfRange> {
        let from = self.range(offset, to.len())?;
        // SAFETY: `range` checked what is read; `to` is as long and exclusively borrowed.
        unsafe { copy_out(from, to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    /// Appends `len` bytes at `offset` to `to`; allocates only if they don't fit.
    ///
    /// # Errors
    /// [`OutOfRange`]; then nothing was copied.
    pub fn append_to(&self, offset: usize, len: usize, to: &mut Vec<u8>) -> Result<(), OutOfRange> {
        let from = self.range(offset, len)?;
        to.reserve(len);
        // SAFETY: `range` checked what is read; the vector has room for `len` bytes behind its
        // length, all of which are initialised when the length takes them in.
        unsafe {
            copy_out(from, to.as_mut_ptr().add(to.len()), len);
            to.set_len(to.len() + len);
        }
        Ok(())
    }

    /// Returns the bytes themselves, without a copy, of a peer that is trusted by explicit choice.
    ///
    /// The peer must not change them while they are borrowed. That promise cannot be enforced, and
    /// the language relies on it: behaviour is undefined where it is broken. The code that makes
    /// the choice answers for it. Even so, no conclusion that must stay true may be drawn from the
    /// bytes: they are for types of which any bytes are a value.
    ///
    /// # Errors
    /// [`OutOfRange`].
    pub fn view(&self, offset: usize, len: usize, _: Trusted) -> Result<&[u8], OutOfRange> {
        let from = self.range(offset, len)?;
        // SAFETY: within the mapping, which the borrow of `self` keeps, and initialised, as the
        // kernel zeroed it. This process cannot write there; that the peer does not is what the
        // maker of the token has chosen to trust (above).
        Ok(unsafe { std::slice::from_raw_parts(from, len) })
    }

    fn words(&self) -> &[AtomicU32] {
        let count = self.mapping.len() / size_of::<AtomicU32>();
        // SAFETY: the mapping has that many words and begins aligned. The words are private to this
        // type, which only ever loads them, relaxed: the one access defined on memory mapped for
        // reading.
        unsafe { std::slice::from_raw_parts(self.mapping.base().cast::<AtomicU32>(), count) }
    }

    #[inline]
    fn range(&self, offset: usize, len: usize) -> Result<*mut u8, OutOfRange> {
        let end = offset.checked_add(len).ok_or(OutOfRange)?;
        if end > self.mapping.len() {
            return Err(OutOfRange);
        }
        // SAFETY: `offset` is at most the mapping's length.
        Ok(unsafe { self.mapping.base().add(offset) })
    }
}

fn check_memory_file(file: BorrowedFd<'_>) -> io::Result<bool> {
    let kind = fstatfs(file)?.f_type;
    Ok(u64::try_from(kind) == Ok(TMPFS_MAGIC))
}

/// Loads eight bytes by one relaxed load.
///
/// # Safety
/// `from` is aligned to eight bytes and valid for relaxed loads of as many.
#[inline]
unsafe fn load_u64(from: *mut u8) -> u64 {
    // SAFETY: the caller's.
    unsafe { AtomicU64::from_ptr(from.cast()) }.load(Ordering::Relaxed)
}

/// Copies with relaxed loads: the peer may write there at the same time.
///
/// # Safety
/// `from` is valid for relaxed loads of `len` bytes; `to` is valid for writes of `len` bytes and
/// not referenced elsewhere.
unsafe fn copy_out(mut from: *mut u8, mut to: *mut u8, len: usize) {
    const WORD: usize = size_of::<u64>();
    const LINE: usize = 4 * WORD;
    let mut left = len;
    while left > 0 && !from.addr().is_multiple_of(WORD) {
        // SAFETY: `left` bytes are left on both sides.
        unsafe { copy_octet(&mut from, &mut to) };
        left -= 1;
    }
    while left >= LINE {
        // SAFETY: `left` bytes are left on both sides, and `from` is aligned to a word. Four loads
        // before four stores let the processor overlap them.
        unsafe {
            let (a, b) = (load_u64(from), load_u64(from.add(WORD)));
            let (c, d) = (load_u64(from.add(2 * WORD)), load_u64(from.add(3 * WORD)));
            to.cast::<[u64; 4]>().write_unaligned([a, b, c, d]);
            (from, to) = (from.add(LINE), to.add(LINE));
        }
        left -= LINE;
    }
    while left >= WORD {
        // SAFETY: as above.
        unsafe {
            to.cast::<u64>().write_unaligned(load_u64(from));
            (from, to) = (from.add(WORD), to.add(WORD));
        }
        left -= WORD;
    }
    while left > 0 {
        // SAFETY: as above.
        unsafe { copy_octet(&mut from, &mut to) };
        left -= 1;
    }
}

/// Copies one byte by a relaxed load, and advances both pointers.
///
/// # Safety
/// `from` is valid for a relaxed load of one byte, and `to` for a write of one byte.
unsafe fn copy_octet(from: &mut *mut u8, to: &mut *mut u8) {
    // SAFETY: the caller's; a byte is always aligned.
    unsafe {
        to.write(AtomicU8::from_ptr(*from).load(Ordering::Relaxed));
        (*from, *to) = (from.add(1), to.add(1));
    }
}

#[cfg(test)]
mod tests {
    use super::super::create;
    use super::*;
    use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
    use std::os::fd::OwnedFd;
    use std::sync::Arc;

    fn memory_file(len: u64, seals: SealFlags) -> OwnedFd {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("punctual-test", flags).unwrap();
        ftruncate(&file, len).unwrap();
        fcntl_add_seals(&file, seals).unwrap();
        file
    }

    #[test]
    fn what_one_side_writes_the_other_reads_wherever_it_begins() {
        let (file, mut region) = create("punctual-test", 4096).unwrap();
        for (octet, value) in region.as_mut_slice().iter_mut().zip((0..=250).cycle()) {
            *octet = value;
        }
        let peer = PeerMemory::map(&file, 4096).unwrap();
        for (offset, len) in [
            (0, 0),
            (0, 4096),
            (1, 64),
            (3, 7),
            (7, 1),
            (5, 100),
            (8, 39),
        ] {
            let expected = &region.as_slice()[offset..offset + len];
            let mut copy = vec![0; len];
            peer.copy_to(offset, &mut copy).unwrap();
            assert_eq!(copy, expected);
            let mut behind = vec![9];
            peer.append_to(offset, len, &mut behind).unwrap();
            assert_eq!((behind[0], &behind[1..]), (9, expected));
        }
        let first = u64::from_ne_bytes([8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(peer.double_word(8), Ok(first));
    }

    #[test]
    fn nothing_outside_of_the_memory_is_read() {
        let (file, _region) = create("punctual-test", 4096).unwrap();
        let peer = PeerMemory::map(&file, 4096).unwrap();
        let mut copy = [0; 8];
        assert_eq!(peer.copy_to(4089, &mut copy), Err(OutOfRange));
        assert_eq!(peer.copy_to(usize::MAX, &mut copy), Err(OutOfRange));
        assert_eq!(peer.append_to(0, 4097, &mut Vec::new()), Err(OutOfRange));
        assert_eq!(peer.double_word(4096), Err(OutOfRange));
        assert_eq!(peer.double_word(4), Err(OutOfRange));
    }

    #[test]
    fn pages_that_nobody_touched_are_found_without_touching_them() {
        const SIZE: usize = 1 << 20;
        let (file, mut region) = create("punctual-test", SIZE).unwrap();
        let peer = PeerMemory::map(&file, SIZE).unwrap();
        assert_eq!((peer.unwritten_from(0), peer.written_from(0)), (0, None));
        region.as_mut_slice()[0] = 1;
        let page = peer.unwritten_from(0);
        let taken = || fstat(&file).unwrap().st_blocks * 512 / i64::try_from(page).unwrap();
        region.as_mut_slice()[3 * page + 7] = 1;
        region.as_mut_slice()[4 * page] = 1;
        assert_eq!(peer.written_from(page), Some(3 * page));
        assert_eq!(peer.unwritten_from(3 * page + 9), 5 * page);
        assert_eq!(peer.written_from(5 * page), None);
        assert_eq!(taken(), 3);
        // Reading is what allocates the pages.
        peer.copy_to(8 * page, &mut [0; 1]).unwrap();
        assert_eq!(taken(), 4);
        region.as_mut_slice().fill(1);
        assert_eq!(peer.unwritten_from(0), SIZE);
    }

    #[test]
    fn a_page_that_was_written_is_not_taken_out_any_more() {
        use rustix::fs::{FallocateFlags, fallocate};
        let (file, mut region) = create("punctual-test", 8192).unwrap();
        region.as_mut_slice().fill(1);
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        assert!(fallocate(&file, punch, 0, 8192).is_err());
        assert!(ftruncate(&file, 0).is_err());
        let peer = PeerMemory::map(&file, 8192).unwrap();
        assert_eq!(peer.unwritten_from(0), 8192);
    }

    #[test]
    fn memory_that_lacks_any_seal_is_refused() {
        for seal in SEALS.iter() {
            let file = memory_file(4096, SEALS.difference(seal));
            let refused = PeerMemory::map(&file, 4096).unwrap_err();
            assert!(matches!(refused, Refused::NotSealed), "without {seal:?}");
        }
        assert!(PeerMemory::map(memory_file(4096, SEALS), 4096).is_ok());
    }

    #[test]
    fn memory_of_another_size_than_announced_is_refused() {
        for size in [0, 4096, 8191, 16384] {
            let refused = PeerMemory::map(memory_file(size, SEALS), 8192).unwrap_err();
            assert!(matches!(refused, Refused::WrongSize), "{size} octets");
        }
        assert!(PeerMemory::map(memory_file(0, SEALS), 0).is_err());
    }

    #[test]
    fn what_is_no_memory_file_is_refused() {
        let (reader, _writer) = std::io::pipe().unwrap();
        let zero = std::fs::File::open("/dev/zero").unwrap();
        let program = std::fs::File::open("/proc/self/exe").unwrap();
        for file in [reader.as_fd(), zero.as_fd(), program.as_fd()] {
            let refused = PeerMemory::map(file, 4096).unwrap_err();
            assert!(matches!(refused, Refused::NotMemory), "{refused}");
        }
    }

    #[test]
    fn memory_of_huge_pages_is_refused() {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB;
        let Ok(file) = memfd_create("punctual-test", flags) else {
            eprintln!("skipped: this kernel makes no memory files of huge pages");
            return;
        };
        if ftruncate(&file, 1 << 21).is_err() || fcntl_add_seals(&file, SEALS).is_err() {
            eprintln!("skipped: this kernel seals no memory of huge pages");
            return;
        }
        let refused = PeerMemory::map(&file, 1 << 21).unwrap_err();
        assert!(matches!(refused, Refused::NotMemory), "{refused}");
    }

    #[test]
    fn a_reader_sleeps_on_a_word_that_it_cannot_write() {
        let (file, region) = create("punctual-test", 4096).unwrap();
        let words = region.into_words();
        let peer = Arc::new(PeerMemory::map(&file, 4096).unwrap());
        let sleeping = peer.clone();
        let sleeper = std::thread::spawn(move || {
            while sleeping.load_acquire(3) == 0 {
                sleeping.wait(3, 0, None);
            }
        });
        words[3].store(1, Ordering::Release);
        futex::wake_shared(&words[3]);
        sleeper.join().unwrap();
        peer.wait(3, 1, Some(Duration::from_millis(1)));
        peer.wait(3, 0, None);
    }
}
