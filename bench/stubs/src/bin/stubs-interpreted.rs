//! Client with interpreted stubs.

/// Rust that the IDL compiler generates from `interpreted.idl`.
#[allow(unused)]
mod idl {
    include!(concat!(env!("OUT_DIR"), "/interpreted.rs"));
}
use idl::{Point, Record, Shade, Stubs};

include!("../client.rs");
