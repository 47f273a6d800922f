//! Threads, each started from one value that specifies it.
//!
//! The new thread itself obtains, before its work, what its [`ThreadSpec`] asks for beyond name and
//! stack size. A refusal by the machine is returned to the thread that starts it, and the work is
//! not begun: a thread never runs at another priority than specified.

mod error;
mod spec;
mod start;

pub use error::{Requirement, SpawnError};
pub use punctual_sys::processor::Processors;
pub use punctual_sys::scheduling::{
    InvalidReservation, Policy, Reservation, Scheduling, native_priorities,
};
pub use spec::ThreadSpec;
pub use start::JoinHandle;
