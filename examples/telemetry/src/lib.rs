//! What the station and those who watch it have in common: the IDL.

/// What the IDL compiler wrote.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/telemetry.rs"));
}

pub use idl::telemetry::*;
