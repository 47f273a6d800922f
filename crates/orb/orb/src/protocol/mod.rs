//! Protocols that an ORB speaks: pairs of a messaging protocol and a link.
//!
//! `giop_lite+uiop` is GIOPlite over Unix sockets, `reliable+diop` is GIOP over datagrams that an
//! adapter makes reliable; without a messaging protocol's name GIOP is meant. [`registry`] holds
//! the registered parts, and changes while the ORB runs; a [`bundle`] is added to it at once.

mod builtin;
mod bundle;
mod error;
mod publication;
mod registry;

pub(crate) use builtin::builtin;
pub use bundle::ProtocolBundle;
pub use error::{ProtocolCatalogue, ProtocolError};
pub(crate) use publication::{own_profiles_for, profiles_for};
pub(crate) use registry::{Pair, Protocols, Registry};
