//! Slot of one caller, in which it waits for its reply.
//!
//! ```text
//! IDLE ──will_wait──▶ WAITING ──promote──▶ PROMOTED        the caller is to read the connection
//!   └──────deliver──────┴───deliver──┴─▶ DELIVERED         its reply, or the connection's end, is here
//! ```
//! A single caller, which reads its own reply, accesses only the generation: it takes no lock and makes no atomic
//! exchange.

use crate::sync::{AtomicU32, Mutex, Ordering, Word, lock};
use punctual_exec::Deadline;
use std::task::Waker;

const IDLE: u32 = 0;
const WAITING: u32 = 1;
const PROMOTED: u32 = 2;
const DELIVERED: u32 = 3;

/// Slot of a caller. `T` is the type that is delivered.
#[derive(Debug)]
pub(crate) struct ReplySlot<T> {
    state: Word,
    /// Generation of the place's current caller: deliveries to an earlier one are dropped.
    generation: AtomicU32,
    place: Mutex<SlotContent<T>>,
}

/// Content of a slot, protected by the slot's lock.
#[derive(Debug)]
struct SlotContent<T> {
    content: Option<T>,
    /// Waker that is notified of a delivery if no thread waits.
    watcher: Option<Waker>,
}

/// State of a slot when its caller leaves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftBehind {
    Nothing,
    /// The caller had been chosen to read: another must be chosen.
    Reading,
    /// Something had been delivered that the caller did not take.
    Content,
}

/// Reason why a waiting caller woke up.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Woken<T> {
    Delivered(T),
    /// No caller reads the connection: this one must do so.
    Promoted,
    TimedOut,
}

impl<T> ReplySlot<T> {
    pub(crate) fn new() -> Self {
        Self {
            state: Word::new(IDLE),
            generation: AtomicU32::new(0),
            place: Mutex::new(SlotContent {
                content: None,
                watcher: None,
            }),
        }
    }

    /// Begins a caller's use of the slot, and returns its generation.
    pub(crate) fn begin(&self) -> u32 {
        // Relaxed, both: the caller that had the place before has given it back with Release.
        self.state.atomic().store(IDLE, Ordering::Relaxed);
        self.generation.load(Ordering::Relaxed)
    }

    /// Releases the slot of the caller that reads and has its reply. Only the reading caller
    /// delivers, so no other thread can deliver now.
    pub(crate) fn end_as_reader(&self) {
        let next = self.generation.load(Ordering::Relaxed).wrapping_add(1);
        // Relaxed: the next reader takes the inbox from this one, and so sees the change.
        self.generation.store(next, Ordering::Relaxed);
    }

    /// Releases the slot: later deliveries to the caller are dropped.
    pub(crate) fn end(&self) -> LeftBehind {
        let mut place = lock(&self.place);
        let next = self.generation.load(Ordering::Relaxed).wrapping_add(1);
        self.generation.store(next, Ordering::Relaxed);
        place.content = None;
        place.watcher = None;
        match self.state.atomic().swap(IDLE, Ordering::AcqRel) {
            PROMOTED => LeftBehind::Reading,
            DELIVERED => LeftBehind::Content,
            _ => LeftBehind::Nothing,
        }
    }

    /// Takes the delivery, if one has arrived, and releases the slot with it.
    pub(crate) fn end_with_content(&self) -> Option<T> {
        // Acquire pairs with the exchange in `deliver_if`.
        if !self.has_content() {
            return None;
        }
        let mut place = lock(&self.place);
        let next = self.generation.load(Ordering::Relaxed).wrapping_add(1);
        self.generation.store(next, Ordering::Relaxed);
        self.state.atomic().store(IDLE, Ordering::Relaxed);
        place.content.take()
    }

    /// Returns `true` if something has been delivered and not been taken.
    #[inline]
    pub(crate) fn has_content(&self) -> bool {
        self.state.atomic().load(Ordering::Acquire) == DELIVERED
    }

