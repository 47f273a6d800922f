//! Who of a connection's callers reads it, and who wakes whom.
//!
//! One caller at a time holds what is read from. Whoever finds it free reads, passes on what is not its
//! own, and lets the next one read after that. A caller says that it waits before it looks whether
//! somebody reads, and a reader looks for those who wait after it has let go, so no caller is left
//! waiting with nobody reading: either it finds the connection free, or the reader that held it finds
//! the caller. One that still sends is not promoted; it looks for itself when it comes to wait.
//!
//! Nothing here knows what is read: the models (`tests/models`) run this very code.

use super::reply_table::{ReplyPlace, ReplyTable};
use super::slot::{LeftBehind, Woken};
use crate::sync::{self, AtomicBool, AtomicU64, Mutex, MutexGuard, Ordering, fence};
use punctual_exec::Deadline;
use std::cell::Cell;

const FOLLOWER: u64 = 1;
const WATCHER: u64 = 1 << 32;

/// The callers of one connection. `R` is what is read from, `T` what is delivered.
#[derive(Debug)]
pub(crate) struct Callers<R, T> {
    /// Held by the one that reads.
    reader: Mutex<R>,
    table: ReplyTable<T>,
    /// How many wait while another reads ([`FOLLOWER`] each), or are told of what has come without waiting ([`WATCHER`]).
    others: AtomicU64,
    /// Whether something may be there to be read that those want who do not wait.
    unread: AtomicBool,
    /// Whether the last one to leave closes the connection.
    retired: AtomicBool,
    /// Requests of the other side's that this one serves: none leaves before they are answered.
    served: AtomicU64,
}

/// One of them, from its request to its reply.
#[derive(Debug)]
pub(crate) struct Caller<'c, T> {
    pub(crate) place: ReplyPlace<'c, T>,
    /// Whether it has read its own reply, and ended its slot with that.
    has_read: Cell<bool>,
    /// Whether it leaves though its reply may come yet.
    is_abandoned: Cell<bool>,
}

/// What a caller comes to that waits while another reads.
#[derive(Debug)]
pub(crate) enum Followed<'c, R, T> {
    Delivered(T),
    /// It is this one's turn to read.
    Reads(MutexGuard<'c, R>),
    TimedOut,
}

impl<T> Caller<'_, T> {
    /// The caller, who reads, has its own reply. Nothing is delivered to it any more: the reader it is
    /// itself would do that.
    #[inline]
    pub(crate) fn end_with_own_reply(&self) {
        self.place.slot.end_as_reader();
        self.has_read.set(true);
    }
}

