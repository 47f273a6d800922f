//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod corpus;
mod limits;
mod mistakes;
mod model;
mod published;
mod reject;
mod robustness;
mod scale;
