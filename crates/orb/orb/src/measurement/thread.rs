//! Operations that a thread has served, so that it finds them without a lock.

use super::operation::ThreadTimes;
use super::session::Session;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

thread_local! {
    static OWN: RefCell<Table> = const { RefCell::new(Table::NONE) };
    static NESTED: Cell<u64> = const { Cell::new(0) };
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
    key: Key,
    pub(super) times: Arc<ThreadTimes>,
}

/// Operation as it is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Key {
    /// Address of the repository id: an equal id at another address has another slot.
    interface: usize,
    /// Length of the name, its first bytes and its last ones: all of it up to 16 bytes.
    length: usize,
    first: u64,
    last: u64,
}

/// Replaces the execution time of upcalls that are nested in the one of the thread; returns the
/// one before.
#[inline(always)]
pub(super) fn replace_nested(nanos: u64) -> u64 {
    NESTED.replace(nanos)
}

/// Returns an operation that the thread has served in this recording.
// Inlined, it would pass its arguments to `try_with` by memory, as that is not.
#[inline(never)]
pub(super) fn find(session: u64, interface: &'static str, name: &str) -> Option<Rc<Served>> {
    let key = Key::new(interface, name);
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

/// Returns the recording that the thread has joined.
pub(super) fn session() -> Option<Arc<Session>> {
    let joined = OWN.try_with(|own| own.try_borrow().ok()?.session.clone());
    joined.ok().flatten()
}

/// Keeps the times of an operation, for the thread's next upcalls; gives them back if it cannot.
pub(super) fn keep(session: &Arc<Session>, interface: &'static str, times: Arc<ThreadTimes>) {
    let key = Key::new(interface, &times.operation.operation);
    let mut times = Some(times);
    let mut replaced = Table::NONE;
    let _ = OWN.try_with(|own| {
        if let Ok(mut own) = own.try_borrow_mut() {
            if own.number != session.number {
                replaced = std::mem::replace(&mut *own, Table::new(session));
            }
            own.insert(key, &mut times);
        }
    });
    if let Some(times) = times {
        session.give_back(times);
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
    fn insert(&mut self, key: Key, times: &mut Option<Arc<ThreadTimes>>) {
        if (self.used + 1) * 2 > self.slots.len() {
            return;
        }
        let mask = self.slots.len() - 1;
        let mut at = key.hash() & mask;
        while let Some(Some(_)) = self.slots.get(at) {
            at = (at + 1) & mask;
        }
        if let (Some(slot), Some(times)) = (self.slots.get_mut(at), times.take()) {
            *slot = Some(Rc::new(Served { key, times }));
            self.used += 1;
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        let Some(session) = &self.session else { return };
        // An upcall in progress, in which another recording began, still adds to its own.
        let served = self.slots.drain(..).flatten();
        for served in served.filter_map(Rc::into_inner) {
            session.give_back(served.times);
        }
    }
}

impl Served {
    #[inline(always)]
    fn has_name(&self, name: &str) -> bool {
        name.len() <= 16 || *self.times.operation.operation == *name
    }
}

impl Key {
    #[inline(always)]
    fn new(interface: &'static str, name: &str) -> Self {
        let (first, last) = ends(name.as_bytes());
        Self {
            interface: interface.as_ptr().addr(),
            length: name.len(),
            first,
            last,
        }
    }

    #[inline(always)]
    fn hash(self) -> usize {
        let name = self.first ^ self.last.rotate_left(29) ^ self.length as u64;
        let all = name ^ self.interface as u64;
        (all.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize
    }
}

/// Returns the first and the last bytes of a name: eight each, which may overlap, or four each of a
/// name of fewer than eight, or all three.
#[inline(always)]
fn ends(name: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
        return (u64::from_ne_bytes(*first), u64::from_ne_bytes(*last));
    }
    if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
        let four = |bytes: &[u8; 4]| u64::from(u32::from_ne_bytes(*bytes));
        return (four(first), four(last));
    }
    let fold = |all, byte: &u8| all << 8 | u64::from(*byte);
    (name.iter().fold(0, fold), 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_up_to_16_bytes_differ_in_their_keys() {
        let name = "abcdefghijklmnop";
        for length in 1..=16 {
            let (one, id) = (&name[..length], "IDL:A:1.0");
            assert_eq!(Key::new(id, one), Key::new(id, one));
            assert_ne!(Key::new(id, one), Key::new(id, &name[..length - 1]));
            for changed in 0..length {
                let mut other = one.as_bytes().to_vec();
                other[changed] = b'_';
                let other = String::from_utf8(other).unwrap();
                assert_ne!(Key::new(id, one), Key::new(id, &other), "{other}");
            }
        }
    }
}
