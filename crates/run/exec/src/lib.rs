#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]
//! Execution: threads, groups and pools of them with a limit, the main-thread work queue,
//! deadlines, signals that end the process, and the reactor that threads share.
//!
//! Every thread of the ORB starts here ([`thread`]), so that each has a name that shows in `top`,
//! and the scheduling, processors and stack that it was specified with.

mod deadline;
pub mod lane_lock;
pub mod leader_followers;
mod main_thread;
mod quoted;
pub mod reactor;
mod spin;
mod stop_signals;
#[doc(hidden)]
pub mod sync;
pub mod thread;
mod thread_group;
pub mod throttle;
mod worker_pool;

pub use deadline::Deadline;
pub use lane_lock::{LaneLock, LockProtocol};
pub use leader_followers::LeaderFollowers;
pub use main_thread::{MainThreadQueue, Refused};
pub use quoted::Quoted;
pub use reactor::Reactor;
pub use spin::{Look, Spin};
pub use stop_signals::StopSignals;
pub use thread::{SpawnError, ThreadSpec};
pub use thread_group::ThreadGroup;
pub use throttle::Throttle;
pub use worker_pool::{WorkerPool, WorkerPoolOptions};
