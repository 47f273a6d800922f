//! Rust that the IDL compiler generates from `soak.idl`.
#![allow(
    unreachable_pub,
    dead_code,
    missing_debug_implementations,
    reason = "as it is for everybody"
)]

include!(concat!(env!("OUT_DIR"), "/soak.rs"));
