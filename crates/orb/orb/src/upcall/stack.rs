//! Stack of the requests that the calling thread serves; each thread has one, with the innermost
//! upcall last.
//!
//! A frame stands for a connection that the thread serves ([`Serving`]), whether or not it is in an
//! upcall at the moment, or for an upcall within the process ([`WithinProcess`]). A thread has more
//! than one frame if it serves another connection while an upcall waits for a call of its own, or
//! if servants call servants of the same process. Each frame records the ORB, the connection on
//! which the request arrived, and the object adapter's data about the object ([`AdapterNote`]); the
//! slots of every `Current` are stored here.

use super::frame::{
    AdapterNote, ChargedResults, Frame, HANDED_OVER, HAS_ARRIVAL, HAS_RESULTS, HAS_SOURCE, HELD,
    IN_UPCALL, INNERMOST, Innermost, RequestSource, all, innermost_source, pop, push,
    with_innermost,
};
use super::peer::RequestPeer;
use crate::budget::{FREE, NoRoom};
use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind, minor};
use crate::messaging::FrameArrival;
use std::sync::Arc;
use std::time::Duration;

/// Guard that marks the calling thread as serving a connection, until dropped.
#[derive(Debug)]
pub(crate) struct Serving(());

/// Guard that marks the thread as being in an upcall of the connection that it serves, until
/// dropped.
#[derive(Debug)]
pub(crate) struct Upcall<'s>(std::marker::PhantomData<&'s Serving>);

impl Serving {
    pub(crate) fn enter(orb: u64, source: Arc<dyn RequestSource>) -> Self {
        Self::with(orb, source, HAS_SOURCE)
    }

    /// Enters the upcall of a request that another thread has received; that thread continues to
    /// serve the connection.
    pub(crate) fn for_another(orb: u64, source: Arc<dyn RequestSource>) -> Self {
        Self::with(orb, source, HAS_SOURCE | IN_UPCALL | HANDED_OVER)
    }

    fn with(orb: u64, source: Arc<dyn RequestSource>, flags: u8) -> Self {
        HELD.with_borrow_mut(|held| held.sources.push(source));
        push(orb, flags);
        Self(())
    }

    /// Records the mark of the request that a reactor's thread serves.
    #[inline]
    pub(crate) fn set_in_hand(&self, in_hand: u64) {
        with_innermost(|frame| frame.in_hand.set(in_hand));
    }

    #[inline]
    pub(crate) fn upcall(&self, arrival: Option<FrameArrival>) -> Upcall<'_> {
        // This guard implies that there is a frame.
        INNERMOST.with(|Innermost { frame, .. }| {
            let flags = frame.flags.get() & !HANDED_OVER | IN_UPCALL;
            frame.flags.set(flags);
        });
        // Most protocols do not number frames.
        if let Some(arrival) = arrival {
            record_arrival(arrival);
        }
        Upcall(std::marker::PhantomData)
    }
}

#[cold]
fn record_arrival(arrival: FrameArrival) {
    HELD.with_borrow_mut(|held| held.arrivals.push(arrival));
    with_innermost(|frame| frame.flags.set(frame.flags.get() | HAS_ARRIVAL));
}

/// Forgets what is recorded for the request of an upcall that has ended.
#[cold]
fn forget(flags: u8) {
    if flags & HAS_ARRIVAL != 0 {
        HELD.with_borrow_mut(|held| held.arrivals.pop());
    }
    if flags & HAS_RESULTS != 0 {
        forget_results();
    }
}

/// Ends the charge of the results of the innermost source's request, if there is one.
fn forget_results() {
    drop(take_results());
}

/// Takes the charge of the results of the innermost source's request, if there is one.
fn take_results() -> Option<ChargedResults> {
    HELD.with_borrow_mut(|held| {
        let sources = held.sources.len();
        held.results.pop_if(|results| results.sources == sources)
    })
}

/// Records that a reply of so many bytes has been made of the results of the innermost source's
/// request, and is about to be charged itself.
#[cold]
pub(crate) fn record_reply_made(octets: usize) {
    if let Some(mut results) = take_results() {
        results.octets = results.octets.saturating_sub(octets);
        // A decrease never fails.
        let _ = results.charge.grow(results.octets);
        HELD.with_borrow_mut(|held| held.results.push(results));
    }
}

