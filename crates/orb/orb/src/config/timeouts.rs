//! Time-outs of an ORB.

use std::time::Duration;

/// Time-outs of connections and calls. `None` means no time-out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeouts {
    /// Time to set up a connection, all its addresses and the name look-up together. Default 10 s.
    pub connect: Option<Duration>,
    /// Time to set up connections for one call, to all endpoints of its reference and of those it
    /// is forwarded to. Default 30 s.
    pub reach: Option<Duration>,
    /// Time of a whole call, from its start to its reply; a call may have its own
    /// ([`crate::ObjectRef::with_timeout`]). Default none: long calls are legitimate, and a peer
    /// that vanished is noticed by TCP keep-alive within a minute.
    pub call: Option<Duration>,
    /// Time that a new peer may stay silent before its first message. Default 30 s.
    pub first_message: Option<Duration>,
    /// Time that a peer may take from a message's first byte to its last. Default 30 s.
    pub message: Option<Duration>,
    /// Time that a client's connection may be quiet, with no request in progress, before it is
    /// closed (CloseConnection, which loses nothing: clients open another with their next call).
    /// Default none.
    pub idle: Option<Duration>,
    /// Minimum time that a connection must have been quiet before it is closed to make room for
    /// another, when there are `max_connections`. Default 1 s; `None` never closes one for another.
    pub make_room: Option<Duration>,
    /// Time that a peer may take to accept a reply. Default 30 s.
    pub reply: Option<Duration>,
    /// Time that a servant that answers later (AMH) may keep a request, before the ORB answers it
    /// with TIMEOUT; a POA may have its own. Default none: such servants are meant for calls that
    /// stay open for long.
    pub answer: Option<Duration>,
    /// Time that an upcall may take before another thread receives on its connection, if more
    /// requests wait there. Default 20 ms, checked no more often; with `None` they wait for the
    /// upcall.
    pub hand_over: Option<Duration>,
    /// Time that a call may wait which a servant makes on a thread of a pool, or on the one thread
    /// of reactive endpoints, unless the call has a time-out of its own: its reply may depend on a
    /// request that only this thread could serve. Default 60 s. Does not apply to calls that wait
    /// by [`crate::Wait::Reactor`].
    pub nested_call: Option<Duration>,
    /// Idle time of a connection after which its next call first checks, by one system call,
    /// whether the server has closed it: a request sent on a closed connection would be neither
    /// answered nor safe to repeat. Default 50 ms; `None` never checks.
    pub quiet: Option<Duration>,
    /// Time that the check after `quiet` may wait for the rest of a message that has begun to
    /// arrive. Default 100 ms; `None` waits as long as the call itself may.
    pub drain: Option<Duration>,
    /// Time for which a connection beside the first to its endpoint is kept when it is not needed
    /// ([`crate::Mux::Adaptive`]). Default 10 s; `None` keeps it until the ORB ends.
    pub spare_connection: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Some(Duration::from_secs(10)),
            reach: Some(Duration::from_secs(30)),
            call: None,
            first_message: Some(Duration::from_secs(30)),
            message: Some(Duration::from_secs(30)),
            idle: None,
            make_room: Some(Duration::from_secs(1)),
            reply: Some(Duration::from_secs(30)),
            answer: None,
            hand_over: Some(Duration::from_millis(20)),
            nested_call: Some(Duration::from_secs(60)),
            quiet: Some(Duration::from_millis(50)),
            drain: Some(Duration::from_millis(100)),
            spare_connection: Some(Duration::from_secs(10)),
        }
    }
}
