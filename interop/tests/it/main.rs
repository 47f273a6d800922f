//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod accounts;
mod combinations;
mod generated;
mod relay;
mod values;
