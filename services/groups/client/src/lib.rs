//! Members of object groups, as a server has them: with a lease that is renewed, loads that are reported, and a guard around
//! the servant.
//!
//! - [`Membership`] joins a group, and renews the lease on a thread of its own.
//! - [`Guard`] stands before a servant: it counts requests in progress, forwards them to the group while the member sheds load,
//!   and, in a passive group, while the member is not primary.
//! - [`Monitor`] and [`Alert`] are servants of load balancing: loads of the processors or of requests, and the guard's switch.
//!
//! The service is `punctual-groups-service`, which a member does not need.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod each;
mod guard;
mod load;
mod membership;
mod registrations;

pub use each::key_for_one;
pub use guard::Guard;
pub use load::{Alert, Monitor, processor_load};
pub use membership::{MemberOptions, Membership, StoreError, Stored};

include!(concat!(env!("OUT_DIR"), "/groups.rs"));
