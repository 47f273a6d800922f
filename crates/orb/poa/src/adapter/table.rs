//! Table of all adapters of an ORB by their names in keys.
//!
//! A table is immutable: it is replaced when an adapter is made or destroyed. Each thread keeps the
//! table that it used last, and so finds an adapter, at any depth of the tree, without a lock and
//! without an atomic exchange: it compares two numbers.

use super::types::Adapter;
use crate::key::AdapterName;
use arc_swap::ArcSwap;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of adapters in a chunk: one that changes is copied with its chunk, not with the whole
/// table.
const CHUNK: usize = 64;

type Chunk = [Option<Arc<Adapter>>; CHUNK];

/// Immutable table of an ORB's adapters, indexed by their internal names.
pub(super) struct Table {
    /// Version, which is unique among the tables of all ORBs.
    version: u64,
    chunks: Vec<Arc<Chunk>>,
}

/// Newest table, and the state for making its successor.
pub(super) struct Tables {
    /// Version number of the newest adapter table.
    version: AtomicU64,
    now: ArcSwap<Table>,
    names: Mutex<Names>,
}

/// Adapter names that are not in use.
#[derive(Default)]
struct Names {
    next_serial: u32,
    next_index: u32,
    free: Vec<u32>,
}

static VERSIONS: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// Adapter table that the calling thread used last.
    static LAST: RefCell<Option<Arc<Table>>> = const { RefCell::new(None) };
}

impl Tables {
    pub(super) fn new() -> Self {
        let table = Table::new(Vec::new());
        Self {
            version: AtomicU64::new(table.version),
            now: ArcSwap::from_pointee(table),
            names: Mutex::default(),
        }
    }

    /// Runs `act` with the adapter that has this name, if the thread's cached table is the newest
    /// one and has it. The cached table stays borrowed while `act` runs.
    #[inline(always)]
    pub(super) fn with_known<R>(
        &self,
        name: AdapterName,
        act: impl FnOnce(&Arc<Adapter>) -> R,
    ) -> Option<R> {
        let done = LAST.try_with(|last| {
            let last = last.try_borrow().ok()?;
            // Acquire pairs with the Release in `publish`.
            let version = self.version.load(Ordering::Acquire);
            let table = last.as_ref().filter(|table| table.version == version)?;
            table.find(name).map(act)
        });
        // A thread that ends has no table.
        done.ok().flatten()
    }

    /// Returns the adapter with this name, if there is one. The thread caches the newest table,
    /// unless its cached one is borrowed.
    pub(super) fn find(&self, name: AdapterName) -> Option<Arc<Adapter>> {
        let known = self.with_known(name, Arc::clone);
        known.or_else(|| self.newest().find(name).cloned())
    }

    #[cold]
    fn newest(&self) -> Arc<Table> {
        let newest = self.now.load_full();
        let kept = newest.clone();
        // The old table is dropped outside of the borrow: adapters may be dropped with it.
        let _before = LAST.try_with(|last| {
            let mut last = last.try_borrow_mut().ok()?;
            last.replace(kept)
        });
        newest
    }

    /// Makes an adapter that gets an unused name, and adds it; returns `None` if 2^32 adapters
    /// exist.
    pub(super) fn add(
        &self,
        make: impl FnOnce(AdapterName) -> Arc<Adapter>,
    ) -> Option<Arc<Adapter>> {
        let mut names = self.names.lock();
        let index = match names.free.pop() {
            Some(index) => index,
            None => {
                let index = names.next_index;
                names.next_index = index.checked_add(1)?;
                index
            }
        };
        let serial = names.next_serial;
        // The same index meets the same serial again after 2^32 adapters were made and destroyed.
        names.next_serial = serial.wrapping_add(1);
        let adapter = make(AdapterName { index, serial });
        self.publish(index, Some(adapter.clone()));
        Some(adapter)
    }

    /// Removes the adapter with this name, which can then be assigned again.
    pub(super) fn remove(&self, name: AdapterName) {
        let mut names = self.names.lock();
        let table = self.now.load();
        if table.find(name).is_some() {
            self.publish(name.index, None);
            names.free.push(name.index);
        }
    }

    /// Publishes a new table. The caller holds the lock of the names.
    fn publish(&self, index: u32, adapter: Option<Arc<Adapter>>) {
        let before = self.now.load();
        let table = before.with(index as usize, adapter);
        let version = table.version;
        self.now.store(Arc::new(table));
        self.version.store(version, Ordering::Release);
    }
}

impl Table {
    fn new(chunks: Vec<Arc<Chunk>>) -> Self {
        // Relaxed: the number orders nothing else.
        let version = VERSIONS.fetch_add(1, Ordering::Relaxed);
        Self { version, chunks }
    }

    #[inline]
    fn find(&self, name: AdapterName) -> Option<&Arc<Adapter>> {
        let index = name.index as usize;
        let chunk = self.chunks.get(index / CHUNK)?;
        let adapter = chunk.get(index % CHUNK)?.as_ref()?;
        (adapter.id().name.serial == name.serial).then_some(adapter)
    }

    fn with(&self, index: usize, adapter: Option<Arc<Adapter>>) -> Self {
        let mut chunks = self.chunks.clone();
        while chunks.len() <= index / CHUNK {
            chunks.push(Arc::new([const { None }; CHUNK]));
        }
        if let Some(chunk) = chunks.get_mut(index / CHUNK) {
            let mut copy = Chunk::clone(chunk);
            if let Some(place) = copy.get_mut(index % CHUNK) {
                *place = adapter;
            }
            *chunk = Arc::new(copy);
        }
        Self::new(chunks)
    }
}
