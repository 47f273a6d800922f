//! Requests of which each is balanced.
//!
//! A client's ORB keeps the place to which it was forwarded. So the group's own object forwards each request to an object key with
//! another number at its end, and a member serves one request of each number: further ones, which come without having been at the group,
//! are forwarded there. Any ORB follows this.
//!
//! | part of the object key | |
//! |---|---|
//! | object key of the member | ends with the object id |
//! | `00 'e' 'a' 'c' 'h' 00` | mark |
//! | number | 8 bytes, big-endian |

use std::collections::{HashSet, VecDeque};

use parking_lot::Mutex;

/// Mark between the object id of a member and the number of a request.
const MARK: [u8; 6] = *b"\0each\0";

/// Maximum number of numbers that a member remembers. A number that comes again after so many others is served again.
const MOST: usize = 65_536;

/// Returns the object key of a member for one request. For the service that forwards requests to members.
#[must_use]
pub fn key_for_one(member: &[u8], number: u64) -> Vec<u8> {
    [member, &MARK, &number.to_be_bytes()].concat()
}

/// Returns the number of a request in an object id; `None` for one that was not forwarded to be served once.
pub(crate) fn number_in(id: &[u8]) -> Option<u64> {
    let (before, number) = id.split_last_chunk::<8>()?;
    before.ends_with(&MARK).then(|| u64::from_be_bytes(*number))
}

/// Numbers of requests that were served.
#[derive(Debug, Default)]
pub(crate) struct Numbers(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    all: HashSet<u64>,
    /// In the order in which they came.
    order: VecDeque<u64>,
}

impl Numbers {
    /// Returns whether a number comes for the first time. Allocates and locks.
    pub(crate) fn is_first(&self, number: u64) -> bool {
        let mut seen = self.0.lock();
        if !seen.all.insert(number) {
            return false;
        }
        seen.order.push_back(number);
        if seen.order.len() > MOST
            && let Some(oldest) = seen.order.pop_front()
        {
            seen.all.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_behind_the_mark_alone() {
        let key = key_for_one(b"member", 258);
        assert_eq!(number_in(&key), Some(258));
        assert_eq!(number_in(b"member"), None);
        assert_eq!(number_in(&key[..key.len() - 1]), None);
        assert_eq!(number_in(b""), None);
    }

    #[test]
    fn numbers_that_are_remembered_are_bounded() {
        let numbers = Numbers::default();
        assert!(numbers.is_first(7) && !numbers.is_first(7));
        for number in 100..100 + MOST as u64 {
            assert!(numbers.is_first(number));
        }
        assert!(numbers.is_first(7), "forgotten");
        assert_eq!(numbers.0.lock().all.len(), MOST);
    }
}
