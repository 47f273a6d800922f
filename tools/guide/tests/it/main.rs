//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod links;
mod snippets;
mod support;
