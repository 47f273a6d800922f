//! Answers of an object adapter about one object: its location, an answer in place of a result, and
//! the interface by which callers of the same process reach its servant.
//!
//! The main interface, [`crate::ObjectAdapter`], is defined in the server module.

mod answer;
mod collocated;
mod provided;

pub use answer::{DispatchError, Location};
pub use collocated::{Collocated, LocalRequest, Went};
pub use provided::{Cast, Provided, View};
