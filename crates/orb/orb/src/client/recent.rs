//! By which paths a thread's last calls have gone: its memory of them, so that a call which goes as one before it
//! finds everything decided.
//!
//! The last path is held whole. Those before it stand in a small table by their references, so that a thread which
//! calls through some of them in turn, or makes calls of both kinds, finds each again. Of these only the path is
//! kept, not its connection: a thread keeps one connection from being let go, until it calls by another.

use super::path::Path;
use super::remote::Callee;
use crate::lane::{ClientConnection, at_thread_end};
use punctual_cdr::Block;
use std::cell::Cell;
use std::sync::Arc;

/// Paths that are remembered beside the last one; a power of 2.
const MOST: usize = 64;

/// Which path: a reference's, as it is now, for one lane's calls of one kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    reference: (u64, u64),
    /// The lane's number, and behind it a bit for the kind.
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

    /// Where it stands in the table. References that were made one after the other stand beside one another.
    fn place(self) -> usize {
        let number = self.reference.0.wrapping_mul(2).wrapping_add(self.calls);
        (number % MOST as u64) as usize
    }
}

/// A path that may be gone again.
pub(super) struct RecentPath {
    key: Key,
    pub(super) path: Arc<Path>,
    pub(super) connection: Arc<ClientConnection>,
}

/// The calling thread's memory, taken from it for the time of a call. Dropped, it is forgotten.
pub(super) struct Recent(Box<Memory>);

struct Memory {
    last: RecentPath,
    /// For a call's request and reply.
    block: Block,
    /// Those before the last; empty until there is a second.
    others: Vec<Option<(Key, Arc<Path>)>>,
}

thread_local! {
    // A call within the marshaling of another finds none, as does a thread that is ending.
    static RECENT: OfThread = const { OfThread(Cell::new(None)) };
}

struct OfThread(Cell<Option<Box<Memory>>>);

impl Drop for OfThread {
    fn drop(&mut self) {
        at_thread_end(self.0.take());
    }
}

impl Recent {
    /// The path of this key, if it holds for the calling thread and its connection is still there.
    #[inline]
    pub(super) fn take(key: Key, callee: &Callee<'_>) -> Option<Self> {
        let memory = RECENT.try_with(|place| place.0.take()).ok().flatten();
        match memory {
            Some(memory) if memory.last.is(key, callee) => Some(Self(memory)),
            memory => Self::find(memory, key, callee),
        }
    }

    /// The same where it is not the last one. Allocates only where the thread has no memory yet.
    #[inline(never)]
    fn find(memory: Option<Box<Memory>>, key: Key, callee: &Callee<'_>) -> Option<Self> {
        let with_connection = |path: Arc<Path>| {
            let connection = path.connection_of_thread(key.is_two_way())?;
            path.goes_short(key.is_two_way()).then_some(RecentPath {
                key,
                path,
                connection,
            })
        };
        let known = memory.as_ref().and_then(|memory| memory.known(key, callee));
        // A path whose connection is gone may have another in its place.
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

    /// The path that the call goes.
    #[inline]
    pub(super) fn last(&self) -> &RecentPath {
        &self.0.last
    }

    /// The path that the call goes, and memory for its messages.
    #[inline]
    pub(super) fn parts(&mut self) -> (&RecentPath, &mut Block) {
        (&self.0.last, &mut self.0.block)
    }

    /// The calling thread goes by this connection from now on.
    pub(super) fn go_by(&mut self, connection: Arc<ClientConnection>) {
        self.0.last.connection = connection;
    }

    /// Gives it back to the thread.
    #[inline]
    pub(super) fn keep(self) {
        let _ = RECENT.try_with(|place| place.0.set(Some(self.0)));
    }
}

impl RecentPath {
    /// Whether it is the one of this key, and holds for the calling thread.
    #[inline]
    fn is(&self, key: Key, callee: &Callee<'_>) -> bool {
        self.key == key && self.path.effective.holds(&callee.lane.broker().policies)
    }
}

impl Memory {
    /// The path of this key, if it is known here and holds.
    fn known(&self, key: Key, callee: &Callee<'_>) -> Option<Arc<Path>> {
        let (known, path) = self.others.get(key.place())?.as_ref()?;
        let holds = *known == key && path.effective.holds(&callee.lane.broker().policies);
        holds.then(|| path.clone())
    }

    /// Another path is the last one from now on.
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
