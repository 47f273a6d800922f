//! Common parts of the socket links: one connection type for all stream sockets, host names,
//! time-outs.
//!
//! The sockets block. Deadlines are set as the socket's own time-outs, and only when these differ
//! from the ones set before.

mod resolve;
mod socket_properties;
mod spin;
mod stream;
mod timeout;

pub(crate) use resolve::no_number;
pub use resolve::resolve;
pub use socket_properties::{TCP_PROPERTIES, tcp_options};
pub(crate) use socket_properties::{TRAFFIC_PROPERTIES, buffer_size, traffic};
pub use spin::{SPIN_PROPERTIES, SpinOptions};
pub use stream::{SocketOptions, StreamConnection};
pub(crate) use timeout::CachedTimeout;
