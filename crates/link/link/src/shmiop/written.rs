//! Pages of the peer's pool that it has written itself.
//!
//! The kernel allocates an untouched page for its first reader, and charges it to the control group
//! of that process, until the peer closes its memory file. A peer that lends such pages, and
//! connects again and again, could thus use up this process's memory. So copies out of the pool are
//! made only of pages that the peer has written, and are zeroes for the others, which is their
//! content. A written page stays: the seals prevent its removal.

use super::layout::PAGE;
use punctual_sys::memory::PeerMemory;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

const PAGE_SIZE: usize = PAGE as usize;

/// Pages that are known to be written, one bit each.
///
/// Relaxed: a bit records the kernel's answer, and publishes nothing else.
pub(super) struct Written(Box<[AtomicU64]>);

impl Written {
    /// Makes the record of a memory of `len` bytes, of which nothing is known yet.
    pub(super) fn new(len: usize) -> Self {
        let words = len.div_ceil(PAGE_SIZE).div_ceil(64);
        Self((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    /// Returns whether the peer has written all pages of a stretch, which must not be empty. A
    /// system call, unless that is known.
    pub(super) fn has_all(&self, memory: &PeerMemory, stretch: &Range<usize>) -> bool {
        let mut pages = stretch.start / PAGE_SIZE..stretch.end.div_ceil(PAGE_SIZE);
        if pages.all(|page| self.has(page)) {
            return true;
        }
        let end = memory.unwritten_from(stretch.start);
        for page in stretch.start / PAGE_SIZE..end / PAGE_SIZE {
            if let Some(word) = self.0.get(page / 64) {
                word.fetch_or(1 << (page % 64), Ordering::Relaxed);
            }
        }
        end >= stretch.end
    }

    fn has(&self, page: usize) -> bool {
        let word = self.0.get(page / 64);
        word.is_some_and(|word| word.load(Ordering::Relaxed) >> (page % 64) & 1 == 1)
    }
}

/// Copies the written pages of a stretch to `to`, which holds zeroes and is as long. System calls.
#[cold]
pub(super) fn copy_written(memory: &PeerMemory, stretch: &Range<usize>, to: &mut [u8]) {
    let mut at = stretch.start;
    while let Some(begin) = memory.written_from(at).filter(|begin| *begin < stretch.end) {
        let end = memory.unwritten_from(begin).min(stretch.end);
        let part = to.get_mut(begin - stretch.start..end - stretch.start);
        let Some(part) = part.filter(|part| !part.is_empty()) else {
            return;
        };
        // The stretch lies in the memory.
        let _ = memory.copy_to(begin, part);
        at = end;
    }
}
