//! Address and limits of the console.

use std::time::Duration;

/// Options of the console: its address, permitted host names and limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsoleOptions {
    /// Host and port; port 0 is any free port.
    pub address: String,
    /// True if the address may be one that other machines reach. Default: false, which permits
    /// loopback addresses only.
    pub is_for_others: bool,
    /// Names by which browsers reach it, `names.example` or `names.example:443`, in addition to the
    /// address itself and, if that is a loopback address, `localhost`. A request for another host
    /// is refused, as it may come from a foreign page whose host name leads to this address.
    /// Default: none.
    pub hosts: Vec<String>,
    /// Limits on the resources that the console's clients can use.
    pub limits: ConsoleLimits,
}

/// Limits on the resources that the console's clients can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConsoleLimits {
    /// Maximum number of connections. Others wait to be accepted. Default: 64.
    pub connections: usize,
    /// Maximum number of event streams. A further one gets status 503. Default: 16.
    pub streams: usize,
    /// Maximum length of a form, in bytes. Default: 64 KiB.
    pub body_bytes: usize,
    /// Maximum time for a request's head to arrive, and for a connection to be idle. Default: 10 s.
    pub head_time: Duration,
    /// Maximum time for a request from its head to its reply. Default: 15 s.
    pub request_time: Duration,
    /// Maximum time for which a peer may not accept any data. Default: 10 s.
    pub write_time: Duration,
    /// Duration of an event stream, after which the browser opens another. Default: 10 minutes.
    pub stream_time: Duration,
    /// Minimum time between two events of one stream. Default: 300 ms.
    pub event_gap: Duration,
    /// Maximum number of bindings shown on one page. Default: 100.
    pub rows: usize,
    /// Maximum number of concurrent changes, and of concurrent calls to objects. Default: 8.
    pub at_a_time: usize,
    /// Maximum number of objects whose answers are kept. Default: 10,000.
    pub answers: usize,
    /// Maximum time for an object to answer. Default: 2 s.
    pub answer_time: Duration,
    /// Maximum age of an answer that is shown before the object is asked again. Default: 10 s.
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
