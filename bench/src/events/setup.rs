//! Settings with which the harness starts the processes.

use super::priorities::Policy;
use crate::Result;
use crate::peer::socket::{self, Kind};
use clap::ValueEnum;
use punctual::ListenEndpoint;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Settings of a pair of processes, by experiment.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Setup {
    /// Channel, and a process that is its supplier and its consumer.
    Latency(Remote),
    /// Channel, and a process with a supplier and several consumers.
    Throughput(Stream),
    /// Channel with suppliers and consumers in one process.
    Dispatching(Local),
}

/// Settings of `latency`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Remote {
    /// Way that an event takes.
    pub(super) through: Through,
    /// Link of both processes.
    pub(super) link: Link,
    /// Bytes of an event's payload.
    pub(super) octets: usize,
    /// Scheduling of all threads.
    pub(super) policy: Policy,
}

/// Settings of `throughput`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Stream {
    /// Channel and link.
    pub(super) remote: Remote,
    /// Number of consumers, each with a connection of its own.
    pub(super) consumers: u16,
}

/// Order to the client of `throughput`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Flow {
    /// Number of events.
    pub(super) events: u32,
    /// Number of events in a push.
    pub(super) batch: u32,
}

/// Way of an event in `latency`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Through {
    /// Raw sockets: a message there, and one back.
    Floor,
    /// Channel whose suppliers' threads push to the consumers.
    Reactive,
    /// Channel with queues and a thread for each level.
    Threads,
}

/// Link between the processes of `latency`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Link {
    /// TCP.
    Iiop,
    /// Unix sockets.
    Uiop,
}

/// Settings of `dispatching`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Local {
    /// Threads that deliver events.
    pub(super) by: By,
    /// Number of urgent consumers.
    pub(super) high: u16,
    /// Number of consumers that compute, each of a level of its own.
    pub(super) low: u16,
    /// Processor time that one of them uses for an event, in microseconds.
    pub(super) work: u64,
    /// Time between two urgent events, in microseconds.
    pub(super) pace: u64,
    /// Time between two other events, in microseconds.
    pub(super) low_pace: u64,
    /// Scheduling of the threads.
    pub(super) policy: Policy,
}

/// Way of dispatching in `dispatching`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum By {
    /// Suppliers' threads.
    Reactive,
    /// A thread for each level.
    Threads,
    /// Pool of four threads for all levels.
    Pool,
    /// One thread for all levels: the paper's single-threaded dispatching.
    Single,
}

/// Order to the client of `latency`, and to that of `dispatching`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Batch {
    /// Number of events before those that count.
    pub(super) warm_up: u32,
    /// Number of events that count.
    pub(super) events: u32,
    /// Set if the consumers that compute get events, too.
    pub(super) loaded: bool,
}

impl Link {
    /// Returns the endpoint of a process.
    ///
    /// # Errors
    /// The ORB does not know the link.
    pub(super) fn endpoint(self) -> Result<ListenEndpoint> {
        Ok(match self {
            Self::Iiop => "iiop://127.0.0.1:0",
            Self::Uiop => "uiop://",
        }
        .parse()?)
    }

    /// Returns the raw sockets with which the link is compared.
    pub(super) fn sockets(self) -> Kind {
        let link = match self {
            Self::Iiop => socket::Link::Tcp,
            Self::Uiop => socket::Link::Unix,
        };
        Kind { link, spins: false }
    }
}

impl fmt::Display for Through {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Floor => "floor",
            Self::Reactive => "reactive",
            Self::Threads => "threads",
        })
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reactive => "reactive",
            Self::Threads => "threads",
            Self::Pool => "pool",
            Self::Single => "single",
        })
    }
}
