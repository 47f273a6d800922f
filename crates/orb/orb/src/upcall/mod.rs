//! What the calling thread is serving: its call context.
//!
//! [`stack`] is that, once for a thread, in [`frame`]s; [`main_thread`] hands an upcall to another thread, context and all.

mod frame;
mod main_thread;
mod stack;
#[cfg(test)]
mod tests;

pub use frame::AdapterNote;
pub(crate) use frame::RequestSource;
pub(crate) use main_thread::on_main_thread;
pub use stack::{
    OnObject, about_to_block, frame_arrival, noted_object, noted_objects, serves_alone,
};
pub(crate) use stack::{Serving, WithinProcess, in_upcall, in_upcall_of, is_wanted_elsewhere};
