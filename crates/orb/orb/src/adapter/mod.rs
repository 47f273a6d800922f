//! Answers of an object adapter about one object: its location, the answer in place of a result,
//! and the way in which callers of this process reach its servant.
//!
//! The main interface, [`crate::ObjectAdapter`], is defined in the server module.

mod answer;
mod collocated;
mod provided;

pub use answer::{DispatchError, Location};
pub use collocated::{Collocated, LocalRequest, Went};
pub use provided::{Cast, Provided, View};
