//! Integration tests: one program, a module for each subject.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "miop")]
mod miop;
mod shmiop;
