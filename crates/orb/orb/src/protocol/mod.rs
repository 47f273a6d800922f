//! Protocols that an ORB speaks: pairs of a messaging protocol and a link.
//!
//! `giop_lite+uiop` is GIOPlite over Unix sockets, `reliable+diop` is GIOP over datagrams that an
//! adapter makes reliable; without the name of a messaging protocol, GIOP is used. [`registry`]
//! holds the registered parts, and can change while the ORB runs; a [`bundle`] of parts is added to
//! it as a whole. [`configured`] says which side of a link has which property of its table in the configuration.

mod builtin;
mod bundle;
mod configured;
mod error;
mod publication;
mod registry;

pub(crate) use builtin::builtin;
pub use bundle::ProtocolBundle;
pub(crate) use configured::of_acceptors;
pub use error::{ProtocolCatalogue, ProtocolError};
pub(crate) use publication::{own_profiles_for, profiles_for};
pub(crate) use registry::{Pair, Protocols, Registry};
