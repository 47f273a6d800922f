//! Dispatching: levels, queues, threads.

mod blocking;
mod lanes;
mod levels;
mod overflow;
mod queues;
mod slow;
mod support;
mod threads;
