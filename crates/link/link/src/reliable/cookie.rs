//! Cookies: proof that the sender of an open datagram receives at the address it sends from.
//!
//! A cookie is a keyed hash of that address, the client's id and the time; a server keeps only the
//! key. So a datagram with a forged sender makes it store nothing.

use crate::Address;
use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// Lifetime of a handshake cookie, in seconds.
const LIFE: u32 = 10;
/// Number of connections opened within the lifetime of a cookie that are remembered, so that a
/// repeated open makes no second one.
const REMEMBERED: usize = 4096;

#[derive(Debug)]
pub(super) struct Cookies {
    /// Random key for `SipHash`; the standard library makes each `RandomState` with keys of its
    /// own.
    key: RandomState,
    used: VecDeque<u64>,
}

impl Cookies {
    pub(super) fn new() -> Self {
        Self {
            key: RandomState::new(),
            used: VecDeque::new(),
        }
    }

    /// Makes the cookie for a client at `peer`; `stamp` is the time in seconds.
    pub(super) fn make_cookie(&self, peer: &Address, client: u64, stamp: u32) -> u64 {
        self.key.hash_one((peer, client, stamp))
    }

    /// Returns whether this server made the cookie for this client, within its lifetime at `now`,
    /// and sees it for the first time.
    pub(super) fn verify(
        &mut self,
        peer: &Address,
        client: u64,
        stamp: u32,
        cookie: u64,
        now: u32,
    ) -> bool {
        let fresh = now.checked_sub(stamp).is_some_and(|age| age <= LIFE);
        if !fresh || self.make_cookie(peer, client, stamp) != cookie || self.used.contains(&cookie)
        {
            return false;
        }
        if self.used.len() >= REMEMBERED {
            self.used.pop_front();
        }
        self.used.push_back(cookie);
        true
    }
}

/// Returns an unpredictable 64-bit number.
pub(super) fn random() -> u64 {
    RandomState::new().hash_one(0u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_opens_once_for_its_client_in_time() {
        let mut cookies = Cookies::new();
        let (here, there) = (Address::new("x", "here"), Address::new("x", "there"));
        let cookie = cookies.make_cookie(&here, 7, 100);
        assert!(!cookies.verify(&there, 7, 100, cookie, 100));
        assert!(!cookies.verify(&here, 8, 100, cookie, 100));
        assert!(!cookies.verify(&here, 7, 101, cookie, 101));
        assert!(!cookies.verify(&here, 7, 100, cookie ^ 1, 100));
        assert!(!cookies.verify(&here, 7, 100, cookie, 101 + LIFE));
        assert!(!cookies.verify(&here, 7, 100, cookie, 99));
        assert!(cookies.verify(&here, 7, 100, cookie, 100 + LIFE));
        assert!(!cookies.verify(&here, 7, 100, cookie, 100));
    }

    #[test]
    fn two_servers_keys_differ() {
        let here = Address::new("x", "here");
        let (one, other) = (Cookies::new(), Cookies::new());
        assert_ne!(one.make_cookie(&here, 1, 1), other.make_cookie(&here, 1, 1));
        assert_ne!(random(), random());
    }
}
