//! Random filters and streams of events, beside a second implementation of their semantics.
//!
//! `PUNCTUAL_RTEVENT_STREAMS` is the number of streams.

mod random;
mod reference;
mod spec;
mod streams;

pub(crate) use random::Random;
