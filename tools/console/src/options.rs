//! Where the console listens, and how much it may be asked for.

use std::time::Duration;

/// Where the console listens, and to whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsoleOptions {
    /// Host and port; port 0 is any that is free.
    pub address: String,
    /// Whether the address may be one that other machines reach. Default: false, which takes loopback addresses only.
    pub is_for_others: bool,
    /// Names that browsers reach it by, `names.example` or `names.example:443`, beside the address itself and, where that
    /// is a loopback address, `localhost`. A request for another host is refused: a page of somebody else's whose name
    /// leads to this address would be one. Default: none.
    pub hosts: Vec<String>,
    /// How much there may be.
    pub limits: ConsoleLimits,
}

/// How much the console holds for those who ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsoleLimits {
    /// Connections. Others wait to be accepted. Default: 64.
    pub connections: usize,
    /// Event streams. One more gets status 503. Default: 16.
    pub streams: usize,
    /// Bytes of a form. Default: 64 KiB.
    pub body_bytes: usize,
    /// How long a request's head may take to arrive, and a connection be idle. Default: 10 s.
    pub head_time: Duration,
    /// How long a request may take from its head to its reply. Default: 15 s.
    pub request_time: Duration,
    /// How long a peer may take none of what it is sent. Default: 10 s.
    pub write_time: Duration,
    /// How long an event stream lasts, after which the browser opens another. Default: 10 minutes.
    pub stream_time: Duration,
    /// The least time between two events of one stream. Default: 300 ms.
    pub event_gap: Duration,
    /// Bindings on one page. Default: 100.
    pub rows: usize,
    /// Changes, and calls to objects, that are under way at a time, each. Default: 8.
    pub at_a_time: usize,
    /// Objects whose answers are remembered. Default: 10,000.
    pub answers: usize,
    /// How long an object may take to answer. Default: 2 s.
    pub answer_time: Duration,
    /// How old an answer may be that is shown, before the object is asked again. Default: 10 s.
    pub answer_age: Duration,
}

impl Default for ConsoleLimits {
    fn default() -> Self {
        Self {
            connections: 64,
            streams: 16,
            body_bytes: 64 << 10,
            head_time: Duration::from_secs(10),
            request_time: Duration::from_secs(15),
            write_time: Duration::from_secs(10),
            stream_time: Duration::from_secs(600),
            event_gap: Duration::from_millis(300),
            rows: 100,
            at_a_time: 8,
            answers: 10_000,
            answer_time: Duration::from_secs(2),
            answer_age: Duration::from_secs(10),
        }
    }
}
