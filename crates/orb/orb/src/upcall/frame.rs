//! Frames of a thread's upcall stack, and the stack's storage.
//!
//! A frame stands for a connection that the thread serves, whether or not it is in an upcall at the
//! moment, or for an upcall within the process. The innermost frame is stored directly in
//! thread-local memory; outer frames, sources and arrival data are stored separately.

use super::peer::RequestPeer;
use crate::budget::Hold;
use crate::messaging::FrameArrival;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

/// Connection that is the source of a request, as the request's upcall sees it.
pub(crate) trait RequestSource: Send + Sync {
    /// Makes another thread receive on the connection, as this one is about to block. `in_hand` is
    /// the mark of the request that a reactor's thread serves.
    fn hand_over(self: Arc<Self>, in_hand: u64);

    /// Returns `true` if more requests have been received, which wait until the upcall ends.
    fn has_received_more(&self) -> bool;

    /// Returns the maximum time for which the thread may block, if other connections of the ORB may
    /// need it.
    fn longest_block(&self) -> Option<Duration>;

    /// Returns `true` if this is the only thread that serves requests on connections of this kind.
    fn is_served_alone(&self) -> bool;

    /// Returns the description of the connection's peer.
    fn peer(&self) -> RequestPeer;

    /// Begins a charge for an upcall's results, of 0 bytes.
    fn charge_results(&self) -> Hold;
}

/// Data that an object adapter records about the object of an upcall: numbers with a meaning for
/// the adapter alone. The first is 0 if nothing is recorded.
pub type AdapterNote = [u64; 4];

/// Numbers of a frame, each in a separate cell, so that an upcall writes only those that change.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    /// Number of the ORB that the frame belongs to.
    pub(super) orb: Cell<u64>,
    /// Flags of the upcall frame, as a bit set.
    pub(super) flags: Cell<u8>,
    /// Mark of the request that a reactor's thread serves for the source.
    pub(super) in_hand: Cell<u64>,
    note: [Cell<u64>; 4],
}

/// Frame flag: the thread is currently in the upcall of this frame.
pub(super) const IN_UPCALL: u8 = 1;
/// Frame flag: another thread now receives on the request's connection.
pub(super) const HANDED_OVER: u8 = 2;
/// Flag: the frame has a source, the last of [`FrameData::sources`]. Set for the innermost frame that
/// serves a connection, and for all frames within it.
pub(super) const HAS_SOURCE: u8 = 4;
/// Flag: the request has arrival data, the last of [`FrameData::arrivals`].
pub(super) const HAS_ARRIVAL: u8 = 8;
/// Flag: results of the request are charged, by the last of [`FrameData::results`]. Set for the frame
/// that serves the connection, once the upcall within has left.
pub(super) const HAS_RESULTS: u8 = 16;

/// Innermost frame, stored directly in thread-local memory. It has no destructor, so that access
/// needs no check of its initialisation.
pub(super) struct Innermost {
    /// Number of upcall frames on the stack of the thread.
    depth: Cell<usize>,
    /// The innermost frame; its flags are 0 if there is none.
    pub(super) frame: Frame,
}

/// Charge of a request's results against the memory budget.
pub(super) struct ChargedResults {
    /// Number of request sources on the stack, up to and including the source of this request.
    pub(super) sources: usize,
    pub(super) charge: Hold,
    pub(super) octets: usize,
}

/// Data of frames that do not fit into numbers.
#[derive(Default)]
pub(super) struct FrameData {
    /// Sources of the requests; upcalls within the process have none.
    pub(super) sources: Vec<Arc<dyn RequestSource>>,
    pub(super) arrivals: Vec<FrameArrival>,
    /// Charges of requests' results against the memory budget.
    pub(super) results: Vec<ChargedResults>,
    /// Upcall frames around the innermost one, with the outermost first.
    outer: Vec<Frame>,
}

thread_local! {
    pub(super) static INNERMOST: Innermost = const {
        Innermost {
            depth: Cell::new(0),
            frame: Frame::new(0, 0),
        }
    };
    pub(super) static HELD: RefCell<FrameData> = const {
        RefCell::new(FrameData {
            sources: Vec::new(),
            arrivals: Vec::new(),
            results: Vec::new(),
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

    /// Copies all fields of another upcall frame into this one.
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

/// Calls `look` with the innermost frame, if there is one.
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

/// Returns the result of `look` for each frame, innermost first.
pub(super) fn all<R>(look: impl Fn(&Frame) -> R) -> Vec<R> {
    let mut all: Vec<R> = with_innermost(&look).into_iter().collect();
    // A panic hook may run while the frames are changed: it then sees only the innermost.
    let _ = HELD.try_with(|held| {
        if let Ok(held) = held.try_borrow() {
            all.extend(held.outer.iter().rev().map(&look));
        }
    });
    all
}

/// Returns the source of the innermost frame, if the thread is in that frame's upcall and it has
/// one.
pub(super) fn innermost_source() -> Option<Arc<dyn RequestSource>> {
    let is_there = with_innermost(|frame| frame.is(IN_UPCALL | HAS_SOURCE))?;
    let last = || HELD.with_borrow(|held| held.sources.last().cloned());
    is_there.then(last).flatten()
}
