//! Interoperable object references (CORBA 3.3 part 2, §7.6): the location of an object and the
//! protocols to reach it, as data.
//!
//! - [`Ior`] keeps every profile as received, so that a reference that passes through is passed
//!   on octet for octet, whatever tags it holds.
//! - [`Profile`] and [`Component`] are the decoded data of known tags; [`tags`] names them.
//! - [`Corbaloc`] is a reference that people can type.
//! - [`Corbaname`] is a name in a naming context that people can type; [`name_from_text`] reads
//!   such a name.
//! - [`Ior::of_group`] makes the reference of an object group of Fault Tolerant CORBA, [`FtGroup`] names the group.
//! - [`UipmcProfile`] is the address of a multicast group (MIOP), [`GroupInfo`] names the group.
//! - [`ProfileTemplates`] are profiles that are written once for many objects.
//!
//! Nothing here does I/O or resolves a name.
#![warn(unnameable_types)]
#![deny(clippy::indexing_slicing, clippy::cast_possible_truncation)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::cast_possible_truncation
    )
)]

mod component;
mod corbaloc;
mod csi;
mod diop;
mod endpoint;
mod error;
mod ft_group;
mod group;
mod group_info;
mod iiop;
mod multicast;
mod naming;
mod pair;
mod path;
mod policy;
mod profile;
mod reference;
mod security;
mod stringified;
mod tagged;
pub mod tags;
mod tao;
mod template;
mod uiop;
mod version;

pub use component::{CodeSetComponent, CodeSetComponentInfo, Component, PolicyValue, UnixTrans};
pub use corbaloc::{
    Address, Corbaloc, CorbalocError, CorbalocPart, DEFAULT_IIOP_PORT, DEFAULT_SSLIOP_PORT, KeyMark,
};
pub use csi::{CompoundMechanism, MechanismTransport, TlsSecTrans};
pub use diop::DiopProfile;
pub use endpoint::Endpoint;
pub use error::IorError;
pub use ft_group::FtGroup;
pub use group::GroupError;
pub use group_info::GroupInfo;
pub use iiop::IiopProfile;
pub use multicast::UipmcProfile;
pub use naming::{
    Corbaname, CorbanameError, NameComponent, StringifiedNameError, from_text as name_from_text,
    to_text as name_to_text,
};
pub use pair::PairProfile;
pub use policy::{ClientProtocol, PolicyMeaning, PriorityModel, TransportProperties};
pub use profile::Profile;
pub use reference::Ior;
pub use security::{AssociationOptions, SslSecTrans};
pub use tagged::{TaggedComponent, TaggedProfile};
pub use tao::{TaoEndpoint, TaoPlace};
pub use template::{Origin, ProfileTemplates};
pub use uiop::UiopProfile;
pub use version::IiopVersion;
