//! Tests of shared memory beyond the common suite: lending, two processes, and peers that are
//! killed, lie or overwrite memory.
#![allow(missing_docs, clippy::unwrap_used)]

mod changes;
mod common;
mod greeting;
mod hostile;
mod killed;
mod lending;
mod load;
mod process;
mod raw;
mod support;
mod users;
