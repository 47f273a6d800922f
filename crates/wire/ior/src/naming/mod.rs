//! Names of the Naming Service as text (CosNaming 1.3, §2.4 and §2.5), as far as they are data.
//!
//! ```text
//! plants/north.site/pump\.7             a stringified name: id.kind, components between slashes
//! corbaname::host:2809#plants/pump%207  that name, in the context NameService at host:2809
//! corbaname:rir:#plants                 in this ORB's initial reference NameService
//! corbaname:uiop:/run/names|Other#a/b   in the context of that key behind a Unix socket
//! ```
//! The output of [`Corbaname`] and [`to_text`] is read back to the same value.

mod corbaname;
mod text;

pub use corbaname::{Corbaname, CorbanameError};
pub use text::{NameComponent, StringifiedNameError, from_text, to_text};
