//! OMG IDL from a build script.
//!
//! ```no_run
//! # fn main() -> Result<(), punctual_build::Error> {
//! punctual_build::compile("idl/cubit.idl")?;
//! # Ok(())
//! # }
//! ```
//! writes `cubit.rs` to the build script's output folder, and
//! ```ignore
//! include!(concat!(env!("OUT_DIR"), "/cubit.rs"));
//! ```
//! brings it into a module. The file and all its includes are watched, so that a change to any of
//! them compiles it again.
#![warn(unnameable_types)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod builder;
mod error;

pub use builder::Builder;
pub use error::Error;
pub use punctual_idl::Encoding;
pub use punctual_idl_rust::Stubs;

use std::path::Path;

/// Compiles one IDL file with the defaults of [`Builder`].
///
/// # Errors
/// Those of [`Builder::compile`].
pub fn compile(file: impl AsRef<Path>) -> Result<(), Error> {
    Builder::new().compile(&[file])
}
