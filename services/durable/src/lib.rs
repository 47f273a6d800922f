//! Durable logs of events, for channels whose events outlive their processes.
//!
//! A log keeps opaque events in the order in which they were appended, until each of its readers
//! has acknowledged them. Delivery is at least once. An append is acknowledged when it is durable.
//!
//! | module | contents |
//! |---|---|
//! | `contract` | the interface: [`EventStore`], [`EventLog`], [`Reader`], events, quotas, errors |
//! | `file` | the [`FileStore`]: a store in an embedded database (redb) in one file |
//! | `conformance` | the tests that each store passes (feature `conformance`) |
//!
//! `docs/durable-events.md` has a table of what is promised by which store.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

#[cfg(feature = "conformance")]
pub mod conformance;
mod contract;
mod file;

pub use contract::{
    Appended, Delivery, DurableError, EventId, EventLog, EventStore, InvalidName, Limit,
    LogSettings, LogStatus, Moment, Most, Name, NewEvent, Position, Quota, Reader, Wake, WhenFull,
};
pub use file::{FileOptions, FileStore};
