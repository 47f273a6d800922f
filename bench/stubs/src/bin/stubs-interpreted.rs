//! Calls by interpreted stubs.

/// What `interpreted.idl` becomes.
#[allow(unused)]
mod idl {
    include!(concat!(env!("OUT_DIR"), "/interpreted.rs"));
}
use idl::{Point, Record, Shade, Stubs};

include!("../client.rs");
