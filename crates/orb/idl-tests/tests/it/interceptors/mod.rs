//! Portable Interceptors: every interception point, for every way of calling.
#![allow(clippy::unwrap_used)]

use crate::support;

mod closures;
mod codecs;
mod components;
mod dynamic_servants;
mod fixture;
mod flow;
mod model;
mod observe;
mod one_ways;
mod proxies;
mod recorder;
mod registration;
mod slots;
mod tables;
mod told;
mod ways;

/// Rust that the IDL compiler generates from `idl/intercepted.idl`.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/intercepted.rs"));
}
