//! One-ways that wait to be sent together.
//!
//! A connection has a [`Buffer`]; [`flush`] puts requests into it and sends what waits, and the lane's [`Flusher`] does so
//! when their time has come.

mod buffer;
mod flush;
mod flusher;
mod queue;

pub(in crate::lane::outgoing) use buffer::Buffer;
pub(crate) use buffer::NotBuffered;
pub(crate) use flusher::Flusher;
pub(crate) use queue::Waiting;
