//! Tests of the Implementation Repository: servers that start on demand, and what goes wrong with them.
#![allow(missing_docs, clippy::unwrap_used)]

mod activators;
mod administration;
mod deaths;
mod etcd;
mod faults;
mod hostile;
mod jacorb;
mod locating;
mod omniorb;
mod registration;
mod server;
mod settings;
mod shared;
mod starts;
mod support;

#[path = "../../../etcd/tests/member/mod.rs"]
mod etcd_member;

/// Rust code of the interface of the server that tests start.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/works.rs"));
}
