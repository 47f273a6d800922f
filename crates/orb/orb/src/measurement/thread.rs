//! Operations that a thread has served, so that it finds them without a lock.

use super::operation::Operation;
use super::session::{self, Session};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

thread_local! {
    static OWN: RefCell<Table> = const { RefCell::new(Table::NONE) };
    static NESTED: Cell<u64> = const { Cell::new(0) };
}

/// Hash table of operations, with open addressing; at most half full.
struct Table {
    /// Recording to which the operations belong.
    session: Option<Arc<Session>>,
    slots: Vec<Option<Slot>>,
    used: usize,
}

struct Slot {
    /// Repository id, compared by its address: an equal id at another address has another slot.
    interface: &'static str,
    operation: Arc<Operation>,
}

/// Replaces the execution time of upcalls that are nested in the one of the thread; returns the
/// one before.
#[inline]
pub(super) fn replace_nested(nanos: u64) -> u64 {
    NESTED.replace(nanos)
}

/// Returns an operation that the thread has served in this recording.
#[inline]
pub(super) fn find(session: u64, interface: &'static str, name: &str) -> Option<Arc<Operation>> {
    // A thread that is ending has no table.
    let found = OWN.try_with(|own| {
        let own = own.try_borrow().ok()?;
        match &own.session {
            Some(known) if known.number == session => own.find(interface, name).cloned(),
            _ => None,
        }
    });
    found.ok().flatten()
}

/// Adds an operation to those of the thread; returns `None` if there is no recording, or no room.
pub(super) fn join(
    interface: &'static str,
    name: &str,
) -> Option<(Arc<Session>, Option<Arc<Operation>>)> {
    let session = session::running()?;
    let operation = session.operation(interface, name);
    if let Some(operation) = &operation {
        let _ = OWN.try_with(|own| {
            if let Ok(mut own) = own.try_borrow_mut() {
                own.insert(&session, interface, operation);
            }
        });
    }
    Some((session, operation))
}

/// Returns the recording that the thread has joined.
pub(super) fn session() -> Option<Arc<Session>> {
    OWN.try_with(|own| own.try_borrow().ok()?.session.clone())
        .ok()
        .flatten()
}

impl Table {
    const NONE: Self = Self {
        session: None,
        slots: Vec::new(),
        used: 0,
    };

    #[inline]
    fn find(&self, interface: &'static str, name: &str) -> Option<&Arc<Operation>> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash(interface, name) & mask;
        loop {
            let slot = self.slots.get(at)?.as_ref()?;
            if std::ptr::eq(slot.interface, interface) && *slot.operation.operation == *name {
                return Some(&slot.operation);
            }
            at = (at + 1) & mask;
        }
    }

    fn insert(&mut self, session: &Arc<Session>, interface: &'static str, added: &Arc<Operation>) {
        if self
            .session
            .as_ref()
            .is_none_or(|own| own.number != session.number)
        {
            let slots = session.most.saturating_mul(2).next_power_of_two();
            *self = Self {
                session: Some(session.clone()),
                slots: std::iter::repeat_with(|| None).take(slots).collect(),
                used: 0,
            };
        }
        // An id with several addresses has several slots. Without one, its operation is looked up
        // under the lock.
        if (self.used + 1) * 2 > self.slots.len()
            || self.find(interface, &added.operation).is_some()
        {
            return;
        }
        let mask = self.slots.len() - 1;
        let mut at = hash(interface, &added.operation) & mask;
        while let Some(Some(_)) = self.slots.get(at) {
            at = (at + 1) & mask;
        }
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = Some(Slot {
                interface,
                operation: added.clone(),
            });
            self.used += 1;
        }
    }
}

/// Returns a hash of an operation: of the id's address, and of the name's length and a few of its
/// bytes. Operations with equal ones are found one after the other.
#[inline]
fn hash(interface: &str, name: &str) -> usize {
    let name = name.as_bytes();
    let byte = |at: usize| usize::from(name.get(at).copied().unwrap_or(0));
    let length = name.len();
    let of_name = byte(length / 2) ^ byte(length.wrapping_sub(1)) << 8 ^ length << 16;
    let all = (interface.as_ptr() as usize >> 3) ^ of_name;
    all.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize) >> (usize::BITS / 2)
}
