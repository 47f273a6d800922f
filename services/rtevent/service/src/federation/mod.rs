//! Events from one channel to another: by gateways over IIOP and other protocols of the ORB, and over UDP.
//!
//! An event crosses a gateway if its `ttl` is above 0, and has one less behind it, so that cycles of gateways end. What
//! crosses over the ORB is what consumers of the receiving channel subscribe to.

mod addresses;
pub mod datagram;
mod gateway;
mod link;
mod udp;

pub(crate) use addresses::Addresses;
pub use gateway::{Federation, FederationError};
pub use link::{Link, LinkError, UdpLink};
pub use udp::UdpCounts;

use crate::Event;

/// Returns the events that may cross another gateway, as they are behind it.
fn crossing(events: &[Event]) -> impl Iterator<Item = Event> {
    let may_cross = events.iter().filter(|event| event.header.ttl > 0);
    may_cross.map(|event| {
        let mut event = event.clone();
        event.header.ttl -= 1;
        event
    })
}
