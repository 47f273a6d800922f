//! Tests of object groups as a service.
#![allow(missing_docs, clippy::unwrap_used)]

mod adopted;
mod balancing;
mod etcd;
mod factories;
mod failover;
mod fault_notifier;
mod faults;
mod hostile;
mod managers;
mod member;
mod members;
mod omniorb;
mod per_request;
mod properties;
mod settings;
mod support;
mod updates;

#[path = "../../../../etcd/tests/member/mod.rs"]
mod etcd_member;

/// Rust code of the interface of the members.
mod idl {
    include!(concat!(env!("OUT_DIR"), "/register.rs"));
}
