//! Tests of the store in a file: conformance, faults of the disk, kills.
#![allow(missing_docs, clippy::unwrap_used)]

mod conformance;
#[path = "../crash/mod.rs"]
mod crash;
mod faults;
mod kills;
mod reopening;
