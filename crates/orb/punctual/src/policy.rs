//! Policies of calls: their values, where they are set, and policy types that a program adds.
//!
//! A program needs this module to set anything beyond a plain time-out: [`Policy`](crate::Policy) and
//! [`SetOverride`](crate::SetOverride), in the root of the crate, take the values that are here.
//!
//! ```no_run
//! use punctual::policy::{Buffering, SyncScope};
//! use punctual::prelude::*;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let orb = Orb::builder().build()?;
//! let sensor = orb.string_to_object("corbaloc::host:2809/Sensor")?;
//! let buffered = sensor.set_policy_overrides(
//!     &[
//!         Policy::SyncScope(SyncScope::None),
//!         Policy::Buffering(Some(Buffering::EXPLICIT.messages(100))),
//!     ],
//!     SetOverride::Add,
//! )?;
//! # let _ = buffered;
//! # Ok(()) }
//! ```

pub use punctual_orb::{
    AtBound, Bidirectional, BufferCapacity, Buffering, CallPolicies, CallsInFlight, CharCodeSet,
    ClientProtocols, Collocation, CollocationScope, DefinedPolicy, EndpointChoice, InvalidPolicy,
    LinkProperty, Mux, Otherwise, PolicyCodec, PolicyCurrent, PolicyLevels, PolicyManager,
    PolicyType, PolicyTypeTaken, PolicyValue, PriorityRange, PublishedEndpoints, QueueOrder,
    Rebind, Security, SyncScope, Transfer, Validation, Wait, WhenFull,
};
