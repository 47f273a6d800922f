//! Operations that a thread has served, so that it finds them without a lock.
//!
//! Those that it served last are beside the table, in places by their keys ([`take_recent`]). An operation is taken out of
//! its place for the time of the upcall, so that no count of references changes; a nested upcall finds it in the table.

use super::key::{Interfaces, Key};
use super::operation::{Operation, ThreadTimes, Usual};
use super::session::{self, Session};
use super::ticks;
use crate::observed::Observers;
use punctual_sys::cpu_clock::CpuClock;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;

thread_local! {
    static OWN: RefCell<Table> = const { RefCell::new(Table::NONE) };
    static RECENT: Recent = const { Recent::new() };
}

/// What each upcall of a thread reads and changes. Nothing of it is dropped when the thread ends: so no access has to ask
/// whether it has been.
struct Recent {
    /// Operation that the thread served last among those of each place. Dropped with the table.
    served: [Cell<Option<ManuallyDrop<Rc<Served>>>>; Key::PLACES],
    /// True from when a place had an operation. While it is empty, then, an upcall in progress has taken the operation, and
    /// puts it back without looking.
    is_used: [Cell<bool>; Key::PLACES],
    /// Sum of the execution times of all upcalls that have ended.
    executed: Cell<u64>,
}

/// Operation that was taken for an upcall.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) served: Rc<Served>,
    /// True if it becomes the operation of its place: no upcall around it has taken that.
    becomes_recent: bool,
}

/// Hash table of operations, with open addressing; at most half full.
struct Table {
    /// Number of the recording to which the operations belong.
    number: u64,
    session: Option<Arc<Session>>,
    slots: Vec<Option<Rc<Served>>>,
    used: usize,
}

/// Operation that the thread has served.
#[derive(Debug)]
pub(super) struct Served {
    /// Observers with which [`take_recent`] knows the operation.
    observers: Observers,
    /// Number of the recording.
    session: u64,
    key: Key,
    /// The same key, if times are those of the processor's counter; else one that no operation has.
    recent_key: Key,
    /// Its place among the recent ones.
    place: usize,
    pub(super) operation: Arc<Operation>,
    pub(super) times: Arc<ThreadTimes>,
    /// Times that only add to counts.
    pub(super) usual: Cell<Usual>,
    /// Place for the thread's CPU clock.
    pub(super) clock: CpuClock,
}

/// Takes the operation that the thread served last among those of its place, for [`put_recent_back`], if it is this one, of
/// this recording, is measured by the processor's counter, and no timeline is running.
#[inline(always)]
pub(super) fn take_recent(
    observers: Observers,
    interfaces: Interfaces,
    name: &str,
) -> Option<Rc<Served>> {
    let key = Key::new(interfaces, name);
    let place = key.place();
    match RECENT.with(|recent| recent.served[place % Key::PLACES].take()) {
        Some(recent)
            if recent.observers == observers
                && recent.recent_key == key
                && recent.has_name(name) =>
        {
            Some(ManuallyDrop::into_inner(recent))
        }
        recent => {
            leave(place, recent);
            None
        }
    }
}

/// Leaves a recent operation where it was.
#[inline(never)]
fn leave(place: usize, served: Option<ManuallyDrop<Rc<Served>>>) {
    RECENT.with(|recent| recent.served[place % Key::PLACES].set(served));
}

/// Puts an operation back that [`take_recent`] took. No other one is in its place: a nested upcall leaves it empty.
#[inline(always)]
pub(super) fn put_recent_back(served: ManuallyDrop<Rc<Served>>) {
    let place = served.place;
    let before = RECENT.with(|recent| recent.served[place % Key::PLACES].replace(Some(served)));
    debug_assert!(
        before.is_none(),
        "a nested upcall has put its operation there"
    );
}

/// Returns the CPU time of the thread without that of upcalls that have ended.
#[inline(always)]
pub(super) fn own_cpu(clock: &CpuClock) -> u64 {
    clock
        .nanos()
        .wrapping_sub(RECENT.with(|recent| recent.executed.get()))
}

/// Returns the execution time of an upcall that has ended, without those nested in it, by [`own_cpu`] at its beginning.
#[inline(always)]
pub(super) fn executed_since(begin: u64, clock: &CpuClock) -> u64 {
    let executed = clock.nanos().wrapping_sub(begin);
    executed.wrapping_sub(RECENT.with(|recent| recent.executed.replace(executed)))
}

/// Takes an operation, for [`put_back`]: a recent one in a timeline, or another one of the table.
pub(super) fn take(interfaces: Interfaces, name: &str) -> Option<Taken> {
    let (session, key) = (session::number(), Key::new(interfaces, name));
    let is_it = |served: &Served| served.is(session, key) && served.has_name(name);
    RECENT.with(|recent| {
        let place = key.place();
        let last = recent.served[place].take();
        let becomes_recent = last.is_some() || !recent.is_used[place].get();
        let served = match last {
            Some(last) if is_it(&last) => ManuallyDrop::into_inner(last),
            last => {
                recent.served[place].set(last);
                find(session, key, name)?
            }
        };
        Some(Taken {
            served,
            becomes_recent,
        })
    })
}

