//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod agreement;
mod hostile;
#[path = "../../../cdr/tests/it/support/lender.rs"]
mod lender;
mod lite;
mod messages;
mod plain;
mod sequenced;
mod streams;
mod support;
