//! Fault Tolerant CORBA in the ORB (CORBA 3.0, chapter 23): calls to object groups.
//!
//! ```no_run
//! use punctual_fault_tolerance::{FaultTolerance, GroupMember};
//! use punctual_orb::{ObjectRef, Orb};
//! # fn start(counter: &ObjectRef) -> Result<(), Box<dyn std::error::Error>> {
//! let orb = FaultTolerance::extend(Orb::builder())?.build()?;
//! // A client needs no more: calls through references of groups are repeated at other members.
//! // A member tells its ORB which group it belongs to:
//! let member = GroupMember::new("plant", 7);
//! FaultTolerance::of(&orb).ok_or("none")?.join(counter, &member)?;
//! # Ok(()) }
//! ```
//!
//! - [`FaultTolerance`] extends an ORB. Its requests to groups carry FT_GROUP_VERSION and FT_REQUEST; the ORB repeats them
//!   (`client/group.rs` of `punctual_orb`).
//! - [`GroupMember`] is what a member of a group says of it: the current reference, and whether this member serves.
//! - The replies to requests with FT_REQUEST are kept until they expire (`retention`), so that a repeat is answered without
//!   another upcall.
//! - [`Answered`] are the answers that a passive group keeps with its state, by [`RequestId`], for repeats at the next primary.
//! - [`RequestDurationPolicy`], [`HeartbeatPolicy`] and [`HeartbeatEnabledPolicy`] are the standard's policies 47 to 49.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod adapter;
mod answered;
mod extend;
mod member;
mod members;
mod policies;
mod request;
mod request_id;
mod retention;
mod time;

pub use answered::Answered;
pub use extend::FaultTolerance;
pub use member::{GroupMember, Role};
pub use members::NotAMember;
pub use policies::{HeartbeatEnabledPolicy, HeartbeatPolicy, RequestDurationPolicy};
pub use punctual_giop::service_context::FT_REQUEST;
pub use punctual_ior::{FtGroup, GroupError};
pub use punctual_orb::FaultToleranceSettings;
pub use request_id::RequestId;
pub use retention::RetentionCounts;
