//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod ami;
mod cubit;
mod events;
mod rt;
mod smoke;
