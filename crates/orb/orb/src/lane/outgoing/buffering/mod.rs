//! Buffering of one-ways that are sent together.
//!
//! Each connection has a [`Buffer`]; [`flush`] puts requests into it and sends them, and the lane's [`Flusher`] calls
//! that when they are due.
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
