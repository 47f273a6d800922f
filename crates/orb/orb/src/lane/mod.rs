//! Lanes. A lane has all resources that calls of one priority use. An ORB without Real-time CORBA
//! has one lane; with it, there is one more for each priority of an endpoint or of a calling
//! thread.
//!
//! A lane owns its connections in both directions, its endpoints, acceptors and their threads, its
//! reactors and its flusher, so that two lanes share nothing on the path of a call. Code that
//! accepts, connects, reads or calls is given an `Arc<Lane>`, and never looks one up.

mod alarms;
mod all;
#[cfg(test)]
mod apart_tests;
mod back;
mod by_priority;
mod counters;
mod incoming;
mod listen_points;
mod outgoing;
mod owned;
mod pool;
mod reactors;
mod references;
mod replies;
mod spreading;
mod statistics;
mod work;

pub(crate) use alarms::Alarm;
pub(crate) use all::Lanes;
pub(crate) use back::{Back, BackChannel, ServedBack, ServesConnections};
pub(crate) use counters::Counters;
pub(crate) use incoming::{Accepted, OpenEndpoint};
pub(crate) use listen_points::{ListenPoint, encode as encode_listen_points};
pub(crate) use outgoing::{
    AwaitedReply, Binding, Bound, Broken, ClientConnection, ConnectionTerms, Endpoint, MAX_WAITING,
    NoReply, NotBuffered, PendingReply, Waited, Waiting,
};
pub(crate) use outgoing::{ServesBack, ServesRequests, can_serve_back};
pub(crate) use outgoing::{at_thread_end, chosen};
pub(crate) use owned::{Lane, lane_threads};
pub use pool::PoolLane;
pub(crate) use reactors::{ServingThreads, not_listening};
pub(crate) use references::EndpointSelection;
pub(crate) use replies::Continuation;
pub use statistics::LaneStatistics;
pub use work::{Borrowers, BufferLimits};
pub(crate) use work::{Buffered, RequestBuffer};
