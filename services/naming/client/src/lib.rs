//! Client of the Naming Service (CosNaming 1.3, formal/04-10-03), of any ORB: names that are
//! resolved to typed references, kept bound, or cached on request.
//!
//! [`Names`] has the operations of a naming context, with names as text. The types of
//! `CosNaming.idl` are generated here once, as [`cos_naming`]; IDL that includes it refers to them
//! (`docs/guide/naming.md` shows how). Operations of Punctual's naming service beyond the standard
//! are in [`extension`], the types of `PunctualNaming.idl`.
//!
//! The service itself is `punctual-naming`, which a program that only uses names does not need.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod keep;
mod names;
mod text;
mod ttl;

pub use keep::Kept;
pub use names::Names;
pub use text::from_text;
pub use ttl::Ttl;

include!(concat!(env!("OUT_DIR"), "/CosNaming.rs"));

mod beyond {
    include!(concat!(env!("OUT_DIR"), "/PunctualNaming.rs"));
}

pub use beyond::punctual_naming as extension;
