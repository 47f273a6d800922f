//! Multicast groups of objects (MIOP: OMG's Unreliable Multicast Inter-ORB Protocol): a one-way to a group reaches all of its
//! members, or some, or none, by packets that the network copies.
//!
//! ```no_run
//! use punctual_multicast::{Goa, GroupInfo, Multicast};
//! use punctual_orb::Orb;
//! # use punctual_poa::{ObjectId, Poa};
//! # fn start(poa: &Poa, id: &ObjectId) -> Result<(), Box<dyn std::error::Error>> {
//! let orb = Multicast::extend(Orb::builder()).build()?;
//! // A client needs no more: one-ways through references of groups are sent to the group.
//! let group = orb.string_to_object("corbaloc:miop:1.0@1.0-plant-7/239.255.0.1:5555")?;
//! // A server has objects of its POAs be members:
//! Goa::of(poa).ok_or("not extended")?.associate_reference_with_id(&group, id)?;
//! # Ok(()) }
//! ```
//!
//! - [`Multicast`] extends an ORB, makes references of groups, and tells what arrived and what was lost.
//! - [`Goa`] is the group object adapter of the standard: it relates objects of a POA to groups.
//! - A request goes through the link [`punctual_link::miop`] as packets, and is addressed by the profile TAG_UIPMC
//!   (`messaging`, `codec`). At a member, the packets' messages are checked before anything else is done with them
//!   (`filter`); then each associated object serves the request (`adapter`).
//! - A call with a reply goes by the IIOP profile inside the reference (TAG_GROUP_IIOP), if there is one. No packet is ever
//!   answered.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod adapter;
mod codec;
mod extend;
mod filter;
mod goa;
mod key;
mod messaging;
mod table;

pub use extend::{GroupReference, Multicast};
pub use goa::{Goa, GoaError};
pub use messaging::{NAME, PROTOCOL};
pub use punctual_ior::{GroupInfo, UipmcProfile};
pub use punctual_link::miop::{Interface, MiopCounts, MiopOptions};
