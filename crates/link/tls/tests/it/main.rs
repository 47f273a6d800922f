//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

mod conformance;
mod hostile;
mod openssl;
mod support;
mod trust;
