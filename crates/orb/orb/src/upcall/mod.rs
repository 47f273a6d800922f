//! What the calling thread is serving: its call context.
//!
//! [`stack`] is that, once for a thread; [`main_thread`] hands an upcall to another thread, context and all.

mod main_thread;
mod stack;

pub(crate) use main_thread::on_main_thread;
pub use stack::{AdapterNote, frame_arrival, serves_alone};
pub(crate) use stack::{
    RequestSource, Serving, WithinProcess, about_to_block, in_upcall, in_upcall_of,
    is_wanted_elsewhere,
};
