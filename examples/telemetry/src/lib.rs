//! Common code of the station and its watchers: the IDL.

/// Rust that the IDL compiler generates.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/telemetry.rs"));
}

pub use idl::telemetry::*;
