//! Events over UDP, as TAO's gateways send them.

mod counts;
mod pace;
mod receiver;
mod sender;
mod socket;

pub use counts::UdpCounts;
pub(super) use receiver::Receiver;
pub(super) use sender::Sender;
