//! Calls on objects of the caller's process: they behave like calls over the wire, but run on the
//! caller's thread.
#![allow(clippy::unwrap_used)]

mod alike;
mod places;
mod priority;
pub(crate) mod servant;
mod state;

pub(crate) use punctual_idl_tests::neighbours as generated;
