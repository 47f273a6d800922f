//! Call context: the requests that the calling thread serves.
//!
//! [`stack`] is the context, one for each thread, made of [`frame`]s; [`main_thread`] passes an
//! upcall to another thread together with its context.

mod frame;
mod main_thread;
mod peer;
mod stack;
#[cfg(test)]
mod tests;

pub use frame::AdapterNote;
pub(crate) use frame::RequestSource;
pub(crate) use main_thread::on_main_thread;
pub use peer::RequestPeer;
pub use stack::{
    OnObject, about_to_block, charge_results, frame_arrival, noted_object, noted_objects,
    request_peer, serves_alone,
};
pub(crate) use stack::{
    Serving, WithinProcess, in_upcall, in_upcall_of, is_wanted_elsewhere, record_reply_made,
};
