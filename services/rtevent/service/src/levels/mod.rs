//! Levels of deliveries, from a plan or a scheduler on the network: which operation an `rt_info` names, and the native
//! priority of its threads (O'Ryan et al. 2001, §3.2.4).

mod planned;
mod scheduler;
mod settings;
mod threads;

pub use planned::{GATEWAYS, LevelError, PlannedLevels, UNPLANNED, level_of};
pub use scheduler::{SchedulerError, SchedulerLevels, SchedulerOptions, UNSCHEDULED};
pub(crate) use settings::{Levels, SETTINGS};
pub use threads::threads_of;

/// Rust code generated from the IDL of the scheduler.
#[allow(dead_code, unreachable_pub, unnameable_types)]
mod generated {
    include!(concat!(env!("OUT_DIR"), "/RtecScheduler.rs"));
}

use generated::rtec_scheduler;
