//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod constructs;
mod errors;
mod fast;
mod support;
mod values;
