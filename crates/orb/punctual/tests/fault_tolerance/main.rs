//! Tests of Fault Tolerant CORBA in the ORB: calls to object groups, their members, kept replies.
#![allow(clippy::unwrap_used)]

mod contexts;
mod group;
mod heartbeats;
mod limits;
mod omniorb;
mod process;
mod proxy;
mod repeats;
mod retention;
mod roles;
#[path = "../it/support/mod.rs"]
mod support;
