//! What the calling thread is serving: one stack for each thread, its innermost upcall last.
//!
//! A frame is a connection that the thread serves ([`Serving`]), with or without an upcall at this moment, or
//! an upcall within the process ([`WithinProcess`]). A thread has more than one frame where it serves another
//! connection while an upcall waits for a call of its own, and where servants call servants of the same
//! process. Each frame says whose ORB it is, by which connection the request came, and what the object adapter
//! has noted of the object ([`AdapterNote`]); the slots of every `Current` belong here.

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
}

/// What an object adapter notes of the object that an upcall is on: numbers that mean something to it alone.
/// The first is 0 where it has noted nothing.
pub type AdapterNote = [u64; 4];

/// A frame's numbers, each in a cell of its own: what changes with each upcall is written without a look at the
/// rest.
#[derive(Clone, Debug)]
struct Frame {
    /// The ORB's number.
    orb: Cell<u64>,
    /// What holds of it, by its bits.
    flags: Cell<u8>,
    /// What a reactor's thread has in hand at the source.
    in_hand: Cell<u64>,
    note: [Cell<u64>; 4],
}

/// Whether the thread is in the frame's upcall.
const IN_UPCALL: u8 = 1;
/// Whether another thread receives at the source meanwhile.
const HANDED_OVER: u8 = 2;
/// Whether it has a source: the last of [`Held::sources`], as the innermost frame that serves a connection has it,
/// and all within that one.
const HAS_SOURCE: u8 = 4;
/// Whether it is known how the request has arrived: the last of [`Held::arrivals`].
const HAS_ARRIVAL: u8 = 8;

/// The innermost frame, in place: nothing here is to be dropped, so that a thread finds it without a look at
/// whether it is there.
struct Innermost {
    /// How many frames there are.
    depth: Cell<usize>,
    frame: Frame,
}

/// What frames have that numbers cannot say.
#[derive(Default)]
struct Held {
    /// Where the requests came from; none for upcalls within the process.
    sources: Vec<Arc<dyn RequestSource>>,
    arrivals: Vec<FrameArrival>,
    /// The frames around the innermost, outermost first.
    outer: Vec<Frame>,
}

