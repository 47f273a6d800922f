//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod corbaloc;
mod corbaname;
mod groups;
#[path = "../../../cdr/tests/it/support/hex.rs"]
mod hex;
mod multicast;
mod pair;
mod real_time;
mod references;
mod security;
