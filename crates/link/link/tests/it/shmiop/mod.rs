//! Shared memory beyond what every link does: lending, two processes, peers that are killed, lie or scribble.
#![allow(missing_docs, clippy::unwrap_used)]

mod changes;
mod greeting;
mod hostile;
mod killed;
mod lending;
mod load;
mod process;
mod raw;
mod support;
mod users;
