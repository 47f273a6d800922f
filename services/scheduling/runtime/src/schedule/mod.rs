//! Schedule of one host: what a plan says of its activities.

mod activity;
mod build;
mod doubt;
mod dynamic;
mod execution;
mod expected;
mod file;
mod options;
mod stubs;

pub use activity::{Activity, Dispatching};
pub use build::Schedule;
pub use doubt::Doubt;
pub use options::{ScheduleOptions, Unproved};
