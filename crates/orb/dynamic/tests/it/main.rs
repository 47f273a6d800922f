//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod dyn_any;
mod json;
mod json_octets;
#[path = "../../../../wire/any/tests/it/support/mod.rs"]
mod support;
