//! Traits and types with which a program implements its own links, messaging protocols and profile
//! codecs.
//!
//! A program needs this module to add a transport or a messaging protocol ([`ProtocolBundle`]), to
//! use a link's memory for a call's arguments ([`Loan`]), or to query the number and time of the
//! frame in which a request has arrived ([`frame_arrival`]). `examples/protocol` is a protocol from
//! end to end.

pub use punctual_exec::Deadline;
pub use punctual_link::*;
pub use punctual_orb::{
    Abilities, BadFrame, DecodedProfile, EachRequest, EndpointQualities, Examined, Frame,
    FrameArrival, Frames, Giop, GiopLite, Head, LaneId, Messaging, Needs, Priority, ProfileCodec,
    ProfileEndpoint, ProtocolBundle, ProtocolCatalogue, ProtocolError, Publication, QueuedRequest,
    Reached, SecurityRequirement, Session, Unreachable, frame_arrival, relay::endpoints_of,
};
#[cfg(feature = "plugins")]
pub use punctual_plugin::{PluginError, load};
#[cfg(feature = "tls")]
pub use punctual_tls as ssliop;
#[cfg(feature = "vsock")]
pub use punctual_vsock as vsock;
