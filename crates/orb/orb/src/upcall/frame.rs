//! The frames of a thread's stack of upcalls, and the stack itself: what is put there and taken from it.
//!
//! A frame is a connection that the thread serves, with or without an upcall at this moment, or an upcall within
//! the process. The innermost stands in place; those around it, sources and arrivals stand beside it.

use super::peer::RequestPeer;
use crate::messaging::FrameArrival;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

/// A connection, as the upcalls of its requests see it.
pub(crate) trait RequestSource: Send + Sync {
    /// Has another thread receive there, as this one is about to block. `in_hand` is what a reactor's thread
    /// has in hand.
    fn hand_over(self: Arc<Self>, in_hand: u64);

    /// Whether more requests have been received, which wait for the upcall.
    fn has_received_more(&self) -> bool;

    /// How long the thread may block at most, where others of the ORB may need it.
    fn longest_block(&self) -> Option<Duration>;

    /// Whether the thread is the only one that serves requests there.
    fn is_served_alone(&self) -> bool;

    /// Who is at the other end.
    fn peer(&self) -> RequestPeer;
}

/// What an object adapter notes of the object that an upcall is on: numbers that mean something to it alone.
/// The first is 0 where it has noted nothing.
pub type AdapterNote = [u64; 4];

/// A frame's numbers, each in a cell of its own: what changes with each upcall is written without a look at the
/// rest.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// The ORB's number.
    pub(super) orb: Cell<u64>,
    /// What holds of it, by its bits.
    pub(super) flags: Cell<u8>,
    /// What a reactor's thread has in hand at the source.
    pub(super) in_hand: Cell<u64>,
    note: [Cell<u64>; 4],
}

/// Whether the thread is in the frame's upcall.
pub(super) const IN_UPCALL: u8 = 1;
/// Whether another thread receives at the source meanwhile.
pub(super) const HANDED_OVER: u8 = 2;
/// Whether it has a source: the last of [`Held::sources`], as the innermost frame that serves a connection has it,
/// and all within that one.
pub(super) const HAS_SOURCE: u8 = 4;
/// Whether it is known how the request has arrived: the last of [`Held::arrivals`].
pub(super) const HAS_ARRIVAL: u8 = 8;

/// The innermost frame, in place: nothing here is to be dropped, so that a thread finds it without a look at
/// whether it is there.
pub(super) struct Innermost {
    /// How many frames there are.
    depth: Cell<usize>,
    /// With no flags where there is none.
    pub(super) frame: Frame,
}

/// What frames have that numbers cannot say.
#[derive(Default)]
pub(super) struct Held {
    /// Where the requests came from; none for upcalls within the process.
    pub(super) sources: Vec<Arc<dyn RequestSource>>,
    pub(super) arrivals: Vec<FrameArrival>,
    /// The frames around the innermost, outermost first.
    outer: Vec<Frame>,
}

thread_local! {
    pub(super) static INNERMOST: Innermost = const {
        Innermost {
            depth: Cell::new(0),
            frame: Frame::new(0, 0),
        }
    };
    pub(super) static HELD: RefCell<Held> = const {
        RefCell::new(Held {
            sources: Vec::new(),
            arrivals: Vec::new(),
            outer: Vec::new(),
        })
    };
}

impl Frame {
    const fn new(orb: u64, flags: u8) -> Self {
        Self {
            orb: Cell::new(orb),
            flags: Cell::new(flags),
            in_hand: Cell::new(0),
            note: [const { Cell::new(0) }; 4],
        }
    }

    /// Becomes another.
    #[inline]
    fn set(&self, other: &Self) {
        self.orb.set(other.orb.get());
        self.flags.set(other.flags.get());
        self.in_hand.set(other.in_hand.get());
        self.set_note(other.note());
    }

    #[inline]
    pub(super) fn is(&self, flags: u8) -> bool {
        self.flags.get() & flags == flags
    }

    #[inline]
    fn note(&self) -> AdapterNote {
        let [a, b, c, d] = &self.note;
        [a.get(), b.get(), c.get(), d.get()]
    }

    #[inline]
    pub(super) fn set_note(&self, note: AdapterNote) {
        for (cell, number) in self.note.iter().zip(note) {
            cell.set(number);
        }
    }

    #[inline]
    pub(super) fn has_note(&self) -> bool {
        let [first, ..] = &self.note;
        first.get() != 0
    }

    #[inline]
    pub(super) fn forget_note(&self) {
        let [first, ..] = &self.note;
        first.set(0);
    }

    pub(super) fn object(&self) -> Option<AdapterNote> {
        self.has_note().then(|| self.note())
    }
}

/// Looks at the innermost frame, if there is one.
#[inline(always)]
pub(super) fn with_innermost<R>(look: impl FnOnce(&Frame) -> R) -> Option<R> {
    INNERMOST.with(|innermost| (innermost.depth.get() > 0).then(|| look(&innermost.frame)))
}

#[inline]
pub(super) fn push(orb: u64, flags: u8) {
    INNERMOST.with(|innermost| {
        let depth = innermost.depth.get();
        if depth > 0 {
            keep_outer(&innermost.frame);
        }
        innermost.frame.orb.set(orb);
        innermost.frame.flags.set(flags);
        innermost.frame.in_hand.set(0);
        innermost.frame.forget_note();
        innermost.depth.set(depth + 1);
    });
}

#[inline]
pub(super) fn pop() {
    INNERMOST.with(|innermost| {
        let depth = innermost.depth.get().saturating_sub(1);
        innermost.depth.set(depth);
        innermost.frame.flags.set(0);
        if depth > 0 {
            restore_outer(&innermost.frame);
        }
    });
}

#[cold]
fn keep_outer(frame: &Frame) {
    HELD.with_borrow_mut(|held| held.outer.push(frame.clone()));
}

#[cold]
fn restore_outer(frame: &Frame) {
    if let Some(outer) = HELD.with_borrow_mut(|held| held.outer.pop()) {
        frame.set(&outer);
    }
}

/// What holds of each frame, innermost first.
pub(super) fn all<R>(look: impl Fn(&Frame) -> R) -> Vec<R> {
    let mut all: Vec<R> = with_innermost(&look).into_iter().collect();
    // A panic's hook may run while they are changed: it learns of the innermost.
    let _ = HELD.try_with(|held| {
        if let Ok(held) = held.try_borrow() {
            all.extend(held.outer.iter().rev().map(&look));
        }
    });
    all
}

/// The source of the innermost frame, if the thread is in that one's upcall and it has one.
pub(super) fn innermost_source() -> Option<Arc<dyn RequestSource>> {
    let is_there = with_innermost(|frame| frame.is(IN_UPCALL | HAS_SOURCE))?;
    let last = || HELD.with_borrow(|held| held.sources.last().cloned());
    is_there.then(last).flatten()
}