    /// Takes the delivery from the reply slot without waiting, if one has arrived.
    pub(crate) fn poll(&self) -> Option<T> {
        // Acquire pairs with the exchange in `deliver_if`.
        if !self.has_content() {
            return None;
        }
        lock(&self.place).content.take()
    }

    /// Sets the waker that is woken at a delivery; returns `true` if something has been delivered
    /// already.
    pub(crate) fn watch(&self, watcher: &Waker) -> bool {
        let mut place = lock(&self.place);
        if place.content.is_some() {
            return true;
        }
        match &mut place.watcher {
            Some(there) => there.clone_from(watcher),
            none => *none = Some(watcher.clone()),
        }
        false
    }

    /// Removes the waker that is woken when the slot is filled.
    pub(crate) fn stop_watching(&self) {
        lock(&self.place).watcher = None;
    }

    /// Wakes the watcher of the caller of this generation although nothing was delivered.
    pub(crate) fn wake_watcher(&self, generation: u32) {
        let mut place = lock(&self.place);
        if self.generation.load(Ordering::Relaxed) == generation
            && let Some(watcher) = place.watcher.take()
        {
            drop(place);
            watcher.wake();
        }
    }

    /// Announces that the caller may be chosen as reader. Must be followed by a fence and then by a
    /// check whether another caller reads: a thread that releases the reader after that check sees
    /// the announcement.
    pub(crate) fn will_wait(&self) {
        let word = self.state.atomic();
        // A delivery made in the meantime stays.
        let _ = word.compare_exchange(IDLE, WAITING, Ordering::AcqRel, Ordering::Relaxed);
        let _ = word.compare_exchange(PROMOTED, WAITING, Ordering::AcqRel, Ordering::Relaxed);
    }

    /// Withdraws the announcement of `will_wait`, as the caller reads or has given up. Returns
    /// `true` if it had already been chosen to read.
    pub(crate) fn stop_waiting(&self) -> bool {
        let word = self.state.atomic();
        if word
            .compare_exchange(WAITING, IDLE, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
        {
            return false;
        }
        word.compare_exchange(PROMOTED, IDLE, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Sleeps until something is delivered, the caller is chosen to read, or the deadline passes.
    pub(crate) fn sleep(&self, deadline: Deadline) -> Woken<T> {
        loop {
            let in_time = self.state.sleep_while(WAITING, || deadline.remaining());
            if let Some(content) = self.poll() {
                return Woken::Delivered(content);
            }
            if self.state.atomic().load(Ordering::Acquire) == PROMOTED {
                return Woken::Promoted;
            }
            if !in_time {
                return Woken::TimedOut;
            }
        }
    }

    /// Delivers to the caller of this generation. `may_replace` decides whether an earlier delivery
    /// is replaced.
    pub(crate) fn deliver_if(
        &self,
        generation: u32,
        content: T,
        may_replace: impl FnOnce(&T) -> bool,
    ) -> bool {
        let mut place = lock(&self.place);
        let is_meant = self.generation.load(Ordering::Relaxed) == generation;
        let there = place.content.as_ref();
        if !is_meant || there.is_some_and(|there| !may_replace(there)) {
            return false;
        }
        place.content = Some(content);
        let watcher = place.watcher.take();
        // Under the lock, so that the next caller's state is not changed by mistake.
        let was = self.state.atomic().swap(DELIVERED, Ordering::AcqRel);
        drop(place);
        if was == WAITING {
            self.state.wake();
        }
        if let Some(watcher) = watcher {
            watcher.wake();
        }
        true
    }

    /// Returns the generation of the caller that currently has the slot.
    pub(crate) fn generation(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }

    /// Delivers to the caller that currently has the slot.
    pub(crate) fn deliver_now(&self, content: T, may_replace: impl FnOnce(&T) -> bool) {
        self.deliver_if(self.generation(), content, may_replace);
    }

    /// Chooses a waiting caller to read; returns `false` if the caller of this slot does not wait.
    pub(crate) fn promote(&self) -> bool {
        let word = self.state.atomic();
        let promoted = word
            .compare_exchange(WAITING, PROMOTED, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok();
        if promoted {
            self.state.wake();
        }
        promoted
    }
}
