//! Description of an object reference's contents, for tools that show it as text, as JSON or on a
//! page.
//!
//! No server is called, and a profile or component that cannot be decoded is shown as bytes, with
//! the reason.

mod facts;
mod meaning;

pub use facts::{ComponentFacts, Facts, Octets, ProfileFacts};
pub use meaning::Meaning;
