//! What an object adapter and the ORB say to each other of one object: where it is, what a caller is told
//! instead of a result, and how callers of this process get to its servant.
//!
//! The seam itself, [`crate::ObjectAdapter`], stands where requests are served.

mod answer;
mod collocated;
mod provided;

pub use answer::{DispatchError, Location};
pub use collocated::{Collocated, LocalRequest, Went};
pub use provided::{Cast, Provided, View};
