//! Tests of the assignment of priorities and processors.

mod audsley;
mod packing;
mod partition;
mod prepared;
mod rank;
mod sensitivity;
pub(crate) mod sets;
