//! Who waits for events, and who waits for those who do.
//!
//! Threads of the reactor *sit*: they wait in `epoll`. A thread that waits for something that an event
//! will bring (a reply) sits only when nobody else does; otherwise it sleeps, a *follower*. Whoever rises
//! last from sitting wakes a follower, who sits in its place. So there is somebody to see the next event
//! while anybody waits for one, and what was brought wakes the one who waits for it, wherever that is.
//!
//! How many sit and how many follow stands in one word, so that of rising and following one comes first:
//! whoever rises last learns by the same exchange whether somebody follows, and whoever follows whether
//! somebody sits.

use crate::sync::{Arc, AtomicU32, AtomicU64, Bed, Mutex, Ordering, lock};
use std::fmt;
use std::time::Duration;

/// What wakes a thread that sits.
pub trait Ring {
    /// Wakes it, now or when it next sits. May be rung once too often.
    fn ring(&self);
}

/// Awake: it looks at what it waits for before it sleeps.
const AWAKE: u32 = 0;
/// Sleeps in its bed.
const ASLEEP: u32 = 1;
/// Sits.
const SEATED: u32 = 2;
/// Was told to look again.
const TOLD: u32 = 3;

/// A thread that waits, as those see it who bring what it waits for.
pub struct Waiter<B> {
    state: AtomicU32,
    bed: Bed,
    bell: B,
}

impl<B: Ring> Waiter<B> {
    /// The calling thread, which is woken by `bell` while it sits.
    #[must_use]
    pub fn own(bell: B) -> Self {
        Self {
            state: AtomicU32::new(AWAKE),
            bed: Bed::own(),
            bell,
        }
    }

    /// What wakes it while it sits.
    #[must_use]
    pub fn bell(&self) -> &B {
        &self.bell
    }

    /// Makes it look again at what it waits for, which was stored before. From any thread; enters the
    /// kernel only where it sleeps.
    pub fn wake(&self) {
        // AcqRel: what was stored before is seen by the thread when it looks again.
        match self.state.swap(TOLD, Ordering::AcqRel) {
            ASLEEP => self.bed.wake(),
            SEATED => self.bell.ring(),
            _ => {}
        }
    }

    /// Begins a look: whoever has something to tell from here on makes the next rest end at once.
    pub fn look(&self) {
        self.state.swap(AWAKE, Ordering::AcqRel);
    }

    /// Whether it may sit down to wait; not when it was told to look again.
    #[must_use]
    pub fn sit(&self) -> bool {
        self.rest_as(SEATED)
    }

    fn rest_as(&self, how: u32) -> bool {
        self.state
            .compare_exchange(AWAKE, how, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

impl<B> fmt::Debug for Waiter<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").finish_non_exhaustive()
    }
}

/// How many sit, and who follows.
pub struct Seats<B> {
    /// How many follow above, how many sit below.
    counts: AtomicU64,
    list: Mutex<Vec<Arc<Waiter<B>>>>,
}

/// One that sits, and one that follows.
const SITS: u64 = 1;
const FOLLOWS: u64 = 1 << 32;

fn sitting(counts: u64) -> u64 {
    counts & (FOLLOWS - 1)
}

fn following(counts: u64) -> u64 {
    counts / FOLLOWS
}

impl<B: Ring> Seats<B> {
    /// Nobody sits, nobody follows.
    #[must_use]
    pub fn new() -> Self {
        Self {
            counts: AtomicU64::new(0),
            list: Mutex::new(Vec::new()),
        }
    }

    /// How many sit.
    #[must_use]
    pub fn sitting(&self) -> u64 {
        sitting(self.counts.load(Ordering::SeqCst))
    }

    /// One more sits, whoever else does.
    pub fn join(&self) {
        self.counts.fetch_add(SITS, Ordering::SeqCst);
    }

    /// Sits if nobody does; whether it does.
    #[must_use]
    pub fn lead(&self) -> bool {
        let lead = |counts| (sitting(counts) == 0).then_some(counts + SITS);
        self.counts
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, lead)
            .is_ok()
    }

    /// Rises. False when nobody sits any more, and no follower takes the place.
    pub fn rise(&self) -> bool {
        let before = self.counts.fetch_sub(SITS, Ordering::SeqCst);
        self.promote_of(before - SITS)
    }

    /// Wakes a follower if there is one and nobody sits; false when nobody does either. Also for whoever
    /// was promoted, and needs the place no more.
    pub fn promote(&self) -> bool {
        self.promote_of(self.counts.load(Ordering::SeqCst))
    }

    fn promote_of(&self, counts: u64) -> bool {
        if sitting(counts) > 0 {
            return true;
        }
        if following(counts) == 0 {
            return false;
        }
        match self.take_off(Vec::pop) {
            Some(next) => {
                next.wake();
                true
            }
            None => false,
        }
    }

    /// Sleeps until it is woken, promoted, or `left` has passed; at once if it was told to look again, or
    /// nobody sits.
    pub fn follow(&self, waiter: &Arc<Waiter<B>>, left: Option<Duration>) {
        let before = {
            let mut list = lock(&self.list);
            list.push(waiter.clone());
            self.counts.fetch_add(FOLLOWS, Ordering::SeqCst)
        };
        if sitting(before) > 0 && waiter.rest_as(ASLEEP) {
            waiter.bed.sleep(left);
        }
        // Not there any more when it was promoted.
        self.take_off(|list| {
            let at = list.iter().position(|one| Arc::ptr_eq(one, waiter))?;
            Some(list.swap_remove(at))
        });
    }

    /// Wakes every follower.
    pub fn wake_all(&self) {
        for waiter in lock(&self.list).iter() {
            waiter.wake();
        }
    }

    fn take_off(
        &self,
        which: impl FnOnce(&mut Vec<Arc<Waiter<B>>>) -> Option<Arc<Waiter<B>>>,
    ) -> Option<Arc<Waiter<B>>> {
        let mut list = lock(&self.list);
        let taken = which(&mut list)?;
        self.counts.fetch_sub(FOLLOWS, Ordering::SeqCst);
        Some(taken)
    }
}

impl<B: Ring> Default for Seats<B> {
    fn default() -> Self {
        Self::new()
    }
}

impl<B> fmt::Debug for Seats<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seats").finish_non_exhaustive()
    }
}
