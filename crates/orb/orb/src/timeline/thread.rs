//! Records of each thread.

use super::record::{Record, RequestId, WORDS};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Memory for the timeline records of one thread.
pub(super) type Memory = Box<[AtomicU64]>;

/// Allocates memory for this many records, and populates it.
pub(super) fn memory(records: usize) -> Memory {
    // Each word is written, so that no later access faults.
    (0..records * WORDS).map(|_| AtomicU64::new(0)).collect()
}

/// Timeline records of one thread; only that thread writes them.
#[derive(Debug)]
pub(super) struct OfThread {
    /// Number of the timeline to which the records belong.
    session: u64,
    name: String,
    words: Memory,
    /// Number of 64-bit words of the memory that have been written.
    used: AtomicUsize,
    lost: AtomicU64,
}

/// Timeline records of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadRecords {
    /// The thread's name.
    pub name: String,
    /// Records of the thread, in order of time.
    pub records: Vec<Record>,
    /// Number of later records for which there was no room.
    pub lost: u64,
}

thread_local! {
    static OWN: RefCell<Option<Arc<OfThread>>> = const { RefCell::new(None) };
    static IN_UPCALL: Cell<Option<RequestId>> = const { Cell::new(None) };
}

/// Returns the request whose upcall the calling thread is in.
pub(super) fn in_upcall() -> Option<RequestId> {
    IN_UPCALL.get()
}

/// Sets the request whose upcall the calling thread is in. Returns the previous one.
pub(super) fn set_in_upcall(request: Option<RequestId>) -> Option<RequestId> {
    IN_UPCALL.replace(request)
}

/// Adds a record to those of the calling thread for this timeline; `join` allocates their memory if
/// there is none yet.
pub(super) fn push(record: Record, session: u64, join: impl FnOnce() -> Option<Arc<OfThread>>) {
    // A thread that is ending records nothing.
    let _ = OWN.try_with(|own| {
        let mut own = own.borrow_mut();
        if own.as_ref().is_none_or(|own| own.session != session) {
            *own = join();
        }
        if let Some(own) = &*own {
            own.push(record);
        }
    });
}

impl OfThread {
    /// Makes the records of the calling thread, with memory for them.
    pub(super) fn new(session: u64, words: Memory) -> Arc<Self> {
        let thread = std::thread::current();
        Arc::new(Self {
            session,
            name: thread.name().unwrap_or("unnamed").to_owned(),
            words,
            used: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
        })
    }

    #[cfg(test)]
    pub(super) fn memory(&self) -> &[AtomicU64] {
        &self.words
    }

    fn push(&self, record: Record) {
        // Relaxed: only this thread writes them. Release: a reader that sees the number sees the
        // words before it.
        let used = self.used.load(Ordering::Relaxed);
        let Some(place) = self.words.get(used..used + WORDS) else {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        };
        for (place, word) in place.iter().zip(record.to_words()) {
            place.store(word, Ordering::Relaxed);
        }
        self.used.store(used + WORDS, Ordering::Release);
    }

    pub(super) fn records(&self) -> ThreadRecords {
        let used = self.used.load(Ordering::Acquire);
        let words = self.words.get(..used).unwrap_or_default();
        let (records, _) = words.as_chunks::<WORDS>();
        let read = |words: &[AtomicU64; WORDS]| {
            Record::of_words(words.each_ref().map(|word| word.load(Ordering::Relaxed)))
        };
        ThreadRecords {
            name: self.name.clone(),
            records: records.iter().filter_map(read).collect(),
            lost: self.lost.load(Ordering::Relaxed),
        }
    }
}
