//! Handshake of a connection: hello, cookie, open, accept. The client's side is a state machine
//! without I/O or clock; the server's keeps nothing until the cookie has come back.

use super::cookie::Cookies;
use super::wire::{self, Datagram};
use crate::Address;
use std::time::Duration;

/// Wait before the first repetition of a handshake datagram, doubled with each.
const FIRST: Duration = Duration::from_millis(50);
/// Longest wait between two repetitions of a handshake datagram.
const LONGEST: Duration = Duration::from_secs(1);

/// State of the client's side of the handshake.
#[derive(Debug)]
pub(super) struct Opening {
    id: u64,
    window: u32,
    cookie: Option<(u32, u64)>,
    tries: u32,
    next: Duration,
    wait: Duration,
}

/// Result of a handshake: the peer's id, and its initial window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Agreed {
    pub(super) peer: u64,
    pub(super) window: u32,
}

impl Opening {
    pub(super) fn new(id: u64, window: u32) -> Self {
        Self {
            id,
            window,
            cookie: None,
            tries: 0,
            next: Duration::ZERO,
            wait: FIRST,
        }
    }

    /// Returns the time when the next datagram is due.
    pub(super) fn next(&self) -> Duration {
        self.next
    }

    /// Returns the number of tries of the last step.
    pub(super) fn tries(&self) -> u32 {
        self.tries
    }

    /// Makes the datagram that is due, if one is.
    pub(super) fn transmit(&mut self, now: Duration, out: &mut Vec<u8>) -> bool {
        if now < self.next {
            return false;
        }
        self.tries += 1;
        self.next = now + self.wait;
        self.wait = (self.wait * 2).min(LONGEST);
        match self.cookie {
            None => wire::hello(out, self.id),
            Some((stamp, cookie)) => wire::open(out, self.id, stamp, cookie, self.window),
        }
        true
    }

    /// Handles a received datagram; returns the agreement if it completes the handshake.
    pub(super) fn handle(&mut self, octets: &[u8], now: Duration) -> Option<Agreed> {
        match wire::decode(octets)? {
            (id, Datagram::Cookie { stamp, cookie }) if id == self.id => {
                if self.cookie.is_none() {
                    (self.tries, self.next, self.wait) = (0, now, FIRST);
                }
                // The latest: a restarted server accepts no other.
                self.cookie = Some((stamp, cookie));
                None
            }
            (id, Datagram::Accept { server, window }) if id == self.id => {
                self.cookie.map(|_| Agreed {
                    peer: server,
                    window,
                })
            }
            _ => None,
        }
    }
}

/// Server's reaction to a datagram from an unknown sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnknownSender {
    /// Datagram was answered without storing any state.
    Answered,
    /// Datagram validly opens a connection.
    Opens(Agreed),
    /// Datagram is ignored.
    Ignored,
}

/// Handles an unknown sender's datagram; an answer is put into `out`. `now` in seconds.
pub(super) fn handle_unknown_sender(
    cookies: &mut Cookies,
    peer: &Address,
    octets: &[u8],
    now: u32,
    out: &mut Vec<u8>,
) -> UnknownSender {
    match wire::decode(octets) {
        Some((_, Datagram::Hello { client })) => {
            wire::cookie(out, client, now, cookies.make_cookie(peer, client, now));
            UnknownSender::Answered
        }
        Some((_, open @ Datagram::Open { .. })) => verify(cookies, peer, open, now),
        Some((unknown, Datagram::Data { .. } | Datagram::Ack { .. } | Datagram::Ping)) => {
            wire::gone(out, unknown);
            UnknownSender::Answered
        }
        _ => UnknownSender::Ignored,
    }
}

fn verify(cookies: &mut Cookies, peer: &Address, open: Datagram<'_>, now: u32) -> UnknownSender {
    let Datagram::Open {
        client,
        stamp,
        cookie,
        window,
    } = open
    else {
        return UnknownSender::Ignored;
    };
    if !cookies.verify(peer, client, stamp, cookie, now) {
        return UnknownSender::Ignored;
    }
    UnknownSender::Opens(Agreed {
        peer: client,
        window,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address() -> Address {
        Address::new("x", "client")
    }

    #[test]
    fn four_datagrams_open_a_connection() {
        let mut cookies = Cookies::new();
        let (mut client, mut out) = (Opening::new(7, 500), Vec::new());
        let now = Duration::from_secs(1);
        assert!(client.transmit(now, &mut out));
        let (hello, mut answer) = (out.clone(), Vec::new());
        let met = handle_unknown_sender(&mut cookies, &address(), &hello, 1, &mut answer);
        assert_eq!(met, UnknownSender::Answered);
        assert_eq!(client.handle(&answer, now), None);
        assert!(client.transmit(now, &mut out));
        let met = handle_unknown_sender(&mut cookies, &address(), &out, 2, &mut answer);
        let agreed = Agreed {
            peer: 7,
            window: 500,
        };
        assert_eq!(met, UnknownSender::Opens(agreed));
        wire::accept(&mut answer, 7, 9, 600);
        let agreed = Agreed {
            peer: 9,
            window: 600,
        };
        assert_eq!(client.handle(&answer, now), Some(agreed));
    }

    #[test]
    fn an_open_without_our_cookie_or_a_second_time_opens_nothing() {
        let (mut cookies, mut out) = (Cookies::new(), Vec::new());
        wire::open(&mut out, 7, 1, 1234, 500);
        let octets = out.clone();
        let met = handle_unknown_sender(&mut cookies, &address(), &octets, 1, &mut out);
        assert_eq!(met, UnknownSender::Ignored);
        let cookie = cookies.make_cookie(&address(), 7, 1);
        wire::open(&mut out, 7, 1, cookie, 500);
        let octets = out.clone();
        let mut handle_unknown_sender =
            || super::handle_unknown_sender(&mut cookies, &address(), &octets, 1, &mut out);
        assert!(matches!(handle_unknown_sender(), UnknownSender::Opens(_)));
        assert_eq!(handle_unknown_sender(), UnknownSender::Ignored);
    }

    #[test]
    fn an_accept_for_another_or_before_its_time_is_ignored() {
        let (mut client, mut out) = (Opening::new(7, 500), Vec::new());
        wire::accept(&mut out, 7, 9, 600);
        assert_eq!(client.handle(&out, Duration::ZERO), None);
        wire::cookie(&mut out, 7, 1, 2);
        client.handle(&out, Duration::ZERO);
        wire::accept(&mut out, 8, 9, 600);
        assert_eq!(client.handle(&out, Duration::ZERO), None);
    }

    #[test]
    fn what_is_not_answered_is_sent_again_later_and_later() {
        let (mut client, mut out) = (Opening::new(7, 500), Vec::new());
        let mut now = Duration::ZERO;
        let mut waits = Vec::new();
        for _ in 0..7 {
            assert!(client.transmit(now, &mut out));
            assert!(!client.transmit(now, &mut out));
            waits.push((client.next() - now).as_millis());
            now = client.next();
        }
        assert_eq!(waits, [50, 100, 200, 400, 800, 1000, 1000]);
        assert_eq!(client.tries(), 7);
    }

    #[test]
    fn who_speaks_of_a_connection_that_is_gone_is_told() {
        let (mut cookies, mut out) = (Cookies::new(), Vec::new());
        wire::ping(&mut out, 77);
        let octets = out.clone();
        let met = handle_unknown_sender(&mut cookies, &address(), &octets, 1, &mut out);
        assert_eq!(met, UnknownSender::Answered);
        assert_eq!(wire::decode(&out), Some((77, Datagram::Gone)));
    }
}
