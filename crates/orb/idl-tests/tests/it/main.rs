//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod asynchronous;
mod collocation;
mod dynamic;
mod events;
mod idl4;
mod inheritance;
mod interceptors;
mod interpreted;
mod later;
mod local;
mod side_by_side;
#[path = "../../../punctual/tests/it/support/mod.rs"]
mod support;
mod tie;
mod timed;
mod values;
