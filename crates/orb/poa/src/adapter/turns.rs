//! One at a time for each name.

use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::thread::{self, ThreadId};

/// Names whose turn it is.
#[derive(Debug, Default)]
pub(super) struct Turns {
    taken: Mutex<HashMap<Box<[u8]>, ThreadId>>,
    ended: Condvar,
}

/// A turn, until dropped.
pub(super) struct Turn<'t> {
    turns: &'t Turns,
    name: &'t [u8],
}

impl Turns {
    /// Waits for the turn of a name; `None` when it is this very thread's already.
    pub(super) fn turn<'t>(&'t self, name: &'t [u8]) -> Option<Turn<'t>> {
        let me = thread::current().id();
        let mut taken = self.taken.lock();
        while let Some(owner) = taken.get(name) {
            if *owner == me {
                return None;
            }
            self.ended.wait(&mut taken);
        }
        taken.insert(name.into(), me);
        Some(Turn { turns: self, name })
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.turns.taken.lock().remove(self.name);
        self.turns.ended.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn one_name_has_one_turn_at_a_time_and_others_do_not_wait() {
        let turns = Turns::default();
        let inside = AtomicU32::new(0);
        let _other = turns.turn(b"other").unwrap();
        assert!(turns.turn(b"other").is_none());
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let _turn = turns.turn(b"one").unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(turns.taken.lock().len(), 1);
    }
}
