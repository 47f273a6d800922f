//! Names of the operations that a thread has served.

use super::record::NONE;
use crate::observed::scoped_name;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Scoped names of operations by their numbers, for any thread to read. The thread itself locks them at its first
/// upcall of an operation only.
#[derive(Debug)]
pub(super) struct Names {
    most: usize,
    all: Mutex<Vec<String>>,
    /// Number of upcalls of operations for which there was no room.
    unnamed: AtomicU64,
}

/// Numbers of operations, for the thread that has served them: by the address of the repository id, and the name.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<usize, HashMap<Box<str>, u16>>);

impl Names {
    /// Makes a table with room for this many names.
    pub(super) fn new(most: usize) -> Self {
        Self {
            most: most.min(usize::from(NONE)),
            all: Mutex::default(),
            unnamed: AtomicU64::new(0),
        }
    }

    /// Returns the number of upcalls of operations for which there was no room.
    pub(super) fn unnamed(&self) -> u64 {
        self.unnamed.load(Ordering::Relaxed)
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.lock().clone()
    }

    /// Adds a name; returns its number, if there is room.
    fn add(&self, interface: &str, operation: &str) -> Option<u16> {
        let mut all = self.lock();
        if all.len() >= self.most {
            self.unnamed.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let number = u16::try_from(all.len()).ok()?;
        all.push(scoped_name(interface, operation));
        Some(number)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Returns the number of an operation; adds its name, if there is room.
    pub(super) fn number(
        &mut self,
        interface: &'static str,
        operation: &str,
        names: &Names,
    ) -> Option<u16> {
        let of = interface.as_ptr().addr();
        let known = self.0.get(&of).and_then(|known| known.get(operation));
        if let Some(number) = known {
            return Some(*number);
        }
        let number = names.add(interface, operation)?;
        let known = self.0.entry(of).or_default();
        known.insert(operation.into(), number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_keeps_its_number_and_there_are_no_more_than_there_is_room_for() {
        let (names, mut known) = (Names::new(2), Known::default());
        for _ in 0..2 {
            assert_eq!(known.number("IDL:A/B:1.0", "one", &names), Some(0));
            assert_eq!(known.number("IDL:C:1.0", "one", &names), Some(1));
            assert_eq!(known.number("IDL:C:1.0", "other", &names), None);
        }
        assert_eq!(names.all(), ["A::B::one", "C::one"]);
        assert_eq!(names.unnamed(), 2);
    }
}
