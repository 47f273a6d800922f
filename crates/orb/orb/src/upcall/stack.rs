//! What the calling thread is serving: one stack for each thread, its innermost upcall last.
//!
//! A frame is a connection that the thread serves ([`Serving`]), with or without an upcall at this moment, or
//! an upcall within the process ([`WithinProcess`]). A thread has more than one frame where it serves another
//! connection while an upcall waits for a call of its own, and where servants call servants of the same
//! process. Each frame says whose ORB it is, by which connection the request came, and what the object adapter
//! has noted of the object ([`AdapterNote`]); the slots of every `Current` belong here.

use crate::messaging::FrameArrival;
use std::cell::RefCell;
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
}

/// What an object adapter notes of the object that an upcall is on: numbers that mean something to it alone.
/// All are 0 where it has noted nothing.
pub type AdapterNote = [u64; 4];

struct Frame {
    /// The ORB's number.
    orb: u64,
    /// Where the request came from; `None` within the process.
    source: Option<Arc<dyn RequestSource>>,
    in_upcall: bool,
    /// Whether another thread receives at the source meanwhile.
    handed_over: bool,
    /// What a reactor's thread has in hand there.
    in_hand: u64,
    note: AdapterNote,
    /// How the upcall's request has arrived, where that is known.
    arrival: Option<Box<FrameArrival>>,
}

thread_local! {
    static FRAMES: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

impl Frame {
    fn new(orb: u64, source: Option<Arc<dyn RequestSource>>) -> Self {
        Self {
            orb,
            source,
            in_upcall: false,
            handed_over: false,
            in_hand: 0,
            note: AdapterNote::default(),
            arrival: None,
        }
    }
}

/// The innermost frame, if the thread is in its upcall.
fn with_innermost<R>(look: impl FnOnce(&Frame) -> R) -> Option<R> {
    FRAMES.with_borrow(|frames| frames.last().filter(|one| one.in_upcall).map(look))
}

/// Marks the calling thread as one that serves a connection, until dropped.
#[derive(Debug)]
pub(crate) struct Serving(());

/// Marks it as in an upcall of the connection that it serves, until dropped.
#[derive(Debug)]
pub(crate) struct Upcall<'s>(std::marker::PhantomData<&'s Serving>);

impl Serving {
    pub(crate) fn enter(orb: u64, source: Arc<dyn RequestSource>) -> Self {
        FRAMES.with_borrow_mut(|frames| frames.push(Frame::new(orb, Some(source))));
        Self(())
    }

    /// In an upcall whose request another thread has received, which sees to its connection.
    pub(crate) fn for_another(orb: u64, source: Arc<dyn RequestSource>) -> Self {
        let frame = Frame {
            in_upcall: true,
            handed_over: true,
            ..Frame::new(orb, Some(source))
        };
        FRAMES.with_borrow_mut(|frames| frames.push(frame));
        Self(())
    }

    /// Notes what a reactor's thread has in hand.
    #[inline]
    pub(crate) fn has_in_hand(&self, in_hand: u64) {
        FRAMES.with_borrow_mut(|frames| {
            if let Some(innermost) = frames.last_mut() {
                innermost.in_hand = in_hand;
            }
        });
    }

    #[inline]
    pub(crate) fn upcall(&self, arrival: Option<FrameArrival>) -> Upcall<'_> {
        FRAMES.with_borrow_mut(|frames| {
            if let Some(innermost) = frames.last_mut() {
                innermost.in_upcall = true;
                innermost.handed_over = false;
                // Most protocols number no frames.
                if arrival.is_some() || innermost.arrival.is_some() {
                    innermost.arrival = arrival.map(Box::new);
                }
            }
        });
        Upcall(std::marker::PhantomData)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Dropped outside of the borrow: it may be the connection's last owner.
        let _frame = FRAMES.with_borrow_mut(Vec::pop);
    }
}

impl Drop for Upcall<'_> {
    #[inline]
    fn drop(&mut self) {
        FRAMES.with_borrow_mut(|frames| {
            if let Some(innermost) = frames.last_mut() {
                innermost.in_upcall = false;
            }
        });
    }
}

/// Marks the calling thread as in an upcall that came without a request, until dropped.
#[derive(Debug)]
pub(crate) struct WithinProcess(());

impl WithinProcess {
    #[inline]
    pub(crate) fn enter(orb: u64) -> Self {
        FRAMES.with_borrow_mut(|frames| {
            frames.push(Frame {
                in_upcall: true,
                ..Frame::new(orb, None)
            });
        });
        Self(())
    }
}

impl Drop for WithinProcess {
    #[inline]
    fn drop(&mut self) {
        FRAMES.with_borrow_mut(Vec::pop);
    }
}

/// Whether the calling thread is in an upcall of this ORB, by a request or without one.
pub(crate) fn in_upcall_of(orb: u64) -> bool {
    FRAMES.with_borrow(|frames| frames.iter().any(|one| one.in_upcall && one.orb == orb))
}

/// Whether it is in any. For whoever may run at any time: a panic's hook.
pub(crate) fn in_upcall() -> bool {
    let is_in = |frames: &RefCell<Vec<Frame>>| {
        frames
            .try_borrow()
            .is_ok_and(|frames| frames.iter().any(|one| one.in_upcall))
    };
    FRAMES.try_with(is_in).unwrap_or(false)
}

/// How the request that the calling thread serves has arrived, in a messaging protocol that numbers its
/// frames: what was lost before it, whether it is late. `None` outside of such an upcall.
#[must_use]
pub fn frame_arrival() -> Option<FrameArrival> {
    with_innermost(|frame| frame.arrival.as_deref().copied()).flatten()
}

/// Whether the calling thread serves a request and is the only one that serves requests there (reactive
/// endpoints), so that it must not wait for what another request may bring. For adapters.
#[must_use]
pub fn serves_alone() -> bool {
    let is_alone = |frame: &Frame| {
        let source = frame.source.as_ref();
        source.is_some_and(|source| source.is_served_alone())
    };
    with_innermost(is_alone).unwrap_or(false)
}

/// To be called before a thread blocks for a reply: if it is in an upcall, another thread receives on
/// that upcall's connection from now on. How long it may block at most, where others of this ORB may need
/// it: a reactor's thread.
#[inline]
pub(crate) fn about_to_block() -> Option<Duration> {
    FRAMES.with_borrow_mut(|frames| {
        let innermost = frames.last_mut().filter(|one| one.in_upcall)?;
        let source = innermost.source.as_ref()?;
        if !innermost.handed_over {
            innermost.handed_over = true;
            source.clone().hand_over(innermost.in_hand);
        }
        source.longest_block()
    })
}

/// Whether a thread that is about to block is in an upcall and more has been received on that upcall's
/// connection, which it keeps from being served. What still waits to be received shows when the call
/// takes long: to look for it would be a system call for each.
pub(crate) fn is_wanted_elsewhere() -> bool {
    let is_wanted = |frame: &Frame| {
        let source = frame.source.as_ref().filter(|_| !frame.handed_over);
        source.is_some_and(|source| source.has_received_more())
    };
    with_innermost(is_wanted).unwrap_or(false)
}

/// Where the request came from that the calling thread serves, and whose ORB that is.
pub(super) fn source() -> Option<(u64, Arc<dyn RequestSource>)> {
    with_innermost(|frame| Some((frame.orb, frame.source.clone()?))).flatten()
}
