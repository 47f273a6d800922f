//! Dispatching: levels, queues, threads.

mod levels;
mod overflow;
mod queues;
mod support;
mod threads;
