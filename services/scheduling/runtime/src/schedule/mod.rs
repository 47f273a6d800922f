//! Schedule of one host: what a plan says of its activities.

mod activity;
mod build;
mod dynamic;
mod file;
mod options;

pub use activity::{Activity, Dispatching};
pub use build::Schedule;
pub use options::{ScheduleOptions, Unproved};
