//! Real-time CORBA 1.2: a CORBA priority that applies from the client's thread through the wire to
//! the servant, and deadlines, as far as the Linux kernel schedules by them.
//!
//! ```no_run
//! use punctual_orb::{Orb, PolicyType};
//! use punctual_rt::{Priority, PriorityModelPolicy, RtConfig, RtOrb};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let rt = RtOrb::new(RtConfig::default())?;
//! let orb = rt.extend(Orb::builder())?.build()?;
//! rt.current().set_the_priority(Priority::new(20_000)?)?;
//! // For POAs: `PoaPolicy::of(PriorityModelPolicy::client_propagated(…))`.
//! # let _ = (orb, PriorityModelPolicy::NUMBER); Ok(()) }
//! ```
//!
//! [`RtOrb`] is the standard's RTORB, the Real-time CORBA part of an ORB: [`RtOrb::extend`] adds it
//! to an ORB that is being built. A [`Priority`] is sent with requests; a [`PriorityMapping`]
//! converts it to a native priority of this machine. [`RtCurrent`] has the calling thread's
//! priority, which its calls carry to objects whose [`PriorityModelPolicy`] lets the client decide.
//! [`SchedulingCurrent`] has the dynamic part: segments of a fixed priority, or with deadlines.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod at_priority;
mod ceiling;
mod client_priority;
mod config;
mod configured;
mod connection;
mod context;
mod current;
mod distributable;
mod extend;
mod lane_report;
mod lanes;
mod mapping;
mod mutex;
mod orb;
mod poa;
mod priority_model;
mod range;
mod thread;
mod thread_pool;
pub mod timeline;

pub use client_priority::ClientPriorityPolicy;
pub use config::{LaneThreads, NetworkPriorities, PriorityTransform, Propagated, RtConfig};
pub use connection::{PriorityBandedConnectionPolicy, PrivateConnectionPolicy};
pub use current::RtCurrent;
pub use distributable::{
    DistributableThread, DistributableThreadId, DistributableThreadState, DistributableThreads,
    DynamicScheduling, Overrun, PropagatedReservations, ReservationLimit, SchedulingCurrent,
    SchedulingParameter, SegmentError, Spawned,
};
pub use lane_report::LaneReport;
pub use mapping::{ContinuousMapping, DirectMapping, LinearMapping, Mapping, PriorityMapping};
pub use mutex::{RtGuard, RtMutex};
pub use orb::{RtError, RtOrb};
pub use poa::RtPoa;
pub use priority_model::PriorityModelPolicy;
pub use punctual_exec::thread::{InvalidReservation, Processors, Reservation};
pub use punctual_ior::PriorityModel;
/// Measurement of upcalls, and their comparison with a plan.
pub use punctual_orb::measurement;
pub use punctual_orb::{
    AboveHighest, BufferLimits, ByPolicies, Discipline, DscpByPriority, LaneStatistics,
    NativePolicy, NetworkDirection, NoDscpByPriority, Priority, PriorityOutOfRange, RealTime,
    RtLevel, RtOperation, Urgency, UrgencyStrategy, WaitingRequest,
};
pub use punctual_sys::dscp::Dscp;
pub use thread_pool::{
    PoolThreads, RequestBuffering, ThreadpoolId, ThreadpoolOptions, ThreadpoolPolicy,
};
