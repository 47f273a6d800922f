//! Schedules kept at run time: an ORB takes its lanes, priorities and reservations from a plan
//! (RTCosScheduling; Real-time CORBA 1.2, §6).
//!
//! A [`Schedule`] is the part of a plan that one host executes. A client schedules its threads by the names
//! of activities ([`ClientScheduler`]), a server its adapters and objects by the names of operations
//! ([`ServerScheduler`]); a name that the plan does not have, and a plan that this machine cannot execute, end
//! the program's start. [`PeriodicThread`] releases an activity by the clock, and [`AdmissionControl`] lets
//! activities come and go.
//!
//! All times are of `CLOCK_MONOTONIC`: steps of the wall clock change nothing.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod admission;
mod client;
mod error;
mod machine;
pub mod noise;
mod periodic;
pub mod rehearsal;
mod schedule;
mod server;
mod urgency;

pub use admission::AdmissionControl;
pub use client::ClientScheduler;
pub use error::{MachineError, NoiseError, ScheduleError, UnknownName};
pub use periodic::{Executed, Job, PeriodicThread};
pub use punctual_scheduling::Time;
pub use punctual_scheduling::admission::{AdmissionError, Change};
pub use schedule::{Activity, Dispatching, Doubt, Schedule, ScheduleOptions, Unproved};
pub use server::{ScheduledPoa, ServerScheduler};
pub use urgency::PlannedUrgency;
