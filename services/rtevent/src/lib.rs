//! Real-time event channel of TAO, as a library without an ORB (`RtecEventChannelAdmin`; Schmidt 2000, O'Ryan et al.
//! 2001).
//!
//! Suppliers push events into a [`Channel`]; each consumer receives those that its [`Filter`] accepts, at its
//! [`Level`]: single ones, sets that a conjunction collected, and events of timers. Data of events are of any type that is
//! a [`Payload`].
//!
//! ```text
//! event, level, peer     events, urgency, the interfaces of consumers and suppliers
//! filter                 trees of conditions, in one flat array; correlation of events
//! subscription, options  what a consumer wants; what a channel may use
//! timer                  a timing wheel
//! dispatch               queues, and the threads that serve them: a file for each strategy
//! route                  consumers of each type and source, kept
//! channel                all of it together
//! ```
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod channel;
pub mod codes;
mod dispatch;
mod error;
mod event;
mod filter;
mod level;
mod liveness;
mod options;
mod peer;
mod route;
mod statistics;
mod subscription;
mod timer;

pub use channel::{Channel, ConsumerHandle, ObserverId, SupplierHandle};
pub use dispatch::{
    Dispatcher, LaneStatus, LaneThreads, Lanes, LanesOptions, Pool, PoolOptions, SlowOptions, Task,
    Threads, ThreadsOptions,
};
pub use error::{ConnectError, PushError};
pub use event::{Event, Header, Payload};
pub use filter::{Dependency, Filter, FilterError, FilterLimits};
pub use level::{Level, Schedule};
pub use options::{ChannelOptions, Clock, Dispatching, Liveness, OptionsError, ThreadFunction};
pub use peer::{
    Alive, Consumer, ConsumerId, Lost, Observer, Pushed, Reason, Reports, Selector, Supplier,
    SupplierId,
};
pub use punctual_exec::{SpawnError, ThreadSpec};
pub use punctual_sys::processor::Processors;
pub use punctual_sys::scheduling::Scheduling;
pub use statistics::{ChannelStatistics, ConnectionState, ConsumerStatistics};
pub use subscription::{LevelFunction, Overflow, Publications, QueueOptions, Subscription};