/// Returns an operation of the table.
fn find(session: u64, key: Key, name: &str) -> Option<Rc<Served>> {
    // A thread that is ending has no table.
    let found = OWN.try_with(|own| {
        let own = own.try_borrow().ok()?;
        if own.number != session {
            return None;
        }
        own.find(key, name).cloned()
    });
    found.ok().flatten()
}

/// Puts an operation back that [`take`] took: its place is its own now, unless it was nested in the upcall of another one of
/// that place.
pub(super) fn put_back(taken: Taken) {
    if !taken.becomes_recent {
        return;
    }
    let place = taken.served.place % Key::PLACES;
    let before = RECENT.with(|recent| {
        recent.is_used[place].set(true);
        recent.served[place].replace(Some(ManuallyDrop::new(taken.served)))
    });
    drop(before.map(ManuallyDrop::into_inner));
}

/// Returns the recording that the thread has joined.
pub(super) fn joined() -> Option<Arc<Session>> {
    let joined = OWN.try_with(|own| own.try_borrow().ok()?.session.clone());
    joined.ok().flatten()
}

/// Keeps the times of an operation, for the thread's next upcalls; gives them back if it cannot.
pub(super) fn keep(
    session: &Arc<Session>,
    interfaces: Interfaces,
    times: Arc<ThreadTimes>,
    usual: Usual,
) {
    let key = Key::new(interfaces, &times.operation.operation);
    let mut times = Some(times);
    let mut replaced = Table::NONE;
    let _ = OWN.try_with(|own| {
        if let Ok(mut own) = own.try_borrow_mut() {
            if own.number != session.number {
                replaced = std::mem::replace(&mut *own, Table::new(session));
            }
            own.insert(key, &mut times, usual);
        }
    });
    if let Some(times) = times {
        session.give_back(times);
    }
}

impl Recent {
    const fn new() -> Self {
        Self {
            served: [const { Cell::new(None) }; Key::PLACES],
            is_used: [const { Cell::new(false) }; Key::PLACES],
            executed: Cell::new(0),
        }
    }
}

impl Table {
    const NONE: Self = Self {
        number: 0,
        session: None,
        slots: Vec::new(),
        used: 0,
    };

    fn new(session: &Arc<Session>) -> Self {
        let slots = session.most.saturating_mul(2).next_power_of_two();
        Self {
            number: session.number,
            session: Some(session.clone()),
            slots: std::iter::repeat_with(|| None).take(slots).collect(),
            used: 0,
        }
    }

    #[inline(always)]
    fn find(&self, key: Key, name: &str) -> Option<&Rc<Served>> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = key.hash() & mask;
        loop {
            let served = self.slots.get(at)?.as_ref()?;
            if served.key == key && served.has_name(name) {
                return Some(served);
            }
            at = (at + 1) & mask;
        }
    }

    /// Takes the times of an operation that the table lacks, unless it is half full: an id with
    /// several addresses has several slots.
    fn insert(&mut self, key: Key, times: &mut Option<Arc<ThreadTimes>>, usual: Usual) {
        if (self.used + 1) * 2 > self.slots.len() {
            return;
        }
        let mask = self.slots.len() - 1;
        let mut at = key.hash() & mask;
        while let Some(Some(_)) = self.slots.get(at) {
            at = (at + 1) & mask;
        }
        if let (Some(slot), Some(times)) = (self.slots.get_mut(at), times.take()) {
            *slot = Some(Rc::new(Served {
                observers: Observers::of_recording(self.number),
                session: self.number,
                key,
                recent_key: if ticks::uses_counter() {
                    key
                } else {
                    Key::NEVER
                },
                place: key.place(),
                operation: times.operation.clone(),
                times,
                usual: Cell::new(usual),
                clock: CpuClock::new(),
            }));
            self.used += 1;
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let Some(session) = &self.session else { return };
        RECENT.with(|recent| {
            for (place, is_used) in recent.served.iter().zip(&recent.is_used) {
                if let Some(served) = place.take() {
                    is_used.set(false);
                    drop(ManuallyDrop::into_inner(served));
                }
            }
        });
        // An upcall in progress, in which another recording began, still adds to its own.
        let served = self.slots.drain(..).flatten();
        for served in served.filter_map(Rc::into_inner) {
            session.give_back(served.times);
        }
    }
}

impl Served {
    /// Returns whether it is an operation with this key of this recording.
    #[inline(always)]
    fn is(&self, session: u64, key: Key) -> bool {
        self.session == session && self.key == key
    }

    #[inline(always)]
    fn has_name(&self, name: &str) -> bool {
        name.len() <= Key::WHOLE || self.has_long_name(name)
    }

    #[cold]
    #[inline(never)]
    fn has_long_name(&self, name: &str) -> bool {
        *self.operation.operation == *name
    }
}
