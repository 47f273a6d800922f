//! Tests of members that log their requests.
#![allow(missing_docs, clippy::unwrap_used)]

mod answers;
mod limits;
mod log;
mod members;
mod one_way;
mod process;
mod together;

#[allow(dead_code, reason = "the tests of the service need more of it")]
#[path = "../../../service/tests/it/support.rs"]
mod support;

/// Rust code of the interface of the members.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/register.rs"));
}
