//! Rehearsals: a plan executed on this machine, with stand-ins that use the planned processor time, before the
//! operations themselves are written.
//!
//! Sources are periodic threads, operations called one-way are objects of an ORB with the plan's lanes, reached
//! over its endpoint. The measured response times stand beside the computed ones.

mod distribution;
mod measured;
mod script;
mod stage;

pub use measured::{Rehearsed, draw};
pub use script::burn;
pub use stage::{RehearsalOptions, rehearse};

/// Stubs and skeletons of `idl/Rehearsal.idl`.
#[allow(unnameable_types)]
mod idl {
    include!(concat!(env!("OUT_DIR"), "/Rehearsal.rs"));
}
