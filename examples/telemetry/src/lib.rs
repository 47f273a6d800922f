//! Common code of the station and its watchers: the IDL.

/// Rust code that the IDL compiler generates from the telemetry example's IDL.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/telemetry.rs"));
}

pub use idl::telemetry::*;
