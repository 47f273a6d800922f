//! What is in an object reference, in words: for tools that print it, as text, JSON or a page.
//!
//! Nothing is called, and a profile or component that does not decode is shown as octets, with why.

mod facts;
mod meaning;

pub use facts::{ComponentFacts, Facts, Octets, ProfileFacts};
pub use meaning::Meaning;
