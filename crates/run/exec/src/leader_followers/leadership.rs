//! Leaders and followers among the threads of a reactor.
//!
//! *Leaders* wait in the reactor's `epoll`. The idle threads of the pool always do. A thread that
//! waits for something that an event will bring (a reply) leads only while no other thread does;
//! otherwise it is parked, a *follower*. The last leader that resigns promotes a follower. So some
//! thread sees the next event while any thread waits for one, and the thread that serves an event
//! wakes the thread that waits for its outcome, leader or follower.
//!
//! One word holds the numbers of leaders and followers, so that resigning and following are
//! ordered: by the same exchange the last leader learns whether a follower exists, and a follower
//! whether a leader does.

use crate::sync::{Arc, AtomicU32, AtomicU64, Mutex, Ordering, Parker, fence, lock};
use std::fmt;
use std::time::Duration;

/// Means to wake a thread that waits in `epoll`.
pub trait Notify {
    /// Wakes the thread, now or when it next waits. Spurious calls are harmless.
    fn notify(&self);
}

/// State of a running thread, which checks its condition before it waits.
const RUNNING: u32 = 0;
/// State of a follower, a thread that is parked until it is woken.
const PARKED: u32 = 1;
/// State of a thread that waits in `epoll`, a leader.
const POLLING: u32 = 2;
/// State of a thread that was woken and must re-check its condition.
const NOTIFIED: u32 = 3;

/// Waiting thread, as seen by the threads that wake it. `N` wakes it from `epoll`.
pub struct Waiter<N> {
    state: AtomicU32,
    parker: Parker,
    notify: N,
}

impl<N: Notify> Waiter<N> {
    /// Makes the waiter of the calling thread; `notify` wakes it while it waits in `epoll`.
    #[must_use]
    pub fn own(notify: N) -> Self {
        Self {
            state: AtomicU32::new(RUNNING),
            parker: Parker::own(),
            notify,
        }
    }

    /// Returns the object that wakes the thread while it waits in `epoll`.
    #[must_use]
    pub fn notifier(&self) -> &N {
        &self.notify
    }

    /// Makes the thread re-check its condition, which the caller stored before. May be called from
    /// any thread; enters the kernel only where the waiter is blocked.
    pub fn wake(&self) {
        // AcqRel: the waiter sees what was stored before when it re-checks its condition.
        match self.state.swap(NOTIFIED, Ordering::AcqRel) {
            PARKED => self.parker.unpark(),
            POLLING => self.notify.notify(),
            _ => {}
        }
    }

    /// Begins a check of the condition: a later [`Waiter::wake`] makes the next wait end at once.
    pub fn look(&self) {
        self.state.swap(RUNNING, Ordering::AcqRel);
    }

    /// Returns `true` if the thread may wait in `epoll`, `false` if it was woken and must re-check
    /// its condition.
    #[must_use]
    pub fn begin_polling(&self) -> bool {
        self.begin(POLLING)
    }

    /// Ends the wait in `epoll` that was begun, as [`Waiter::look`] does. Returns whether a thread has
    /// called [`Notify::notify`] for it, or is about to.
    #[must_use]
    pub fn end_polling(&self) -> bool {
        self.state.swap(RUNNING, Ordering::AcqRel) == NOTIFIED
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

/// Number of leaders, and list of followers, of a leader/followers pool.
pub struct Leadership<N> {
    /// Number of leaders in the lowest 20 bits, of followers in the next 20, of rounds in the rest, which wrap.
    counts: AtomicU64,
    followers: Mutex<Vec<Arc<Waiter<N>>>>,
}

/// Increments of the counts for one leader, one follower and one round.
const LEADER: u64 = 1;
const FOLLOWER: u64 = 1 << 20;
const ROUND: u64 = 1 << 40;

fn leaders(counts: u64) -> u64 {
    counts & (FOLLOWER - 1)
}

fn followers(counts: u64) -> u64 {
    (counts / FOLLOWER) & (FOLLOWER - 1)
}

impl<N: Notify> Leadership<N> {
    /// Makes the state of a pool that has no leaders and no followers yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            counts: AtomicU64::new(0),
            followers: Mutex::new(Vec::new()),
        }
    }

    /// Returns the number of leaders in the pool.
    #[must_use]
    pub fn leaders(&self) -> u64 {
        leaders(self.counts.load(Ordering::SeqCst))
    }

    /// Returns the number of rounds, modulo 2^24: each [`Leadership::join`] and each
    /// [`Leadership::go_on`] begins one. Unchanged between two calls if no thread has finished a
    /// piece of work in between.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.counts.load(Ordering::SeqCst) / ROUND
    }

    /// Makes the calling thread a leader, in addition to any others; returns their number. A thread
    /// that looks into a queue after this, and finds nothing, is one that
    /// [`Leadership::must_be_told`] counts.
    pub fn join(&self) -> u64 {
        let before = self.counts.fetch_add(LEADER + ROUND, Ordering::SeqCst);
        // With the fence of `must_be_told`: either this thread sees what was queued, or it is seen.
        fence(Ordering::SeqCst);
        leaders(before)
    }

    /// Returns whether there may be leaders that have not seen what the caller has just queued, so
    /// that one of them must be woken.
    #[must_use]
    pub fn must_be_told(&self) -> bool {
        fence(Ordering::SeqCst);
        self.leaders() > 0
    }

    /// Counts a round of a thread that has finished one piece of work and goes on with the next.
    pub fn go_on(&self) {
        // Relaxed: only the number matters.
        self.counts.fetch_add(ROUND, Ordering::Relaxed);
    }

    /// Makes the calling thread the leader if there is none; returns whether it did. It then looks
    /// into queues as after [`Leadership::join`].
    #[must_use]
    pub fn try_lead(&self) -> bool {
        let lead = |counts| (leaders(counts) == 0).then_some(counts + LEADER);
        let led = self
            .counts
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, lead)
            .is_ok();
        // As in `join`.
        fence(Ordering::SeqCst);
        led
    }

    /// Ends the calling thread's leadership. Returns `false` if no leader is left and there was no
    /// follower to promote.
    pub fn resign(&self) -> bool {
        let before = self.counts.fetch_sub(LEADER, Ordering::SeqCst);
        self.promote_after(before - LEADER)
    }

    /// Promotes a follower if there is one and no leader; returns `false` if there is neither
    /// leader nor follower. Also called by a thread that was promoted and no longer waits.
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

    /// Parks the calling thread until it is woken, promoted, or `left` has passed. Returns at once
    /// if the thread was woken before, or there is no leader.
    pub fn follow(&self, waiter: &Arc<Waiter<N>>, left: Option<Duration>) {
        let before = {
            let mut followers = lock(&self.followers);
            followers.push(waiter.clone());
            self.counts.fetch_add(FOLLOWER, Ordering::SeqCst)
        };
        if leaders(before) > 0 && waiter.begin(PARKED) {
            waiter.parker.park(left);
        }
        // A promoted thread has left the list already.
        self.remove(|followers| {
            let at = followers.iter().position(|one| Arc::ptr_eq(one, waiter))?;
            Some(followers.swap_remove(at))
        });
    }

    /// Wakes all followers of the pool.
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
