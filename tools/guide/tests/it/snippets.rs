//! Tests of every block of Rust in the guide, each named after its page and its line:
//! `servers::line_57`.
#![allow(
    clippy::unwrap_used,
    // Readers' code is held to rustc's rules, not to those of this workspace.
    clippy::approx_constant,
    clippy::field_reassign_with_default,
    clippy::let_underscore_must_use,
    non_snake_case,
    unused_imports,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused_variables,
    dead_code
)]

use crate::support;

include!(concat!(env!("OUT_DIR"), "/snippets.rs"));
