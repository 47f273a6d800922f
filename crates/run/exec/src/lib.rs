#![cfg_attr(test, allow(clippy::unwrap_used))]
//! Who executes, and until when: threads with names, crews of them with a limit, deadlines, and the
//! reactor that they share.
//!
//! Every thread of the ORB starts here, so that each has a name that a person can find in `top`,
//! and a crew that a shutdown can wait for.

mod crew;
mod deadline;
mod errands;
pub mod leader_followers;
pub mod reactor;
mod spin;
mod sync;

pub use crew::{Crew, SpawnError};
pub use deadline::Deadline;
pub use errands::{Errands, Refused};
pub use leader_followers::LeaderFollowers;
pub use reactor::Reactor;
pub use spin::{Look, Spin};