thread_local! {
    static INNERMOST: Innermost = const {
        Innermost {
            depth: Cell::new(0),
            frame: Frame::new(0, 0),
        }
    };
    static HELD: RefCell<Held> = const {
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
    fn is(&self, flags: u8) -> bool {
        self.flags.get() & flags == flags
    }

    #[inline]
    fn note(&self) -> AdapterNote {
        let [a, b, c, d] = &self.note;
        [a.get(), b.get(), c.get(), d.get()]
    }

    #[inline]
    fn set_note(&self, note: AdapterNote) {
        for (cell, number) in self.note.iter().zip(note) {
            cell.set(number);
        }
    }

    #[inline]
    fn has_note(&self) -> bool {
        let [first, ..] = &self.note;
        first.get() != 0
    }

    #[inline]
    fn forget_note(&self) {
        let [first, ..] = &self.note;
        first.set(0);
    }

    fn object(&self) -> Option<AdapterNote> {
        self.has_note().then(|| self.note())
    }
}

/// Looks at the innermost frame, if there is one.
#[inline(always)]
fn with_innermost<R>(look: impl FnOnce(&Frame) -> R) -> Option<R> {
    INNERMOST.with(|innermost| (innermost.depth.get() > 0).then(|| look(&innermost.frame)))
}

#[inline]
fn push(orb: u64, flags: u8) {
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
fn pop() {
    INNERMOST.with(|innermost| {
        let depth = innermost.depth.get().saturating_sub(1);
        innermost.depth.set(depth);
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
fn all<R>(look: impl Fn(&Frame) -> R) -> Vec<R> {
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
fn innermost_source() -> Option<Arc<dyn RequestSource>> {
    let is_there = with_innermost(|frame| frame.is(IN_UPCALL | HAS_SOURCE))?;
    let last = || HELD.with_borrow(|held| held.sources.last().cloned());
    is_there.then(last).flatten()
}

/// Marks the calling thread as one that serves a connection, until dropped.
#[derive(Debug)]
pub(crate) struct Serving(());

/// Marks it as in an upcall of the connection that it serves, until dropped.
#[derive(Debug)]
pub(crate) struct Upcall<'s>(std::marker::PhantomData<&'s Serving>);

impl Serving {
    pub(crate) fn enter(orb: u64, source: Arc<dyn RequestSource>) -> Self {
        Self::with(orb, source, HAS_SOURCE)
    }

    /// In an upcall whose request another thread has received, which sees to its connection.
    pub(crate) fn for_another(orb: u64, source: Arc<dyn RequestSource>) -> Self {
        Self::with(orb, source, HAS_SOURCE | IN_UPCALL | HANDED_OVER)
    }

    fn with(orb: u64, source: Arc<dyn RequestSource>, flags: u8) -> Self {
        HELD.with_borrow_mut(|held| held.sources.push(source));
        push(orb, flags);
        Self(())
    }

    /// Notes what a reactor's thread has in hand.
    #[inline]
    pub(crate) fn has_in_hand(&self, in_hand: u64) {
        with_innermost(|frame| frame.in_hand.set(in_hand));
    }

    #[inline]
    pub(crate) fn upcall(&self, arrival: Option<FrameArrival>) -> Upcall<'_> {
        with_innermost(|frame| {
            let flags = frame.flags.get() & !HANDED_OVER | IN_UPCALL;
            frame.flags.set(flags);
        });
        // Most protocols number no frames.
        if let Some(arrival) = arrival {
            has_arrived(arrival);
        }
        Upcall(std::marker::PhantomData)
    }
}

#[cold]
fn has_arrived(arrival: FrameArrival) {
    HELD.with_borrow_mut(|held| held.arrivals.push(arrival));
    with_innermost(|frame| frame.flags.set(frame.flags.get() | HAS_ARRIVAL));
}

#[cold]
fn forget_arrival() {
    HELD.with_borrow_mut(|held| held.arrivals.pop());
}

impl Drop for Serving {
    fn drop(&mut self) {
        pop();
        // Dropped outside of the borrow: it may be the connection's last owner.
        let _source = HELD.with_borrow_mut(|held| held.sources.pop());
    }
}

impl Drop for Upcall<'_> {
    #[inline]
    fn drop(&mut self) {
        let had_arrival = with_innermost(|frame| {
            let flags = frame.flags.get();
            frame.flags.set(flags & !(IN_UPCALL | HAS_ARRIVAL));
            flags & HAS_ARRIVAL != 0
        });
        if had_arrival == Some(true) {
            forget_arrival();
        }
    }
}

/// Marks the calling thread as in an upcall that came without a request, until dropped.
#[derive(Debug)]
pub(crate) struct WithinProcess {
    /// Whether there is an upcall around it.
    is_nested: bool,
}

impl WithinProcess {
    #[inline]
    pub(crate) fn enter(orb: u64) -> Self {
        let is_nested = with_innermost(|frame| frame.is(IN_UPCALL)) == Some(true);
        if is_nested {
            enter_within(orb, AdapterNote::default());
        } else {
            push(orb, IN_UPCALL);
        }
        Self { is_nested }
    }
}

impl Drop for WithinProcess {
    #[inline]
    fn drop(&mut self) {
        if self.is_nested {
            leave_frame();
        } else {
            pop();
        }
    }
}

/// Marks the innermost upcall as one on an object, until dropped: what an object adapter notes of it.
#[derive(Debug)]
pub struct OnObject {
    /// Whether there was no upcall, or one on another object, so that this has a frame of its own.
    has_frame: bool,
}

impl OnObject {
    /// Notes it: the first of the numbers is not 0. For adapters.
    #[inline]
    #[must_use]
    pub fn enter(note: AdapterNote) -> Self {
        let noted = with_innermost(|frame| {
            let is_free = frame.is(IN_UPCALL) && !frame.has_note();
            if is_free {
                frame.set_note(note);
            }
            is_free
        });
        let has_frame = noted != Some(true);
        if has_frame {
            enter_frame(note);
        }
        Self { has_frame }
    }
}

#[cold]
fn enter_frame(note: AdapterNote) {
    let orb = with_innermost(|frame| frame.is(IN_UPCALL).then(|| frame.orb.get()));
    enter_within(orb.flatten().unwrap_or_default(), note);
}

/// A frame for an upcall within another: by the thread that serves the same request, whose source it has.
#[cold]
fn enter_within(orb: u64, note: AdapterNote) {
    let around = with_innermost(|frame| {
        let around = (frame.flags.get(), frame.in_hand.get());
        frame.is(IN_UPCALL).then_some(around)
    });
    let (flags, in_hand) = around.flatten().unwrap_or_default();
    push(orb, flags | IN_UPCALL);
    with_innermost(|frame| {
        frame.in_hand.set(in_hand);
        frame.set_note(note);
    });
}

/// Leaves such a frame: what was handed over meanwhile has been for the upcall around it, too.
#[cold]
fn leave_frame() {
    let handed_over = with_innermost(|frame| frame.flags.get() & HANDED_OVER);
    pop();
    with_innermost(|frame| {
        if frame.is(IN_UPCALL | HAS_SOURCE) {
            let flags = frame.flags.get() | handed_over.unwrap_or_default();
            frame.flags.set(flags);
        }
    });
}

impl Drop for OnObject {
    #[inline]
    fn drop(&mut self) {
        if self.has_frame {
            leave_frame();
        } else {
            with_innermost(Frame::forget_note);
        }
    }
}

/// What was noted of the innermost upcall of the calling thread that is on an object. For adapters.
#[must_use]
pub fn noted_object() -> Option<AdapterNote> {
    // Nearly always of the innermost.
    let innermost = with_innermost(Frame::object).flatten();
    innermost.or_else(|| noted_objects().first().copied())
}

/// The same of each, innermost first.
#[must_use]
pub fn noted_objects() -> Vec<AdapterNote> {
    all(Frame::object).into_iter().flatten().collect()
}

/// Whether the calling thread is in an upcall of this ORB, by a request or without one.
pub(crate) fn in_upcall_of(orb: u64) -> bool {
    let is_its = |frame: &Frame| frame.is(IN_UPCALL) && frame.orb.get() == orb;
    all(is_its).contains(&true)
}

/// Whether it is in any. For whoever may run at any time: a panic's hook.
pub(crate) fn in_upcall() -> bool {
    all(|frame| frame.is(IN_UPCALL)).contains(&true)
}

/// How the request that the calling thread serves has arrived, in a messaging protocol that numbers its
/// frames: what was lost before it, whether it is late. `None` outside of such an upcall.
#[must_use]
pub fn frame_arrival() -> Option<FrameArrival> {
    let is_known = with_innermost(|frame| frame.is(IN_UPCALL | HAS_ARRIVAL))?;
    let last = || HELD.with_borrow(|held| held.arrivals.last().copied());
    is_known.then(last).flatten()
}

/// Whether the calling thread serves a request and is the only one that serves requests there (reactive
/// endpoints), so that it must not wait for what another request may bring. For adapters.
#[must_use]
pub fn serves_alone() -> bool {
    innermost_source().is_some_and(|source| source.is_served_alone())
}

/// To be called before a thread blocks for a reply: if it is in an upcall, another thread receives on
/// that upcall's connection from now on. How long it may block at most, where others of this ORB may need
/// it: a reactor's thread.
#[inline]
pub(crate) fn about_to_block() -> Option<Duration> {
    let is_serving = with_innermost(|frame| frame.is(IN_UPCALL | HAS_SOURCE));
    if is_serving != Some(true) {
        return None;
    }
    hand_over()
}

#[cold]
fn hand_over() -> Option<Duration> {
    let source = innermost_source()?;
    let (was_handed_over, in_hand) = with_innermost(|frame| {
        let flags = frame.flags.replace(frame.flags.get() | HANDED_OVER);
        (flags & HANDED_OVER != 0, frame.in_hand.get())
    })?;
    if !was_handed_over {
        source.clone().hand_over(in_hand);
    }
    source.longest_block()
}

/// Whether a thread that is about to block is in an upcall and more has been received on that upcall's
/// connection, which it keeps from being served. What still waits to be received shows when the call
/// takes long: to look for it would be a system call for each.
pub(crate) fn is_wanted_elsewhere() -> bool {
    let is_handed_over = with_innermost(|frame| frame.is(HANDED_OVER));
    is_handed_over == Some(false)
        && innermost_source().is_some_and(|source| source.has_received_more())
}

/// Where the request came from that the calling thread serves, and whose ORB that is.
pub(super) fn source() -> Option<(u64, Arc<dyn RequestSource>)> {
    let source = innermost_source()?;
    with_innermost(|frame| (frame.orb.get(), source))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Counts how often it is handed over.
    #[derive(Default)]
    struct Source(AtomicU64);

    impl RequestSource for Source {
        fn hand_over(self: Arc<Self>, _: u64) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn has_received_more(&self) -> bool {
            true
        }

        fn longest_block(&self) -> Option<Duration> {
            Some(Duration::from_secs(1))
        }

        fn is_served_alone(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_connection_is_handed_over_once_an_upcall_however_deep_objects_nest_in_it() {
        let source = Arc::new(Source::default());
        let serving = Serving::enter(7, source.clone());
        assert_eq!((about_to_block(), in_upcall_of(7)), (None, false));
        for expected in 1..3 {
            let _upcall = serving.upcall(None);
            let _outer = OnObject::enter([1, 2, 3, 4]);
            {
                let _inner = OnObject::enter([5, 6, 7, 8]);
                assert_eq!(noted_objects(), [[5, 6, 7, 8], [1, 2, 3, 4]]);
                assert!(is_wanted_elsewhere() && serves_alone() && in_upcall_of(7));
                assert_eq!(about_to_block(), Some(Duration::from_secs(1)));
            }
            about_to_block();
            assert!(!is_wanted_elsewhere());
            assert_eq!(source.0.load(Ordering::Relaxed), expected);
            assert_eq!(noted_object(), Some([1, 2, 3, 4]));
        }
        assert_eq!((noted_object(), in_upcall()), (None, false));
    }

    #[test]
    fn upcalls_within_the_process_see_the_request_around_them() {
        let source = Arc::new(Source::default());
        let serving = Serving::enter(7, source.clone());
        let upcall = serving.upcall(None);
        {
            let _outer = OnObject::enter([1, 2, 3, 4]);
            let _within: Vec<WithinProcess> = (0..40).map(|_| WithinProcess::enter(9)).collect();
            assert!(in_upcall_of(7) && in_upcall_of(9) && serves_alone());
            assert_eq!(noted_objects(), [[1, 2, 3, 4]]);
            assert_eq!(about_to_block(), Some(Duration::from_secs(1)));
        }
        about_to_block();
        assert_eq!(source.0.load(Ordering::Relaxed), 1);
        assert!(!in_upcall_of(9));
        drop(upcall);
        assert!(!in_upcall_of(7));
    }
}
