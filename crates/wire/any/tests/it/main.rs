//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod anys;
mod chunked;
mod cursor;
mod debug;
mod elements;
mod hostile;
mod hostile_values;
mod passed;
mod properties;
mod support;
mod type_codes;