impl Drop for Serving {
    #[inline]
    fn drop(&mut self) {
        pop();
        let (has_results, _source) = HELD.with_borrow_mut(|held| {
            // A charge of this source's requests, if there is one, is the last.
            let sources = held.sources.len();
            let last = held.results.last();
            let has_results = last.is_some_and(|results| results.sources == sources);
            (has_results, held.sources.pop())
        });
        // Dropped after the borrow, as is the source: it may be the connection's last owner.
        if has_results {
            forget_last_results();
        }
    }
}

/// Removes the last charge of a request's results from the stack.
#[cold]
fn forget_last_results() {
    drop(HELD.with_borrow_mut(|held| held.results.pop()));
}

impl Drop for Upcall<'_> {
    #[inline]
    fn drop(&mut self) {
        let flags = INNERMOST.with(|Innermost { frame, .. }| {
            let flags = frame.flags.get();
            frame
                .flags
                .set(flags & !(IN_UPCALL | HAS_ARRIVAL | HAS_RESULTS));
            flags
        });
        if flags & (HAS_ARRIVAL | HAS_RESULTS) != 0 {
            forget(flags);
        }
    }
}

/// Guard that marks the calling thread as in an upcall without a request, until dropped.
#[derive(Debug)]
pub(crate) struct WithinProcess {
    /// True if the thread already was in an upcall.
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

/// Guard that attaches the object adapter's data about the object to the innermost upcall, until
/// dropped.
#[derive(Debug)]
pub struct OnObject {
    /// True if this guard has added a frame, because there was no upcall, or one on another object.
    has_frame: bool,
}

impl OnObject {
    /// Records the data, whose first number must not be 0. For object adapters. Not inlined, as
    /// code inlined in another crate would access thread-local memory through a function pointer.
    #[inline(never)]
    #[must_use]
    pub fn enter(note: AdapterNote) -> Self {
        // Without a frame there are no flags.
        let has_frame = INNERMOST.with(|Innermost { frame, .. }| {
            let is_free = frame.is(IN_UPCALL) && !frame.has_note();
            if is_free {
                frame.set_note(note);
            }
            !is_free
        });
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

/// Adds a frame for a nested upcall, which the thread makes while it serves a request; it has the
/// source of that request.
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

/// Removes the frame of a nested upcall: a hand-over made in it, and a charge of results, also hold
/// for the upcall around it.
#[cold]
fn leave_frame() {
    let made = with_innermost(|frame| frame.flags.get() & (HANDED_OVER | HAS_RESULTS));
    pop();
    with_innermost(|frame| {
        if frame.is(IN_UPCALL | HAS_SOURCE) {
            let flags = frame.flags.get() | made.unwrap_or_default();
            frame.flags.set(flags);
        }
    });
}

impl Drop for OnObject {
    #[inline(never)]
    fn drop(&mut self) {
        if self.has_frame {
            leave_frame();
        } else {
            INNERMOST.with(|innermost| innermost.frame.forget_note());
        }
    }
}

/// Returns the adapter's data of the calling thread's innermost upcall on an object. For object
/// adapters.
#[must_use]
pub fn noted_object() -> Option<AdapterNote> {
    // Nearly always that of the innermost frame.
    let innermost = with_innermost(Frame::object).flatten();
    innermost.or_else(|| noted_objects().first().copied())
}

/// Returns the adapter's data of all of the thread's upcalls on objects, innermost first.
#[must_use]
pub fn noted_objects() -> Vec<AdapterNote> {
    all(Frame::object).into_iter().flatten().collect()
}

/// Returns `true` if the calling thread is in an upcall of this ORB, by a request or without one.
pub(crate) fn in_upcall_of(orb: u64) -> bool {
    let is_its = |frame: &Frame| frame.is(IN_UPCALL) && frame.orb.get() == orb;
    all(is_its).contains(&true)
}

/// Returns `true` if the calling thread is in any upcall. May be called at any time, for example in
/// a panic hook.
pub(crate) fn in_upcall() -> bool {
    all(|frame| frame.is(IN_UPCALL)).contains(&true)
}

/// Returns the arrival data of the request that the calling thread serves, in a messaging protocol
/// that numbers its frames: the frames lost before it, and whether it is late. `None` outside of
/// such an upcall.
#[must_use]
pub fn frame_arrival() -> Option<FrameArrival> {
    let is_known = with_innermost(|frame| frame.is(IN_UPCALL | HAS_ARRIVAL))?;
    let last = || HELD.with_borrow(|held| held.arrivals.last().copied());
    is_known.then(last).flatten()
}

/// Returns `true` if the calling thread serves a request and is the only thread that serves
/// requests at its endpoint (reactive endpoints). It must then not wait for the effects of another
/// request. For object adapters.
#[must_use]
pub fn serves_alone() -> bool {
    innermost_source().is_some_and(|source| source.is_served_alone())
}

/// Returns the peer whose request the calling thread is serving, also in calls to objects of this
/// process that the servant makes. `None` outside of upcalls, and in calls within the process that
/// do not result from a request.
///
/// Allocates; takes no lock, and makes no system call.
#[must_use]
pub fn request_peer() -> Option<RequestPeer> {
    innermost_source().map(|source| source.peer())
}

/// Counts the memory of results that a servant is making, and of the reply that will be made of them,
/// `octets` bytes so far, in `limits.received` of the ORB whose request the calling thread serves,
/// until the upcall ends; a long reply counts until it is sent. A servant whose results are many times as long
/// as their requests calls this before it makes more of them, as otherwise as many could be made at
/// a time as there are threads. Replaces the number that the same upcall gave before; 16 KiB are
/// free. Without effect outside of upcalls by requests.
///
/// It may close connections whose peers read no replies, wait until these have freed their memory,
/// and log that.
///
/// # Errors
/// NO_RESOURCES if there is no room: the servant frees what it has made, and raises this exception.
pub fn charge_results(octets: usize) -> Result<(), SystemException> {
    let is_charged = with_innermost(|frame| frame.is(HAS_RESULTS)) == Some(true);
    if octets <= FREE && !is_charged {
        return Ok(());
    }
    let Some(source) = innermost_source() else {
        return Ok(());
    };
    let mut results = take_results().unwrap_or_else(|| ChargedResults {
        sources: HELD.with_borrow(|held| held.sources.len()),
        charge: source.charge_results(),
        octets: 0,
    });
    // Not under the borrow: a subscriber to the log may make calls.
    let grown = results.charge.grow(octets);
    results.octets = octets;
    HELD.with_borrow_mut(|held| held.results.push(results));
    with_innermost(|frame| frame.flags.set(frame.flags.get() | HAS_RESULTS));
    grown.map_err(|full| no_room(octets, full))
}

#[cold]
fn no_room(octets: usize, full: NoRoom) -> SystemException {
    let (kind, minor) = (SystemExceptionKind::NoResources, minor::NO_ROOM_FOR_RESULTS);
    SystemException::new(kind, minor, CompletionStatus::Maybe)
        .with_detail(format!("no room for results of {octets} octets: {full}"))
}

/// Prepares the calling thread for blocking, for a reply or a disk: if it is in an upcall, another
/// thread receives on that upcall's connection from now on. Returns the maximum time for which it
/// may block, if others of this ORB may need it: a reactor's thread.
#[inline]
pub fn about_to_block() -> Option<Duration> {
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

/// Returns `true` if the calling thread, which is about to block, is in an upcall and thereby
/// delays requests that have already been received on the upcall's connection. Requests that have
/// not been received yet are found by the watcher if the call takes long; checking for them here
/// would cost a system call each time.
pub(crate) fn is_wanted_elsewhere() -> bool {
    let is_handed_over = with_innermost(|frame| frame.is(HANDED_OVER));
    is_handed_over == Some(false)
        && innermost_source().is_some_and(|source| source.has_received_more())
}

/// Returns the source of the request that the calling thread serves, and the number of its ORB.
pub(super) fn source() -> Option<(u64, Arc<dyn RequestSource>)> {
    let source = innermost_source()?;
    with_innermost(|frame| (frame.orb.get(), source))
}
