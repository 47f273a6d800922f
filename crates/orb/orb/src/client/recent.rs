//! Per-thread cache of recent call paths, so that a call like an earlier one need not choose its
//! endpoint again.
//!
//! The last path is kept with its connection. Earlier paths are in a small table, indexed by their
//! references, for threads that call through several references in turn or make both two-way calls
//! and one-ways. The table does not keep connections open: a thread holds only the one of its last
//! call.

use super::path::Path;
use super::remote::Callee;
use crate::lane::{ClientConnection, at_thread_end};
use punctual_cdr::Block;
use std::cell::Cell;
use std::sync::Arc;

/// Number of paths in the table, beside the last one; a power of 2.
const MOST: usize = 64;

/// Key of a path: a reference with the version of its paths, the lane, and the kind of call
/// (two-way or one-way).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    reference: (u64, u64),
    /// The number of the lane that makes the calls, shifted left by one bit; the lowest bit is set
    /// for two-way calls.
    calls: u64,
}

impl Key {
    #[inline]
    pub(super) fn new(callee: &Callee<'_>, two_way: bool) -> Self {
        Self {
            reference: callee.object.version(),
            calls: callee.lane.number() << 1 | u64::from(two_way),
        }
    }

    fn is_two_way(self) -> bool {
        self.calls & 1 == 1
    }

    /// Returns the key's index in the table. References that were created in succession have
    /// neighbouring indices.
    fn place(self) -> usize {
        let number = self.reference.0.wrapping_mul(2).wrapping_add(self.calls);
        (number % MOST as u64) as usize
    }
}

/// Cached path and connection of an earlier call.
pub(super) struct RecentPath {
    key: Key,
    pub(super) path: Arc<Path>,
    pub(super) connection: Arc<ClientConnection>,
}

/// The calling thread's cache, owned by a call while it lasts. Dropping it without [`Recent::keep`]
/// clears the cache.
pub(super) struct Recent(Box<Memory>);

struct Memory {
    last: RecentPath,
    /// Buffer for the request and the reply of a call.
    block: Block,
    /// Table of earlier paths; empty until the thread has used a second path.
    others: Vec<Option<(Key, Arc<Path>)>>,
}

thread_local! {
    // Empty for a call made while another is being marshaled, and in a thread that is ending.
    static RECENT: OfThread = const { OfThread(Cell::new(None)) };
}

struct OfThread(Cell<Option<Box<Memory>>>);

impl Drop for OfThread {
    fn drop(&mut self) {
        at_thread_end(self.0.take());
    }
}

impl Recent {
    /// Returns the cache with the path of this key as its last one, if that path is valid for the
    /// calling thread and its connection is still open.
    // Inlined in both fast paths, as it is a good part of their cost.
    #[inline(always)]
    pub(super) fn take(key: Key, callee: &Callee<'_>) -> Option<Self> {
        let memory = RECENT.try_with(|place| place.0.take()).ok().flatten();
        match memory {
            Some(memory) if memory.last.is(key, callee) => Some(Self(memory)),
            memory => Self::find(memory, key, callee),
        }
    }

    /// Returns the cache whatever its last path is, for the use of its buffer; `None` if the thread has
    /// none.
    #[inline(never)]
    pub(super) fn any() -> Option<Self> {
        let memory = RECENT.try_with(|place| place.0.take()).ok().flatten();
        memory.map(Self)
    }

    /// Looks up a path that is not the thread's last one. Allocates only if the thread has no cache
    /// yet.
    #[inline(never)]
    fn find(memory: Option<Box<Memory>>, key: Key, callee: &Callee<'_>) -> Option<Self> {
        let with_connection = |path: Arc<Path>| {
            let connection = path.connection_of_thread(key.is_two_way())?;
            path.takes_fast_path(key.is_two_way())
                .then_some(RecentPath {
                    key,
                    path,
                    connection,
                })
        };
        let known = memory.as_ref().and_then(|memory| memory.known(key, callee));
        // A path whose connection is closed may have been replaced.
        let recent = known
            .and_then(with_connection)
            .or_else(|| callee.path(key.is_two_way()).and_then(with_connection));
        let Some(recent) = recent else {
            if let Some(memory) = memory {
                Self(memory).keep();
            }
            return None;
        };
        Some(Self(match memory {
            Some(mut memory) => {
                memory.change_to(recent);
                memory
            }
            None => Box::new(Memory {
                last: recent,
                block: Block::default(),
                others: Vec::new(),
            }),
        }))
    }

    /// Returns the path and connection of the last call.
    #[inline]
    pub(super) fn last(&self) -> &RecentPath {
        &self.0.last
    }

    /// Returns the path of the call, and the buffer for its messages.
    #[inline]
    pub(super) fn parts(&mut self) -> (&RecentPath, &mut Block) {
        (&self.0.last, &mut self.0.block)
    }

    /// Replaces the connection that the calling thread uses from now on.
    pub(super) fn go_by(&mut self, connection: Arc<ClientConnection>) {
        self.0.last.connection = connection;
    }

    /// Puts the cache back as [`Recent::keep`] does, with an emptied buffer.
    // It does not call `keep`, so that this still is inlined where calls have no interceptors.
    #[inline(never)]
    pub(super) fn keep_emptied(mut self) {
        self.0.block.reuse();
        let _ = RECENT.try_with(|place| place.0.set(Some(self.0)));
    }

    /// Puts the cache of recent paths back for the thread's next call; the current call has taken
    /// it out.
    #[inline(always)]
    pub(super) fn keep(self) {
        let _ = RECENT.try_with(|place| place.0.set(Some(self.0)));
    }
}

impl RecentPath {
    /// Returns whether the cached path has this key and is valid for the calling thread.
    #[inline]
    fn is(&self, key: Key, callee: &Callee<'_>) -> bool {
        self.key == key && self.path.effective.holds(&callee.lane.broker().policies)
    }
}

impl Memory {
    /// Returns the path of this key from the table, if it is there and still valid.
    fn known(&self, key: Key, callee: &Callee<'_>) -> Option<Arc<Path>> {
        let (known, path) = self.others.get(key.place())?.as_ref()?;
        let holds = *known == key && path.effective.holds(&callee.lane.broker().policies);
        holds.then(|| path.clone())
    }

    /// Makes another path the last one; the previous one moves to the table.
    fn change_to(&mut self, recent: RecentPath) {
        let before = std::mem::replace(&mut self.last, recent);
        if before.key == self.last.key {
            return;
        }
        if self.others.is_empty() {
            self.others.resize(MOST, None);
        }
        if let Some(place) = self.others.get_mut(before.key.place()) {
            *place = Some((before.key, before.path));
        }
    }
}
