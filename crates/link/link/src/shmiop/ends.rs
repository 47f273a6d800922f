//! Memories of a connection's two sides and the socket between the processes: sleeping, waking, and
//! detecting a dead peer.
//!
//! Each side can write only its own memory, so each wakes the other by words in its own memory: the
//! *doorbell*, which the other sleeps on and which this side changes before it wakes the other. It
//! does so only when the other's sleep word says that it sleeps, and once for each sleep, which the
//! count in that word tells apart:
//!
//! ```text
//! sleeper   read doorbell; store sleep word; fence; check again; wait while the doorbell is unchanged
//! waker     store what is waited for; fence; read sleep word; change doorbell; wake
//! ```
//!
//! One of the two fences comes first: either the sleeper sees the stored data, or the waker sees
//! that it sleeps. A doorbell that changed in between ends the wait at once.
//!
//! **Sleeping.** First on the doorbell's futex, the quickest to wake, in slices of [`SLICE`]: a
//! peer that was killed wakes no one, so after each slice the socket is checked, which the kernel
//! closes for it. A reader whose slice has passed in vain then sleeps in `poll` on that socket,
//! without a bound: the peer sends an octet through it, and its death wakes as well. That is also
//! how a reactor waits for many connections at once: a receive that found nothing leaves the sleep
//! word set for a sleep on the socket, which the reactor does for it. The socket serves as the
//! doorbell there, not an eventfd of each side, because the blocking mode is chosen in each call: a
//! peer can turn an eventfd that it passed into one that blocks its writers.
//!
//! Before it sleeps, a thread spins for a while ([`Spin`]), unless the peer's reader last waited on
//! the very processor that this thread runs on: each side records that in a word.
//!
//! **Closing** sets a word of one's own memory, changes both doorbells, and shuts the socket down.
//! A thread of the same side that is just about to sleep on a futex may miss that; it notices after
//! the slice.

use super::layout::{AWAKE, BY_FUTEX, BY_SOCKET, CLOSED, PROCESSOR, READER, Role, SLEEP, WRITER};
use crate::Cause;
use punctual_exec::{Deadline, Spin};
use punctual_sys::memory::{PeerMemory, Words};
use punctual_sys::passing::{self, Found};
use punctual_sys::{futex, processor, stream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::Duration;

/// Upper bound of a sleep on a futex without a check that the peer still lives.
const SLICE: Duration = Duration::from_millis(100);

/// State that both directions of a shared-memory connection use.
#[derive(Debug)]
pub(super) struct Ends {
    /// Control words in this side's shared memory.
    pub(super) mine: Words,
    pub(super) theirs: PeerMemory,
    socket: OwnedFd,
    closed: AtomicBool,
    /// `true` if the reader's sleep is on the socket, carried out by a reactor.
    polled: bool,
}

impl Ends {
    pub(super) fn new(mine: Words, theirs: PeerMemory, socket: OwnedFd, polled: bool) -> Self {
        Self {
            mine,
            theirs,
            socket,
            closed: AtomicBool::new(false),
            polled,
        }
    }

    /// Returns the descriptor that a reactor waits for, if one does.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.polled.then(|| self.socket.as_fd())
    }

    /// Returns whether this side has closed the connection.
    pub(super) fn is_closed(&self) -> bool {
        // Acquire pairs with the AcqRel exchange in `close`.
        self.closed.load(Ordering::Acquire)
    }

    /// Returns whether either side has closed. The peer's earlier writes are visible afterwards.
    pub(super) fn has_ended(&self) -> bool {
        self.is_closed() || self.theirs.load_acquire(CLOSED) != 0
    }

    /// Returns as [`Ends::has_ended`] does, also `true` if the peer's process has died. One system
    /// call.
    pub(super) fn peer_is_gone(&self) -> bool {
        self.has_ended() || passing::wait(&self.socket, Some(Duration::ZERO)) == Found::End
    }

    fn ring_doorbell(&self, role: Role) {
        // Release pairs with the acquiring load in `Sleeper::sleep`: a thread that sees the change
        // before it sleeps also sees its reason.
        self.mine[role.doorbell].fetch_add(1, Ordering::Release);
    }

    /// Sleeps until the peer notifies the socket, is gone, or `left` has passed; returns whether it
    /// is gone.
    fn sleep_on_socket(&self, left: Option<Duration>) -> bool {
        let found = passing::wait(&self.socket, left);
        if found == Found::Data {
            passing::clear(&self.socket);
        }
        found == Found::End
    }

    /// Sleeps until the peer changes a role's doorbell from the value `doorbell`, or a slice of
    /// `left` has passed; returns whether the doorbell changed.
    fn sleep_on_futex(&self, role: Role, doorbell: u32, left: Option<Duration>) -> bool {
        let slice = left.map_or(SLICE, |left| left.min(SLICE));
        self.theirs.wait(role.doorbell, doorbell, Some(slice));
        self.theirs.load(role.doorbell) != doorbell
    }

    /// Ends the connection, and wakes sleeping threads on either side.
    pub(super) fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        // Release pairs with the acquiring load in `has_ended`: all data sent comes first.
        self.mine[CLOSED].store(1, Ordering::Release);
        for role in [READER, WRITER] {
            self.ring_doorbell(role);
            futex::wake_shared(&self.mine[role.doorbell]);
            self.theirs.wake(role.doorbell);
        }
        // Fails only when the peer closed first.
        let _ = stream::shut(&self.socket);
    }
}

