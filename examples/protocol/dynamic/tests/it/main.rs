//! Checked link, loaded at run time from the library of this package.
#![allow(clippy::unwrap_used)]

mod library;
mod loaded;
mod orb;
