//! Connection of a proxy: not yet connected, connected to a peer, ended.
//!
//! It ends once, whatever the peer, the channel and the service do at the same time.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

use thiserror::Error;

/// Reason for which a connection cannot be made or used.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
pub enum ConnectionError {
    /// The proxy is connected already.
    #[error("the proxy is connected already: obtain another one")]
    AlreadyConnected,
    /// The proxy is not connected, or not any more.
    #[error("the proxy is not connected: obtain one, and connect it")]
    Disconnected,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for ConnectionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Times after which proxies are removed, and peers asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Time after which an unconnected proxy is removed.
    pub connect_within: Duration,
    /// Time after which a proxy without a reference to its peer is removed if nothing called it; `None` keeps it.
    pub idle: Option<Duration>,
    /// Interval at which connected peers are asked whether they exist; `None` never asks.
    pub check: Option<Duration>,
}

/// State of a proxy, with the reference to its peer, which may be nil.
#[derive(Debug)]
pub struct Connection<P> {
    state: Mutex<State<P>>,
}

#[derive(Debug)]
enum State<P> {
    /// Obtained at this time, and not connected.
    Obtained(Instant),
    Connected {
        peer: Option<P>,
        /// Time of the last call to the proxy or to its peer.
        used: Instant,
        /// Number of calls to the peer that have failed in succession.
        failures: u32,
        /// Number of peers that the proxy had before.
        replaced: u64,
    },
    Ended,
}

impl<P> Default for Connection<P> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State::Obtained(Instant::now())),
        }
    }
}

impl<P: Clone> Connection<P> {
    /// Returns a connection that is not yet connected.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks that the proxy can be connected.
    ///
    /// # Errors
    /// The proxy is connected already, or has ended.
    pub fn check_unconnected(&self) -> Result<(), ConnectionError> {
        match *self.state.lock() {
            State::Obtained(_) => Ok(()),
            State::Connected { .. } => Err(ConnectionError::AlreadyConnected),
            State::Ended => Err(ConnectionError::Disconnected),
        }
    }

    /// Connects the proxy.
    ///
    /// # Errors
    /// The proxy is connected already, or has ended.
    pub fn connect(&self, peer: Option<P>) -> Result<(), ConnectionError> {
        let mut state = self.state.lock();
        match *state {
            State::Obtained(_) => {
                *state = State::Connected {
                    peer,
                    used: Instant::now(),
                    failures: 0,
                    replaced: 0,
                };
                Ok(())
            }
            State::Connected { .. } => Err(ConnectionError::AlreadyConnected),
            State::Ended => Err(ConnectionError::Disconnected),
        }
    }

    /// Connects a connected proxy to another peer, in place of the one that it has.
    ///
    /// # Errors
    /// The proxy is not connected, or not any more.
    pub fn replace(&self, by: Option<P>) -> Result<(), ConnectionError> {
        match &mut *self.state.lock() {
            State::Connected {
                peer,
                used,
                failures,
                replaced,
            } => {
                *peer = by;
                *used = Instant::now();
                *failures = 0;
                *replaced += 1;
                Ok(())
            }
            _ => Err(ConnectionError::Disconnected),
        }
    }

    /// Returns the number of peers that the proxy had before the one that it has, so that a call to a peer can be told from
    /// one to the next.
    pub fn replaced(&self) -> u64 {
        match *self.state.lock() {
            State::Connected { replaced, .. } => replaced,
            _ => 0,
        }
    }

    /// Ends the connection. Returns `None` if it had ended, else the peer if one was connected.
    pub fn end(&self) -> Option<Option<P>> {
        match std::mem::replace(&mut *self.state.lock(), State::Ended) {
            State::Obtained(_) => Some(None),
            State::Connected { peer, .. } => Some(peer),
            State::Ended => None,
        }
    }

    /// Notes that the proxy is called.
    ///
    /// # Errors
    /// The proxy is not connected, or not any more.
    pub fn used(&self) -> Result<(), ConnectionError> {
        match &mut *self.state.lock() {
            State::Connected { used, .. } => {
                *used = Instant::now();
                Ok(())
            }
            _ => Err(ConnectionError::Disconnected),
        }
    }

