//! Common parts of the links over UDP: the acceptor, whose thread distributes what arrives to a connection for each peer,
//! and the connection of a client. A link says how messages become datagrams ([`Sending`]) and how datagrams become
//! messages ([`Intake`]).

mod acceptor;
mod address;
mod connection;
mod dial;
mod launch;
mod options;
pub(crate) mod peers;
mod transmit;

#[cfg(feature = "miop")]
pub(crate) use acceptor::Intake;
pub(crate) use acceptor::{Listening, Tally, Whole, begin};
pub(crate) use address::from_socket;
pub(crate) use connection::{DatagramConnection, Sending};
pub(crate) use dial::dial;
pub use launch::LaunchTimes;
pub(crate) use launch::{LAUNCH_PROPERTIES, check_launch_values, launch_times};
pub use options::DiopOptions;
pub(crate) use options::INCOMING_CPU;
pub(crate) use options::KNOWN as SOCKET_PROPERTIES;
pub use transmit::LARGEST;
pub(crate) use transmit::{To, transmit};
