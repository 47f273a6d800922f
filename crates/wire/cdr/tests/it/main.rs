//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod alignment;
#[path = "support/hex.rs"]
mod hex;
#[path = "support/lender.rs"]
mod lender;
mod properties;
mod structs;
mod text;
mod values;