    /// Returns whether the proxy is connected.
    pub fn is_connected(&self) -> bool {
        matches!(*self.state.lock(), State::Connected { .. })
    }

    /// Returns the peer, if one is connected.
    pub fn peer(&self) -> Option<P> {
        match &*self.state.lock() {
            State::Connected { peer, .. } => peer.clone(),
            _ => None,
        }
    }

    /// Notes whether a call to the peer failed. Returns whether as many have failed in succession as may.
    pub fn called(&self, has_failed: bool, most: u32) -> bool {
        match &mut *self.state.lock() {
            State::Connected { used, failures, .. } => {
                *used = Instant::now();
                *failures = if has_failed { *failures + 1 } else { 0 };
                *failures >= most.max(1)
            }
            _ => false,
        }
    }

    /// Returns whether the proxy has been unconnected, or unused without a peer, for too long.
    pub fn is_abandoned(&self, now: Instant, patience: &Patience) -> bool {
        let is_past = |since: Instant, time: Duration| now.saturating_duration_since(since) > time;
        match &*self.state.lock() {
            State::Obtained(since) => is_past(*since, patience.connect_within),
            State::Connected {
                peer: None, used, ..
            } => patience.idle.is_some_and(|time| is_past(*used, time)),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_ends_once_and_cannot_begin_again() {
        let connection = Connection::new();
        assert_eq!(connection.used(), Err(ConnectionError::Disconnected));
        assert_eq!(connection.check_unconnected(), Ok(()));
        assert_eq!(connection.connect(Some(1)), Ok(()));
        assert_eq!(
            connection.check_unconnected(),
            Err(ConnectionError::AlreadyConnected)
        );
        assert_eq!(
            connection.connect(None),
            Err(ConnectionError::AlreadyConnected)
        );
        assert_eq!(connection.end(), Some(Some(1)));
        assert_eq!(connection.end(), None);
        assert_eq!(
            connection.connect(Some(2)),
            Err(ConnectionError::Disconnected)
        );
    }

    #[test]
    fn another_peer_takes_the_place_of_the_one_that_is_connected() {
        let connection = Connection::new();
        assert_eq!(
            connection.replace(Some(1)),
            Err(ConnectionError::Disconnected)
        );
        connection.connect(Some(1)).unwrap();
        assert!(!connection.called(true, 2));
        assert_eq!(connection.replaced(), 0);
        assert_eq!(connection.replace(Some(2)), Ok(()));
        assert_eq!((connection.peer(), connection.replaced()), (Some(2), 1));
        assert!(
            !connection.called(true, 2),
            "failures are those of the peer"
        );
        connection.end();
        assert_eq!(
            connection.replace(Some(3)),
            Err(ConnectionError::Disconnected)
        );
    }

    #[test]
    fn failures_count_in_succession() {
        let connection = Connection::new();
        connection.connect(Some(1)).unwrap();
        assert!(!connection.called(true, 2));
        assert!(!connection.called(false, 2));
        assert!(!connection.called(true, 2));
        assert!(connection.called(true, 2));
    }

    #[test]
    fn proxies_that_nobody_connects_or_uses_are_abandoned_after_their_times() {
        let patience = Patience {
            connect_within: Duration::from_secs(1),
            idle: Some(Duration::from_secs(10)),
            check: None,
        };
        let after = |seconds| Instant::now() + Duration::from_secs(seconds);
        let connection = Connection::new();
        assert!(!connection.is_abandoned(after(0), &patience));
        assert!(connection.is_abandoned(after(2), &patience));
        connection.connect(None::<i32>).unwrap();
        assert!(!connection.is_abandoned(after(2), &patience));
        assert!(connection.is_abandoned(after(20), &patience));
        let never = Patience {
            idle: None,
            ..patience
        };
        assert!(!connection.is_abandoned(after(20), &never));
        let known = Connection::new();
        known.connect(Some(1)).unwrap();
        assert!(!known.is_abandoned(after(20), &patience));
    }
}
