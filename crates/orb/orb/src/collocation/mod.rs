//! Calls on objects of this process, which go to their servants without a request.

mod provided;
mod seam;

pub use provided::{Cast, Provided, View};
pub use seam::{Collocated, LocalRequest, Went};
