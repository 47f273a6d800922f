//! Calls on objects of this process, which go to their servants without a request.

mod provided;

pub use provided::{Cast, Provided, View};
