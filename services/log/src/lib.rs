//! The Telecom Log Service of the OMG, version 1.1.2: logs of records that are durable when a write returns, and that are
//! queried in the constraint language.
//!
//! ```text
//! clock, limits, metrics, refusal    time; bounds; counts; exceptions
//! record, storage, discarded         records and logs in a file; records that are yet to be removed from it
//! log                                a log: schedule, capacity, writing, deleting
//! query, iterators                   constraints, results in parts; iterators of clients
//! notices                            events that logs send themselves
//! logs, servant                      the logs of a factory; what clients call
//! starting, service, hosted, settings    channels and logs that were kept; the service in a process
//! ```
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod clock;
mod common;
mod discarded;
mod hosted;
mod iterators;
mod limits;
mod log;
mod logs;
mod metrics;
mod notices;
mod query;
mod record;
mod refusal;
mod servant;
mod service;
mod settings;
mod starting;
mod storage;

pub use clock::Clock;
pub use limits::Limits;
pub use refusal::Refusal;
pub use service::{LogService, OpenError, Root};
pub use settings::{LISTEN, open, settings};

/// Logs and their factories, as generated from the standard's IDL.
mod generated {
    include!(concat!(env!("OUT_DIR"), "/log.rs"));
}

/// Records of the store, as generated from the IDL.
#[allow(clippy::module_inception)]
mod stored {
    include!(concat!(env!("OUT_DIR"), "/kept.rs"));
}

pub use generated::{ds_event_log_admin, ds_log_admin, ds_log_notification, ds_notify_log_admin};
pub use punctual_notification::time_base;
use stored::kept;
