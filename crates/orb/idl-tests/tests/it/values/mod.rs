//! Valuetypes through calls: over the wire, within the process, in Anys and exceptions.
#![allow(clippy::unwrap_used)]

mod calls;
mod keeper;
mod local;

/// Rust that the IDL compiler generates from `idl/values.idl`.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/values.rs"));
}
