//! The real-time scheduling service: `RtecScheduler::Scheduler` with the interface of TAO 2.2.1, over the
//! library of schedules (`punctual-scheduling`).
//!
//! Clients register operations with what they need (`RT_Info`) and on which others they depend. The
//! service makes a model of them, plans it by a [strategy](SchedulingService::set_options), and answers with
//! levels and native priorities. What does not fit is reported as anomalies.
//!
//! A [`SchedulingService`] keeps all of it in memory and, if it was opened on a file, in an embedded
//! database.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod attributes;
mod draft;
mod hosted;
mod limits;
mod metrics;
mod planning;
mod refusal;
mod servant;
mod service;
mod settings;
mod state;
mod storage;

pub use limits::Limits;
pub use refusal::Refusal;
pub use service::{OpenError, Options, SchedulingService};
pub use settings::{LISTEN, open, settings};

include!(concat!(env!("OUT_DIR"), "/RtecScheduler.rs"));

/// Rust code generated from the IDL for the stored form of operations.
#[allow(clippy::module_inception)]
mod stored {
    include!(concat!(env!("OUT_DIR"), "/kept.rs"));
}

use stored::kept;
