//! The Naming Service (CosNaming 1.3, formal/04-10-03): names for objects, durable across crashes.
//!
//! A [`NamingService`] keeps a graph of contexts in memory and, if it was opened on a file, in an
//! embedded database, where each change is durable before it is acknowledged; the changes of many
//! callers share one commit. It is [served](NamingService::serve) by the standard's interfaces, so
//! that clients of every ORB use it.
//!
//! [`client`] has the functions for clients: typed references by name, and names that stay bound.
//! They are in a separate crate, `punctual-naming-client`: a program that uses names without
//! serving them needs only that crate.
//!
//! No object is ever activated: one servant serves all contexts, and an object's id is the number
//! of its context. The types of `CosNaming.idl` are generated once, as [`cos_naming`]; IDL
//! that includes it refers to them (`docs/guide/naming.md` shows how). Operations beyond the
//! standard are in [`extension`], the types of `PunctualNaming.idl`.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod access;
mod directory;
mod group_service;
mod hosted;
mod limits;
mod metrics;
mod name;
mod observe;
mod refusal;
mod servant;
mod service;
mod settings;
pub mod store;
mod tree;

pub use access::{Access, BadPrincipal, Principal};
pub use directory::{Directory, Entry, Leads, Portion};
pub use hosted::NamingServer;
pub use limits::Limits;
pub use observe::Observer;
pub use refusal::Refusal;
pub use servant::{ServeError, ServeOptions};
pub use service::{NamingService, OpenError, Size};
pub use settings::{LISTEN, open, settings, store_file};

pub use punctual_naming_client::{cos_naming, extension};

/// Functions for clients of the naming service, from `punctual-naming-client`, and the answer of a
/// group's member when it is asked whether it exists.
pub mod client {
    pub use punctual_groups::Answer;
    pub use punctual_naming_client::{Kept, Names};
}
