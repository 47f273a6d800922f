//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod diagnostics;
mod hostile;
mod operators;
mod paths;
mod properties;
mod random;
mod reference;
mod sets;
mod standard;
mod support;
