//! Memory of the constraints of a service, which clients fill: the bytes of texts, types and values.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::refusal::Refusal;

/// Bytes that the constraints of a service have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room(Arc<AtomicUsize>);

/// Bytes of one constraint or value, until it is dropped.
#[derive(Debug)]
pub(super) struct Taken {
    room: Room,
    bytes: usize,
}

impl Room {
    /// Takes so many bytes.
    ///
    /// # Errors
    /// More than `most` would be taken then.
    pub(super) fn take(&self, bytes: usize, most: usize) -> Result<Taken, Refusal> {
        let more = |now: usize| now.checked_add(bytes).filter(|all| *all <= most);
        // Relaxed: a count of its own, which orders no other access.
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        let room = self.clone();
        taken
            .map(|_| Taken { room, bytes })
            .map_err(|_| Refusal::Full {
                what: "bytes of constraints",
                option: "constraint-bytes",
                limit: most,
            })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.room.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_bytes_as_may_be_are_taken_until_they_are_dropped() {
        let room = Room::default();
        let one = room.take(6, 10).unwrap();
        assert!(room.take(5, 10).is_err() && room.take(usize::MAX, usize::MAX).is_err());
        let other = room.take(4, 10).unwrap();
        drop(one);
        assert!(room.take(7, 10).is_err() && room.take(6, 10).is_ok());
        drop(other);
        assert!(room.take(10, 10).is_ok());
    }
}
