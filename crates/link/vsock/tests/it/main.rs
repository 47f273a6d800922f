//! Integration tests: one program, a module for each subject. They run over the loopback of `AF_VSOCK`, and are skipped where
//! the kernel has none; `cargo xtask vsock` runs them in a virtual machine that has it.
#![allow(clippy::unwrap_used)]

mod beyond;
mod conformance;
mod support;
