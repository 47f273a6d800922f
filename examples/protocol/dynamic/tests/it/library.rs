//! Shared library of this package.

use std::path::PathBuf;

/// Returns the library's path. Cargo builds it for these tests, beside their program.
pub(crate) fn path() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.with_file_name("libpunctual_example_protocol_dynamic.so")
}
