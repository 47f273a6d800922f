//! Contents of an object reference in words: for tools that print it, as text, JSON or a page.
//!
//! Nothing is called, and a profile or component that cannot be decoded is shown as bytes, with the
//! reason.

mod facts;
mod meaning;

pub use facts::{ComponentFacts, Facts, Octets, ProfileFacts};
pub use meaning::Meaning;
