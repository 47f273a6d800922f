//! Slots: values that follow a request from an interceptor to the application and back (CORBA 3.3 part 1, §16.4).
//!
//! Each thread has a table of slots for each ORB (*thread scope*), and each request has a table (*request scope*).
//! At the client, the request's table is a copy of the thread's table at the time of the call. At the server, the
//! request's table begins empty, becomes the thread's table for the upcall, and afterwards has the values that the
//! upcall has left. At the end of the upcall the thread's previous table is restored.

use super::error::InvalidSlot;
use punctual_any::Any;
use std::cell::RefCell;

/// Id of a slot, allocated when the ORB starts ([`crate::OrbInitInfo::allocate_slot_id`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotId(u32);

impl SlotId {
    pub(crate) fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the slot's number.
    #[must_use]
    pub fn number(self) -> u32 {
        self.0
    }
}

impl From<u32> for SlotId {
    /// Creates a slot id from a number, which is not checked: no such slot may be allocated.
    fn from(number: u32) -> Self {
        Self(number)
    }
}

/// Table of slots. Uses no memory until it is written to; until then each slot is an Any without a
/// value.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots(Vec<Any>);

impl Slots {
    /// Returns the value of a slot.
    ///
    /// # Errors
    /// If the table has no such slot.
    pub(crate) fn get(&self, slot: SlotId, count: u32) -> Result<Any, InvalidSlot> {
        let index = check(slot, count)?;
        Ok(self.0.get(index).cloned().unwrap_or_default())
    }

    /// Sets the value of a slot.
    ///
    /// # Errors
    /// If the table has no such slot.
    pub(crate) fn set(&mut self, slot: SlotId, count: u32, value: Any) -> Result<(), InvalidSlot> {
        let index = check(slot, count)?;
        if self.0.len() <= index {
            self.0.resize_with(index + 1, Any::default);
        }
        if let Some(place) = self.0.get_mut(index) {
            *place = value;
        }
        Ok(())
    }
}

fn check(slot: SlotId, count: u32) -> Result<usize, InvalidSlot> {
    match slot.0 < count {
        true => usize::try_from(slot.0).map_err(|_| InvalidSlot(slot.0)),
        false => Err(InvalidSlot(slot.0)),
    }
}

thread_local! {
    /// Slot tables of the calling thread that have been written to, with the numbers of their ORBs.
    static TABLES: RefCell<Vec<(u64, Slots)>> = const { RefCell::new(Vec::new()) };
}

/// Access to the calling thread's slot table for one ORB.
pub(crate) struct ThreadSlots {
    /// Number of the ORB whose slots are accessed.
    pub(crate) orb: u64,
}

impl ThreadSlots {
    /// Returns a copy of the calling thread's slot table.
    pub(crate) fn copy(&self) -> Slots {
        self.with(|slots| slots.cloned().unwrap_or_default())
    }

    /// Calls `look` with the table, or with `None` if it has not been written to.
    pub(crate) fn with<R>(&self, look: impl FnOnce(Option<&Slots>) -> R) -> R {
        TABLES.with_borrow(|tables| {
            let own = tables.iter().find(|(orb, _)| *orb == self.orb);
            look(own.map(|(_, slots)| slots))
        })
    }

    /// Replaces the calling thread's slot table, and returns the previous one.
    pub(crate) fn replace(&self, slots: Slots) -> Slots {
        // Values are dropped outside of the borrow: they may be references, which close
        // connections.
        TABLES.with_borrow_mut(|tables| {
            let own = tables.iter_mut().find(|(orb, _)| *orb == self.orb);
            match own {
                Some((_, there)) => std::mem::replace(there, slots),
                None if slots.0.is_empty() => slots,
                None => {
                    tables.push((self.orb, slots));
                    Slots::default()
                }
            }
        })
    }

    /// Sets one slot.
    ///
    /// # Errors
    /// If the table has no such slot.
    pub(crate) fn set(&self, slot: SlotId, count: u32, value: Any) -> Result<(), InvalidSlot> {
        let mut slots = self.copy();
        slots.set(slot, count, value)?;
        drop(self.replace(slots));
        Ok(())
    }

    /// Gives the thread an empty table until the guard is dropped. Client interceptors run with
    /// that table (§16.4.4.5).
    pub(crate) fn set_aside(self) -> SetAside {
        let aside = self.replace(Slots::default());
        SetAside {
            slots: self,
            aside: Some(aside),
        }
    }
}

/// Guard that restores the thread's previous table on drop.
pub(crate) struct SetAside {
    slots: ThreadSlots,
    aside: Option<Slots>,
}

impl Drop for SetAside {
    fn drop(&mut self) {
        if let Some(aside) = self.aside.take() {
            drop(self.slots.replace(aside));
        }
    }
}
