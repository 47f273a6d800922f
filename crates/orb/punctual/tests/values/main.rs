//! Valuetypes through calls: over the wire, within the process, in Anys and exceptions.
#![allow(clippy::unwrap_used)]

mod calls;
mod keeper;
mod local;

#[path = "../support/mod.rs"]
mod support;

/// What `generated/values.idl` becomes.
mod generated {
    include!("../generated/values.rs");
}
