//! Levels of deliveries from a plan: which operation an `rt_info` names, and the native priority of its threads
//! (O'Ryan et al. 2001, §3.2.4).

mod planned;
mod settings;
mod threads;

pub use planned::{GATEWAYS, LevelError, PlannedLevels, UNPLANNED, level_of};
pub(crate) use settings::{Levels, SETTINGS};
pub use threads::threads_of;
