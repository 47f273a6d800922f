//! Which threads lead, and which follow.
//!
//! *Leaders* wait in the reactor's `epoll`. The threads of the pool always do, as many as are idle. A
//! thread that waits for something that an event will bring (a reply) leads only when nobody else does;
//! otherwise it is parked, a *follower*. The last leader that resigns promotes a follower. So there is a
//! thread to see the next event while any thread waits for one, and whoever serves an event wakes the
//! thread that waits for what it brought, whether that leads or follows.
//!
//! How many lead and how many follow stands in one word, so that resigning and following have an order:
//! the last leader learns by the same exchange whether anybody follows, and a follower whether anybody
//! leads.

use crate::sync::{Arc, AtomicU32, AtomicU64, Mutex, Ordering, Parker, lock};
use std::fmt;
use std::time::Duration;

/// What wakes a thread that waits in `epoll`.
pub trait Notify {
    /// Wakes it, now or when it next waits. May be called once too often.
    fn notify(&self);
}

/// Running: it looks at what it waits for before it waits.
const RUNNING: u32 = 0;
/// Parked, a follower.
const PARKED: u32 = 1;
/// Waits in `epoll`, a leader.
const POLLING: u32 = 2;
/// Was told to look again.
const NOTIFIED: u32 = 3;

/// A thread that waits, as those see it who bring what it waits for. `N` wakes it from `epoll`.
pub struct Waiter<N> {
    state: AtomicU32,
    parker: Parker,
    notify: N,
}

impl<N: Notify> Waiter<N> {
    /// The calling thread, which `notify` wakes while it waits in `epoll`.
    #[must_use]
    pub fn own(notify: N) -> Self {
        Self {
            state: AtomicU32::new(RUNNING),
            parker: Parker::own(),
            notify,
        }
    }

    /// What wakes it while it waits in `epoll`.
    #[must_use]
    pub fn notifier(&self) -> &N {
        &self.notify
    }

    /// Makes it look again at what it waits for, which was stored before. From any thread; enters the
    /// kernel only where the thread is blocked.
    pub fn wake(&self) {
        // AcqRel: what was stored before is seen by the thread when it looks again.
        match self.state.swap(NOTIFIED, Ordering::AcqRel) {
            PARKED => self.parker.unpark(),
            POLLING => self.notify.notify(),
            _ => {}
        }
    }

    /// Begins a look at what it waits for: a [`Waiter::wake`] from here on makes the next wait end at once.
    pub fn look(&self) {
        self.state.swap(RUNNING, Ordering::AcqRel);
    }

    /// Whether it may wait in `epoll`; not when it was told to look again.
    #[must_use]
    pub fn begin_polling(&self) -> bool {
        self.begin(POLLING)
    }

    fn begin(&self, wait: u32) -> bool {
        self.state
            .compare_exchange(RUNNING, wait, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

impl<N> fmt::Debug for Waiter<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").finish_non_exhaustive()
    }
}

/// How many threads lead, and which follow.
pub struct Leadership<N> {
    /// How many follow above, how many lead below.
    counts: AtomicU64,
    followers: Mutex<Vec<Arc<Waiter<N>>>>,
}

/// One leader, and one follower.
const LEADER: u64 = 1;
const FOLLOWER: u64 = 1 << 32;

fn leaders(counts: u64) -> u64 {
    counts & (FOLLOWER - 1)
}

fn followers(counts: u64) -> u64 {
    counts / FOLLOWER
}

impl<N: Notify> Leadership<N> {
    /// Nobody leads, nobody follows.
    #[must_use]
    pub fn new() -> Self {
        Self {
            counts: AtomicU64::new(0),
            followers: Mutex::new(Vec::new()),
        }
    }

    /// How many lead.
    #[must_use]
    pub fn leaders(&self) -> u64 {
        leaders(self.counts.load(Ordering::SeqCst))
    }

    /// The calling thread leads, whoever else does.
    pub fn join(&self) {
        self.counts.fetch_add(LEADER, Ordering::SeqCst);
    }

    /// The calling thread leads if nobody does; whether it does.
    #[must_use]
    pub fn try_lead(&self) -> bool {
        let lead = |counts| (leaders(counts) == 0).then_some(counts + LEADER);
        self.counts
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, lead)
            .is_ok()
    }

    /// The calling thread leads no more. False when nobody leads then, and there was no follower to
    /// promote.
    pub fn resign(&self) -> bool {
        let before = self.counts.fetch_sub(LEADER, Ordering::SeqCst);
        self.promote_after(before - LEADER)
    }

    /// Promotes a follower, if there is one and nobody leads; false when nobody leads and nobody follows.
    /// Also for a thread that was promoted and does not wait any more.
    pub fn promote(&self) -> bool {
        self.promote_after(self.counts.load(Ordering::SeqCst))
    }

    fn promote_after(&self, counts: u64) -> bool {
        if leaders(counts) > 0 {
            return true;
        }
        if followers(counts) == 0 {
            return false;
        }
        match self.remove(Vec::pop) {
            Some(next) => {
                next.wake();
                true
            }
            None => false,
        }
    }

    /// Parks the calling thread until it is woken, promoted, or `left` has passed; not at all if it was
    /// told to look again, or nobody leads.
    pub fn follow(&self, waiter: &Arc<Waiter<N>>, left: Option<Duration>) {
        let before = {
            let mut followers = lock(&self.followers);
            followers.push(waiter.clone());
            self.counts.fetch_add(FOLLOWER, Ordering::SeqCst)
        };
        if leaders(before) > 0 && waiter.begin(PARKED) {
            waiter.parker.park(left);
        }
        // It is not in the list any more when it was promoted.
        self.remove(|followers| {
            let at = followers.iter().position(|one| Arc::ptr_eq(one, waiter))?;
            Some(followers.swap_remove(at))
        });
    }

    /// Wakes every follower.
    pub fn wake_all(&self) {
        for waiter in lock(&self.followers).iter() {
            waiter.wake();
        }
    }

    fn remove(
        &self,
        which: impl FnOnce(&mut Vec<Arc<Waiter<N>>>) -> Option<Arc<Waiter<N>>>,
    ) -> Option<Arc<Waiter<N>>> {
        let mut followers = lock(&self.followers);
        let removed = which(&mut followers)?;
        self.counts.fetch_sub(FOLLOWER, Ordering::SeqCst);
        Some(removed)
    }
}

impl<N: Notify> Default for Leadership<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<N> fmt::Debug for Leadership<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leadership").finish_non_exhaustive()
    }
}
