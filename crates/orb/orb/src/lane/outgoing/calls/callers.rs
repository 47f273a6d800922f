//! Coordination of a connection's callers: which of them reads, and how the others are woken.
//!
//! One caller at a time holds the reader, the object that is read from. A caller that finds it free
//! reads, passes on what is for others, and then makes the next caller read. A caller announces
//! that it waits before it checks whether another reads, and a caller that has read looks for
//! waiting callers after it has released the reader. So it cannot happen that callers wait while
//! none reads: either the waiting caller finds the reader free, or the caller that held it finds
//! the waiting one. A caller that is still sending is not chosen to read; it checks for itself when
//! it begins to wait.
//!
//! The code is generic in the reader, so that the model-checking tests (`tests/models`) run this
//! code itself.

use super::reply_table::{ReplyPlace, ReplyTable};
use super::slot::{LeftBehind, Woken};
use crate::sync::{self, AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, fence};
use punctual_exec::Deadline;
use std::cell::Cell;

const FOLLOWER: u64 = 1;
const WATCHER: u64 = 1 << 32;

/// Callers of one connection. `R` is the type that is read from, `T` the type that is delivered.
#[derive(Debug)]
pub(crate) struct Callers<R, T> {
    /// Reader of the connection, locked by the caller that currently reads.
    reader: Mutex<R>,
    table: ReplyTable<T>,
    /// Number of callers that wait while another reads ([`FOLLOWER`] each), or that are notified without waiting ([`WATCHER`]).
    others: AtomicU64,
    /// True if there may be unread data for callers that do not wait.
    unread: AtomicBool,
    /// True if the last caller to leave closes the connection.
    retired: AtomicBool,
    /// Number of the other side's requests being served: the connection stays open until they are
    /// answered.
    served: AtomicU64,
}

/// One caller on a connection, from the request to the reply.
#[derive(Debug)]
pub(crate) struct Caller<'c, T> {
    pub(crate) place: ReplyPlace<'c, T>,
    /// True if the caller has its reply, and its slot is released.
    has_read: Cell<bool>,
    /// True if the caller stops waiting although its reply may still arrive.
    is_abandoned: Cell<bool>,
}

/// Result of a caller's wait while another caller reads.
#[derive(Debug)]
pub(crate) enum Followed<'c, R, T> {
    Delivered(T),
    /// The waiting caller now has to read from the connection.
    Reads(MutexGuard<'c, R>),
    TimedOut,
}

impl<T> Caller<'_, T> {
    /// Releases the slot of the caller that reads and has read its own reply. Only the reading
    /// caller delivers, so nothing more can be delivered to the slot.
    #[inline]
    pub(crate) fn end_with_own_reply(&self) {
        self.place.slot.end_as_reader();
        self.has_read.set(true);
    }
}

impl<T> Caller<'_, T> {
    /// Takes what has been delivered, if something has, and releases the slot with it.
    pub(crate) fn end_with_delivery(&self) -> Option<T> {
        let content = self.place.slot.end_with_content()?;
        self.has_read.set(true);
        Some(content)
    }

    /// Marks the call as abandoned: its id is not given to another call before the reply has
    /// arrived.
    #[cold]
    pub(crate) fn abandon(&self) {
        self.is_abandoned.set(true);
    }
}

impl<R, T> Callers<R, T> {
    pub(crate) fn of(reader: R) -> Self {
        Self {
            reader: Mutex::new(reader),
            table: ReplyTable::default(),
            others: AtomicU64::new(0),
            unread: AtomicBool::new(false),
            retired: AtomicBool::new(false),
            served: AtomicU64::new(0),
        }
    }

    /// Makes the callers for calls over an incoming connection. None of them reads: the server's
    /// reading thread does.
    pub(crate) fn accepting_side(reader: R) -> Self {
        let this = Self {
            table: ReplyTable::odd(),
            ..Self::of(reader)
        };
        // Locked permanently.
        std::mem::forget(sync::try_lock(&this.reader));
        this
    }