/// Wakes the thread that waits in one role of the peer.
#[derive(Debug)]
pub(super) struct Waker {
    role: Role,
    /// Sleep word from which the peer's thread was last woken, so that each sleep is ended by one
    /// wake-up only.
    woken: u32,
}

impl Waker {
    pub(super) fn of(role: Role) -> Self {
        Self { role, woken: AWAKE }
    }

    /// Wakes the peer if it sleeps. Called after the awaited data was stored.
    pub(super) fn wake(&mut self, ends: &Ends) {
        // Pairs with the fence in `Sleeper::sleep`.
        fence(Ordering::SeqCst);
        let sleep = ends.theirs.load(self.role.sleep);
        if sleep == AWAKE || sleep == self.woken {
            return;
        }
        self.woken = sleep;
        ends.ring_doorbell(self.role);
        if sleep & BY_SOCKET != 0 {
            passing::notify(&ends.socket);
        } else {
            futex::wake_shared(&ends.mine[self.role.doorbell]);
        }
    }
}

/// Waits in one role of this side, as reader or as writer.
#[derive(Debug)]
pub(super) struct Sleeper {
    role: Role,
    /// Number of times that the role has slept, multiplied by [`SLEEP`].
    sleeps: u32,
    /// `true` if the role is the reader. Its long sleeps are on the socket; two roles would clear
    /// each other's notifications.
    reads: bool,
    spin: Spin,
}

impl Sleeper {
    pub(super) fn reader(spin: Spin) -> Self {
        Self {
            role: READER,
            sleeps: 0,
            reads: true,
            spin,
        }
    }

    /// Makes the writer's sleeper, which waits for room that a reading peer makes soon.
    pub(super) fn writer(spin: Spin) -> Self {
        Self {
            role: WRITER,
            sleeps: 0,
            reads: false,
            spin,
        }
    }

    /// Waits until `ready`.
    ///
    /// # Errors
    /// [`Cause::Closed`] when either side has closed or the peer has died, and `ready` is false;
    /// [`Cause::TimedOut`].
    pub(super) fn wait(
        &mut self,
        ends: &Ends,
        deadline: Deadline,
        ready: impl Fn() -> bool,
    ) -> Result<(), Cause> {
        if ready() {
            return Ok(());
        }
        let polled = self.reads && ends.polled;
        if !polled && !self.shares_processor(ends) {
            let look = || (ready() || ends.is_closed()).then_some(());
            if self.spin.spin_on(look).is_some() && ready() {
                return Ok(());
            }
        }
        let outcome = self.sleep(ends, deadline, polled, ready);
        // A reactor's sleep continues when there was nothing. Otherwise a peer that still sees it
        // changes a doorbell that no thread waits for: the next sleep has its own.
        if !(polled && matches!(outcome, Err(Cause::TimedOut))) {
            ends.mine[self.role.sleep].store(AWAKE, Ordering::Relaxed);
        }
        outcome
    }

    /// Returns whether the peer's thread last waited on this thread's processor, where it cannot
    /// run while this one spins. A mere hint, which affects only spinning.
    fn shares_processor(&self, ends: &Ends) -> bool {
        if self.spin.is_off() {
            return true;
        }
        let own = u32::try_from(processor::current()).map_or(0, |number| number.wrapping_add(1));
        if self.reads && ends.mine[PROCESSOR].load(Ordering::Relaxed) != own {
            ends.mine[PROCESSOR].store(own, Ordering::Relaxed);
        }
        ends.theirs.load(PROCESSOR) == own
    }

    fn sleep(
        &mut self,
        ends: &Ends,
        deadline: Deadline,
        polled: bool,
        ready: impl Fn() -> bool,
    ) -> Result<(), Cause> {
        if polled {
            // The notification that led here. The next one comes only for the sleep that begins
            // below.
            passing::clear(&ends.socket);
        }
        let mut by_socket = polled;
        let mut gone = false;
        loop {
            let doorbell = ends.theirs.load_acquire(self.role.doorbell);
            let how = if by_socket { BY_SOCKET } else { BY_FUTEX };
            self.sleeps = self.sleeps.wrapping_add(SLEEP);
            ends.mine[self.role.sleep].store(self.sleeps | how, Ordering::Relaxed);
            // Pairs with the fence in `Waker::wake`.
            fence(Ordering::SeqCst);
            // The end is checked first: data sent before it counts.
            let ended = gone || ends.has_ended();
            if ready() {
                return Ok(());
            }
            if ended {
                return Err(Cause::Closed);
            }
            let left = deadline.remaining();
            gone = if left.is_some_and(|left| left.is_zero()) {
                // A reactor may have been woken by the end alone.
                if !polled || !ends.peer_is_gone() {
                    return Err(Cause::TimedOut);
                }
                true
            } else if by_socket {
                ends.sleep_on_socket(left)
            } else {
                let woken = ends.sleep_on_futex(self.role, doorbell, left);
                by_socket = self.reads && !woken;
                !woken && ends.peer_is_gone()
            };
        }
    }
}
