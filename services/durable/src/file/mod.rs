//! Store in an embedded database.
//!
//! Appends of all threads and logs share a commit (`core`). A commit writes, for each log, its new
//! events as [`block`]s, the acknowledgements that came meanwhile, and deletes the blocks that no
//! reader waits for. Memory has the lengths of all events and who waits for them (`state`), but
//! contents of the last blocks only (`cache`); others are read when a reader gets there.
//!
//! | module | contents |
//! |---|---|
//! | `layout`, `block` | tables and records |
//! | `ranges`, `ids`, `cache` | sets of positions; ids against repeats; blocks in memory |
//! | `reader_state`, `state`, `log` | state of a log in memory |
//! | `draft`, `writing`, `core` | changes of one commit: drafted, written, applied |
//! | `loading` | reading of the file |
//! | `keeper` | thread that stores acknowledgements, and drops expired events |
//! | `handles`, `store` | logs, readers and the store, as callers have them |

mod block;
mod cache;
mod core;
mod draft;
mod handles;
mod ids;
mod keeper;
mod layout;
mod loading;
mod log;
mod ranges;
mod reader_state;
mod state;
mod store;
mod writing;

pub use store::{FileOptions, FileStore};
