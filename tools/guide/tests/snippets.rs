//! Every block of Rust in the guide, each a test that is named after its page and its line: `servers::line_57`.
#![allow(
    clippy::unwrap_used,
    clippy::let_underscore_must_use,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused_variables,
    dead_code
)]

mod support;

include!(concat!(env!("OUT_DIR"), "/snippets.rs"));
