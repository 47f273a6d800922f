//! Reader of the pages of the guide (`docs/guide`), for tests of their contents.
//!
//! A page is Markdown. Comments in it that begin with `guide:` are for the tests and are not shown:
//!
//! | comment | the following blocks of code |
//! |---|---|
//! | `<!-- guide: setup STATEMENTS -->` | Rust from here on has these statements before it, until another such comment |
//! | `<!-- guide: file PATH -->` | the next block is a file, which is written to PATH when the page's commands run |
//! | `<!-- guide: not run: REASON -->` | the next block is neither compiled nor run, for that reason |
//!
//! The build script of this crate makes a test of each block of Rust; `tests/snippets.rs` runs
//! them. The commands are run by the tests of `punctual-cli` (`tools/cli/tests/guide.rs`), as they
//! need its program.

mod links;
mod page;

pub use links::{headings, links};
pub use page::{Block, Page};

use std::io;
use std::path::{Path, PathBuf};

/// Returns the path of the repository's root folder.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the pages of the guide, sorted by name.
///
/// # Errors
/// The operating system's error if the folder or a file cannot be read.
pub fn pages() -> io::Result<Vec<Page>> {
    page::all(&root().join("docs/guide"))
}
