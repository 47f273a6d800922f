//! Calls by compiled stubs.

/// What `compiled.idl` becomes.
#[allow(unused)]
mod idl {
    include!(concat!(env!("OUT_DIR"), "/compiled.rs"));
}
use idl::{Point, Record, Shade, Stubs};

include!("../client.rs");
