//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod diagnostics;
mod operators;
mod paths;
mod standard;
mod support;
