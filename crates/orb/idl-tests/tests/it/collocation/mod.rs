//! Calls on objects of the process: like those over the wire, on the caller's thread.
#![allow(clippy::unwrap_used)]

mod alike;
mod places;
mod priority;
pub(crate) mod servant;
mod state;

/// Code generated from `idl/near.idl`.
pub(crate) mod generated {
    include!(concat!(env!("OUT_DIR"), "/near.rs"));
}
