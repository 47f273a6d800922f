//! Calls on objects of the process: as over the wire, on the caller's thread.
#![allow(clippy::unwrap_used)]

mod alike;
mod places;
mod priority;
mod servant;
mod state;

#[path = "../../../punctual/tests/support/mod.rs"]
mod support;

/// What `idl/near.idl` becomes.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/near.rs"));
}
