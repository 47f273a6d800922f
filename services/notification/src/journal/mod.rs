//! Persistent events: each channel that has them has a log, of which its consumers with persistent connections are
//! readers. An event is taken from its supplier when the log has it, and given to each reader until it is acknowledged.
//!
//! ```text
//! encoding    an event as the bytes that the log keeps
//! fence       removals where several servers have the service
//! left        events in a file that becomes the copy of shared records
//! log         the log of one channel
//! store       the logs of all channels
//! ```

mod encoding;
mod fence;
mod left;
mod log;
mod store;

pub(crate) use encoding::decoded;
pub(crate) use left::check_left;
pub(crate) use log::ChannelLog;
pub(crate) use store::Journal;