impl<T> Caller<'_, T> {
    /// The caller waits no more for a reply that may come yet: its id is not another's before that.
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

    /// Those of the side that has not opened the connection. None of them reads: who reads for the other side does.
    pub(crate) fn of_other_side(reader: R) -> Self {
        let this = Self {
            table: ReplyTable::odd(),
            ..Self::of(reader)
        };
        // Held for good.
        std::mem::forget(sync::try_lock(&this.reader));
        this
    }

    /// One more; `None` when too many wait already.
    #[inline]
    pub(crate) fn register(&self) -> Option<Caller<'_, T>> {
        Some(Caller {
            place: self.table.register()?,
            has_read: Cell::new(false),
            is_abandoned: Cell::new(false),
        })
    }

    /// The place of one that has been put away.
    pub(crate) fn place(&self, id: u32) -> Option<ReplyPlace<'_, T>> {
        self.table.place(id)
    }

    /// One that has been put away, and is there again.
    pub(crate) fn registered(&self, id: u32) -> Option<Caller<'_, T>> {
        Some(Caller {
            place: self.table.place(id)?,
            has_read: Cell::new(false),
            is_abandoned: Cell::new(false),
        })
    }

    /// One leaves: what comes for it later finds nobody. `true` when the connection is to be closed.
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

    /// One leaves that has read its own reply ([`Caller::end_with_own_reply`]). `true` when the connection is to be
    /// closed.
    #[inline]
    pub(crate) fn leave_with_its_own(&self, caller: &Caller<'_, T>) -> bool {
        self.table.give_back(caller.place.id);
        self.is_over()
    }

    /// One leaves whose reply may come yet. It is owed before the slot ends: a reply that comes after that settles
    /// it, and one that has come before is found here.
    #[cold]
    fn leave_owed(&self, caller: &Caller<'_, T>) {
        self.table.keep_owed(caller.place.id);
        match caller.place.slot.end() {
            LeftBehind::Nothing => {}
            LeftBehind::Reading => self.promote_another(),
            LeftBehind::Content => self.table.settle_owed(caller.place.id),
        }
    }

    /// The last one to leave is to close the connection. `true` when there is none.
    pub(crate) fn retire(&self) -> bool {
        self.retired.store(true, Ordering::SeqCst);
        self.is_over()
    }

    /// A request of the other side's is to be served here.
    pub(crate) fn begins_serving(&self) {
        self.served.fetch_add(1, Ordering::SeqCst);
    }

    /// It has been. `true` when the connection is to be closed.
    pub(crate) fn ends_serving(&self) -> bool {
        self.served.fetch_sub(1, Ordering::SeqCst);
        self.is_over()
    }

    /// Of the last call that ends and whoever retires the connection, one sees what the other did.
    #[inline]
    fn is_over(&self) -> bool {
        self.retired.load(Ordering::SeqCst)
            && self.table.is_idle()
            && self.served.load(Ordering::SeqCst) == 0
    }

    /// How many replies may come yet whose callers have given up.
    pub(crate) fn owed(&self) -> u32 {
        self.table.owed()
    }

    /// Whether there is one, as far as a glance tells.
    #[inline]
    pub(crate) fn has_any(&self) -> bool {
        self.table.is_taken()
    }

    /// Whether nobody is there.
    pub(crate) fn is_idle(&self) -> bool {
        self.table.is_idle()
    }

    /// What is read from, if nobody reads.
    #[inline]
    pub(crate) fn read(&self) -> Option<MutexGuard<'_, R>> {
        sync::try_lock(&self.reader)
    }

    /// The same. Who reads is asked to say so when it is done.
    pub(crate) fn read_or_leave_unread(&self) -> Option<MutexGuard<'_, R>> {
        self.read().or_else(|| {
            self.leave_unread();
            // It may be done meanwhile.
            self.read()
        })
    }

    /// Lets go of what is read from, and has another read, if one waits. `true` where none does, and somebody may watch
    /// for what comes.
    #[inline]
    pub(crate) fn hand_on(&self, reader: MutexGuard<'_, R>) -> bool {
        drop(reader);
        self.promote()
    }

    #[inline]
    fn promote(&self) -> bool {
        // Pairs with the fences in `follow` and `begin_watch`: either this side sees that one waits, or that one sees
        // that nobody reads.
        fence(Ordering::SeqCst);
        let others = self.others.load(Ordering::Relaxed);
        others > 0 && self.promote_of(others)
    }

    fn promote_of(&self, others: u64) -> bool {
        let has_followers = !others.is_multiple_of(WATCHER);
        !(has_followers && self.table.promote_one()) && others >= WATCHER
    }

    /// One that was to read does not.
    #[cold]
    fn promote_another(&self) {
        if !self.table.promote_one() {
            self.leave_unread();
        }
    }

    /// Something may be there that nobody has read.
    pub(crate) fn leave_unread(&self) {
        self.unread.store(true, Ordering::SeqCst);
    }

    /// Whether something may be there that nobody has read, and is wanted by one who does not wait: it is for the caller of
    /// this to have it read.
    pub(crate) fn take_unread(&self) -> bool {
        fence(Ordering::SeqCst);
        self.others.load(Ordering::Relaxed) >= WATCHER && self.unread.swap(false, Ordering::SeqCst)
    }

    /// One is told of its reply, and does not wait: from now on [`Callers::hand_on`] says where nobody reads.
    pub(crate) fn begin_watch(&self) {
        // Relaxed: the fence orders it.
        self.others.fetch_add(WATCHER, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }

    /// It watches no more.
    pub(crate) fn end_watch(&self) {
        self.others.fetch_sub(WATCHER, Ordering::Relaxed);
    }

    /// Wakes who watches for this reply, though it has not come.
    pub(crate) fn wake_watcher(&self, id: u32) {
        self.table.wake_watcher(id);
    }

    /// Waits while another reads, until it is this one's turn.
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
            // Pairs with the one in `promote`.
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
        // One that reads waits no more.
        self.others.fetch_sub(FOLLOWER, Ordering::Relaxed);
        followed
    }

    /// Delivers to whoever waits for this reply; `false` when nobody does.
    pub(crate) fn deliver(&self, id: u32, content: T) -> bool {
        self.table.deliver(id, content)
    }

    /// Delivers to all that are there, where `may_replace` allows it in place of what they have.
    pub(crate) fn deliver_to_all(&self, content: impl Fn() -> T, may_replace: impl Fn(&T) -> bool) {
        self.table.deliver_to_all(content, may_replace);
    }
}
