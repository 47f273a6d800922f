//! Connections of a lane, by endpoint.
//!
//! The [`cache`] has all of them; [`to_endpoint`] has those to one endpoint, of which there are
//! several if callers are spread over them ([`chosen`], [`spare`]). A call uses a connection
//! through a [`binding`].

mod binding;
mod cache;
pub(crate) mod chosen;
mod endpoint;
mod membership;
mod opened_for;
mod spare;
mod to_endpoint;

pub(crate) use binding::{Binding, Bound};
pub(crate) use cache::{ConnectionCache, ConnectionTerms};
pub(in crate::lane) use cache::{open, still_wanted};
pub(crate) use endpoint::Endpoint;
pub(in crate::lane::outgoing) use membership::Membership;
pub(in crate::lane) use opened_for::OpenedFor;
pub(in crate::lane) use spare::LOOKS;
pub(in crate::lane) use to_endpoint::ToEndpoint;
