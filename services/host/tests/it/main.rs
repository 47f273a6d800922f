//! Tests of the service host and of a service in it: the example of `services/README.md`, stores,
//! settings.
#![allow(missing_docs, clippy::unwrap_used)]

mod board;
mod ending;
mod example;
mod settings;
mod shared;
mod stores;
mod turns;

/// Code that the IDL compiler has written for `tests/idl/board.idl`.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/board.rs"));
    pub(crate) use notes::*;
}