    /// Adds a caller; returns `None` if too many already wait.
    #[inline(always)]
    pub(crate) fn register(&self) -> Option<Caller<'_, T>> {
        Some(Caller {
            place: self.table.register()?,
            has_read: Cell::new(false),
            is_abandoned: Cell::new(false),
        })
    }

    /// Returns the reply table's entry for a suspended call.
    pub(crate) fn place(&self, id: u32) -> Option<ReplyPlace<'_, T>> {
        self.table.place(id)
    }

    /// Returns the caller of a suspended call that is being resumed.
    pub(crate) fn registered(&self, id: u32) -> Option<Caller<'_, T>> {
        Some(Caller {
            place: self.table.place(id)?,
            has_read: Cell::new(false),
            is_abandoned: Cell::new(false),
        })
    }

    /// Removes a caller: later deliveries to it are dropped. Returns `true` if the connection is to
    /// be closed.
    #[inline]
    pub(crate) fn leave(&self, caller: &Caller<'_, T>) -> bool {
        if caller.is_abandoned.get() {
            self.leave_owed(caller);
            return self.is_over();
        }
        let was_promoted = !caller.has_read.get() && caller.place.slot.end() == LeftBehind::Reading;
        self.table.give_back(caller.place.id);
        if was_promoted {
            self.promote_another();
        }
        self.is_over()
    }

    /// Removes a caller that has read its own reply ([`Caller::end_with_own_reply`]). Returns
    /// `true` if the connection is to be closed.
    #[inline]
    pub(crate) fn leave_with_its_own(&self, caller: &Caller<'_, T>) -> bool {
        self.table.give_back(caller.place.id);
        self.is_over()
    }

    /// Removes a caller whose reply may still arrive. The reply is marked as owed before the slot
    /// ends: a reply that arrives afterwards settles it, and one that arrived before is found here.
    #[cold]
    fn leave_owed(&self, caller: &Caller<'_, T>) {
        self.table.keep_owed(caller.place.id);
        match caller.place.slot.end() {
            LeftBehind::Nothing => {}
            LeftBehind::Reading => self.promote_another(),
            LeftBehind::Content => self.table.settle_owed(caller.place.id),
        }
    }

    /// Makes the last caller to leave close the connection. Returns `true` if there is no caller.
    pub(crate) fn retire(&self) -> bool {
        self.retired.store(true, Ordering::SeqCst);
        self.is_over()
    }

    /// Counts a request of the other side that is being served.
    pub(crate) fn begins_serving(&self) {
        self.served.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends the count of a served request of the other side. Returns `true` if the connection is to
    /// be closed.
    pub(crate) fn ends_serving(&self) -> bool {
        self.served.fetch_sub(1, Ordering::SeqCst);
        self.is_over()
    }

    /// Returns `true` if the connection is retired and unused. Of the last call that ends and the
    /// thread that retires the connection, at least one sees what the other did.
    #[inline]
    fn is_over(&self) -> bool {
        self.retired.load(Ordering::SeqCst)
            && self.table.is_idle()
            && self.served.load(Ordering::SeqCst) == 0
    }

    /// Returns the number of outstanding replies to abandoned calls.
    pub(crate) fn owed(&self) -> u32 {
        self.table.owed()
    }

    /// Returns `true` if there is a caller, by a cheap and inexact test.
    #[inline]
    pub(crate) fn has_any(&self) -> bool {
        self.table.is_taken()
    }

    /// Returns whether no caller uses the connection.
    pub(crate) fn is_idle(&self) -> bool {
        self.table.is_idle()
    }

    /// Locks the connection's reader, if no other caller holds the lock.
    #[inline]
    pub(crate) fn read(&self) -> Option<MutexGuard<'_, R>> {
        sync::try_lock(&self.reader)
    }

    /// Takes the reader, or asks the caller that holds it to report when it is done.
    pub(crate) fn read_or_leave_unread(&self) -> Option<MutexGuard<'_, R>> {
        self.read().or_else(|| {
            self.leave_unread();
            // The holder may be done by now.
            self.read()
        })
    }

    /// Releases the reader, and makes another caller read if one waits. Returns `true` if none
    /// waits but some are to be notified of their replies by a watcher.
    #[inline]
    pub(crate) fn hand_on(&self, reader: MutexGuard<'_, R>) -> bool {
        drop(reader);
        self.promote()
    }

    #[inline]
    fn promote(&self) -> bool {
        // Pairs with the fences in `follow` and `begin_watch`: either this thread sees that a
        // caller waits, or that one sees that none reads.
        fence(Ordering::SeqCst);
        let others = self.others.load(Ordering::Relaxed);
        others > 0 && self.promote_of(others)
    }

    fn promote_of(&self, others: u64) -> bool {
        let has_followers = !others.is_multiple_of(WATCHER);
        !(has_followers && self.table.promote_one()) && others >= WATCHER
    }

    /// Chooses another caller to read, in place of one that was chosen and does not read.
    #[cold]
    fn promote_another(&self) {
        if !self.table.promote_one() {
            self.leave_unread();
        }
    }

    /// Records that there may be data that no caller has read.
    pub(crate) fn leave_unread(&self) {
        self.unread.store(true, Ordering::SeqCst);
    }

    /// Returns `true`, once, if there may be unread data for a caller that does not wait. The
    /// caller of this function must have it read.
    pub(crate) fn take_unread(&self) -> bool {
        fence(Ordering::SeqCst);
        self.others.load(Ordering::Relaxed) >= WATCHER && self.unread.swap(false, Ordering::SeqCst)
    }

    /// Counts a caller that is notified of its reply and does not wait: [`Callers::hand_on`] then
    /// reports when none reads.
    pub(crate) fn begin_watch(&self) {
        // Relaxed: the fence orders it.
        self.others.fetch_add(WATCHER, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// Ends the count of a caller that was notified of its reply by a watcher.
    pub(crate) fn end_watch(&self) {
        self.others.fetch_sub(WATCHER, Ordering::Relaxed);
    }

    /// Wakes the watcher for this reply although the reply has not arrived.
    pub(crate) fn wake_watcher(&self, id: u32) {
        self.table.wake_watcher(id);
    }

    /// Waits while another caller reads, until this one is chosen to read or has its reply.
    pub(crate) fn follow(
        &self,
        caller: &Caller<'_, T>,
        deadline: Deadline,
        falls_asleep: impl Fn(),
    ) -> Followed<'_, R, T> {
        let slot = caller.place.slot;
        // Relaxed: the fences order it.
        self.others.fetch_add(FOLLOWER, Ordering::Relaxed);
        let followed = loop {
            slot.will_wait();
            // Pairs with the fence in `promote`.
            fence(Ordering::SeqCst);
            if let Some(reader) = self.read() {
                slot.stop_waiting();
                break Followed::Reads(reader);
            }
            falls_asleep();
            match slot.sleep(deadline) {
                Woken::Delivered(content) => break Followed::Delivered(content),
                Woken::Promoted => {}
                Woken::TimedOut => {
                    if slot.stop_waiting() {
                        self.promote_another();
                    }
                    break Followed::TimedOut;
                }
            }
        };
        // A caller that reads no longer waits.
        self.others.fetch_sub(FOLLOWER, Ordering::Relaxed);
        followed
    }

    /// Delivers to the caller that waits for this reply; returns `false` if there is none.
    pub(crate) fn deliver(&self, id: u32, content: T) -> bool {
        self.table.deliver(id, content)
    }

    /// Delivers to all callers. `may_replace` decides whether an earlier delivery is replaced.
    pub(crate) fn deliver_to_all(&self, content: impl Fn() -> T, may_replace: impl Fn(&T) -> bool) {
        self.table.deliver_to_all(content, may_replace);
    }
}
