//! Valuetypes through calls: over the wire, within the process, in Anys and exceptions.
#![allow(clippy::unwrap_used)]

mod calls;
mod keeper;
mod local;

/// What `idl/values.idl` becomes.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/values.rs"));
}
