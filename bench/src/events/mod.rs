//! `events`: time that events take through the real-time event channel.
//!
//! `latency` pushes through a channel in another process, beside two one-way messages of raw
//! sockets. `dispatching` has the channel's library in one process, without an ORB: urgent
//! consumers alone, and beside others of lower levels that compute (Schmidt's slides on the
//! performance of real-time ORBs, "Real-time Event Channel Dispatching Experiments"). `throughput`
//! pushes batches of events through a channel in another process to several consumers.
//!
//! ```text
//! command      the experiments
//! latency      options, contenders and goals of the first; `channel` and `peer` are its processes
//! dispatching  those of the second; `engine` makes its batches, `consumers` are its consumers
//! throughput   those of the third; `stream` is its client process
//! setup        settings of both kinds of processes, as the harness passes them
//! ```

mod channel;
mod command;
mod consumers;
pub(crate) mod dispatching;
mod engine;
mod goals;
pub(crate) mod latency;
mod load;
mod peer;
mod priorities;
mod setup;
mod sides;
mod stream;
pub(crate) mod throughput;

pub use command::Experiment;
pub(crate) use command::run;
pub(crate) use setup::Setup;
pub(crate) use sides::{call, serve};
