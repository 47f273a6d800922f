//! Records of each thread.

use super::names::{Known, Names};
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
    operations: Names,
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
    /// Scoped names in IDL of the operations that the thread has served (`Module::Interface::operation`), by
    /// [`Record::operation`].
    pub operations: Vec<String>,
    /// Number of later records for which there was no room.
    pub lost: u64,
    /// Number of upcalls of operations for whose names there was no room.
    pub unnamed: u64,
}

impl ThreadRecords {
    /// Returns the name of the operation of a record of this thread, if it has one.
    #[must_use]
    pub fn operation(&self, record: &Record) -> Option<&str> {
        let name = self.operations.get(usize::from(record.operation?));
        name.map(String::as_str)
    }
}

/// What the calling thread has of a timeline.
struct Own {
    records: Arc<OfThread>,
    known: Known,
}

thread_local! {
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
    static IN_UPCALL: Cell<Option<RequestId>> = const { Cell::new(None) };
    /// Operation that has been served for the request whose upcall the thread is in, and the timeline of its number.
    static SERVED: Cell<Option<(u64, u16)>> = const { Cell::new(None) };
}

/// Returns the request whose upcall the calling thread is in.
pub(super) fn in_upcall() -> Option<RequestId> {
    IN_UPCALL.get()
}

/// Sets the request whose upcall the calling thread is in. Returns the previous one.
pub(super) fn set_in_upcall(request: Option<RequestId>) -> Option<RequestId> {
    SERVED.set(None);
    IN_UPCALL.replace(request)
}

/// Sets the operation that has been served for the request whose upcall the calling thread is in.
pub(super) fn set_served(session: u64, interface: &'static str, operation: &str) {
    let number = OWN.try_with(|own| {
        let mut own = own.try_borrow_mut().ok()?;
        let own = own.as_mut().filter(|own| own.records.session == session)?;
        let names = &own.records.operations;
        own.known.number(interface, operation, names)
    });
    SERVED.set(number.ok().flatten().map(|number| (session, number)));
}

/// Returns the number of the operation that has been served for the request, in this timeline.
pub(super) fn take_served(session: u64) -> Option<u16> {
    let (of, number) = SERVED.take()?;
    (of == session).then_some(number)
}

/// Adds a record to those of the calling thread for this timeline; `join` allocates their memory if
/// there is none yet.
pub(super) fn push(record: Record, session: u64, join: impl FnOnce() -> Option<Arc<OfThread>>) {
    // A thread that is ending records nothing.
    let _ = OWN.try_with(|own| {
        let mut own = own.borrow_mut();
        if own
            .as_ref()
            .is_none_or(|own| own.records.session != session)
        {
            *own = join().map(|records| Own {
                records,
                known: Known::default(),
            });
        }
        if let Some(own) = &*own {
            own.records.push(record);
        }
    });
}

impl OfThread {
    /// Makes the records of the calling thread, with memory for them.
    pub(super) fn new(session: u64, words: Memory, operations: usize) -> Arc<Self> {
        let thread = std::thread::current();
        Arc::new(Self {
            session,
            name: thread.name().unwrap_or("unnamed").to_owned(),
            operations: Names::new(operations),
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
            operations: self.operations.all(),
            lost: self.lost.load(Ordering::Relaxed),
            unnamed: self.operations.unnamed(),
        }
    }
}
