//! By what ways a thread's last calls have gone: its memory of them, so that a call which goes as one before it
//! finds everything decided.
//!
//! The last way is held whole. Those before it stand in a small table by their references, so that a thread which
//! calls through some of them in turn, or makes calls of both kinds, finds each again. Of these only the way is
//! kept, not its connection: a thread keeps one connection from being let go, until it calls by another.

use super::path::Path;
use super::remote::Callee;
use crate::lane::ClientConnection;
use punctual_cdr::Block;
use std::cell::Cell;
use std::sync::Arc;

/// Ways that are remembered beside the last one; a power of 2.
const MOST: usize = 64;

/// Which way: a reference's, as it is now, for calls of one kind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    reference: (u64, u64),
    two_way: bool,
}

impl Key {
    #[inline]
    pub(super) fn new(reference: (u64, u64), two_way: bool) -> Self {
        Self { reference, two_way }
    }

    /// Where it stands in the table. References that were made one after the other stand beside one another.
    fn place(self) -> usize {
        let number = self.reference.0.wrapping_mul(2) + u64::from(self.two_way);
        (number % MOST as u64) as usize
    }
}

/// A way that may be gone again.
pub(super) struct Way {
    key: Key,
    pub(super) path: Arc<Path>,
    pub(super) connection: Arc<ClientConnection>,
}

/// The calling thread's memory, taken from it for the time of a call. Dropped, it is forgotten.
pub(super) struct Recent(Box<Memory>);

struct Memory {
    last: Way,
    /// For a call's request and reply.
    block: Block,
    /// Those before the last; empty until there is a second.
    others: Vec<Option<(Key, Arc<Path>)>>,
}

thread_local! {
    // A call within the marshaling of another finds none, as does a thread that is ending.
    static RECENT: Cell<Option<Box<Memory>>> = const { Cell::new(None) };
}

impl Recent {
    /// The way of this key, if it holds for the calling thread and its connection is still there.
    #[inline]
    pub(super) fn take(key: Key, callee: &Callee<'_>) -> Option<Self> {
        let memory = RECENT.try_with(Cell::take).ok().flatten();
        match memory {
            Some(memory) if memory.last.is(key, callee) => Some(Self(memory)),
            memory => Self::find(memory, key, callee),
        }
    }

    /// The same where it is not the last one. Allocates only where the thread has no memory yet.
    #[inline(never)]
    fn find(memory: Option<Box<Memory>>, key: Key, callee: &Callee<'_>) -> Option<Self> {
        let way = |path: Arc<Path>| {
            let connection = path.connection()?;
            path.is_quick(key.two_way).then_some(Way {
                key,
                path,
                connection,
            })
        };
        let known = memory.as_ref().and_then(|memory| memory.known(key, callee));
        // A way whose connection is gone may have another in its place.
        let way = known
            .and_then(way)
            .or_else(|| callee.path(key.two_way).and_then(way));
        let Some(way) = way else {
            if let Some(memory) = memory {
                Self(memory).keep();
            }
            return None;
        };
        Some(Self(match memory {
            Some(mut memory) => {
                memory.change_to(way);
                memory
            }
            None => Box::new(Memory {
                last: way,
                block: Block::default(),
                others: Vec::new(),
            }),
        }))
    }

    /// The way that the call goes, and memory for its messages.
    #[inline]
    pub(super) fn parts(&mut self) -> (&Way, &mut Block) {
        (&self.0.last, &mut self.0.block)
    }

    /// Gives it back to the thread.
    #[inline]
    pub(super) fn keep(self) {
        let _ = RECENT.try_with(|place| place.set(Some(self.0)));
    }
}

impl Way {
    /// Whether it is the one of this key, and holds for the calling thread.
    #[inline]
    fn is(&self, key: Key, callee: &Callee<'_>) -> bool {
        self.key == key && self.path.effective.holds(&callee.lane.broker().policies)
    }
}

impl Memory {
    /// The way of this key, if it is known here and holds.
    fn known(&self, key: Key, callee: &Callee<'_>) -> Option<Arc<Path>> {
        let (known, path) = self.others.get(key.place())?.as_ref()?;
        let holds = *known == key && path.effective.holds(&callee.lane.broker().policies);
        holds.then(|| path.clone())
    }

    /// Another way is the last one from now on.
    fn change_to(&mut self, way: Way) {
        let before = std::mem::replace(&mut self.last, way);
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
