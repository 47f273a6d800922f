//! Client with compiled stubs.

/// Rust that the IDL compiler generates from `compiled.idl`.
#[allow(unused)]
mod idl {
    include!(concat!(env!("OUT_DIR"), "/compiled.rs"));
}
use idl::{Point, Record, Shade, Stubs};

include!("../client.rs");
