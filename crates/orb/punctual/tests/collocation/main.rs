//! Calls on objects of the process: as over the wire, on the caller's thread.
#![allow(clippy::unwrap_used)]

mod alike;
mod places;
mod servant;
mod state;

#[path = "../support/mod.rs"]
mod support;

/// What `generated/near.idl` becomes.
mod generated {
    include!("../generated/near.rs");
}
