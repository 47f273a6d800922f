//! Buffering of one-ways that are sent together.
//!
//! Each connection has a [`Buffer`]; [`flush`] puts requests into it and sends them, and the lane's [`Flusher`] sends
//! them when they are due.

mod buffer;
mod flush;
mod flusher;
mod queue;

pub(in crate::lane::outgoing) use buffer::Buffer;
pub(crate) use buffer::NotBuffered;
pub(crate) use flusher::Flusher;
pub(crate) use queue::Waiting;
