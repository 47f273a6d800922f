//! Models of lock-free code: every order in which the steps of a few threads may meet, and every value that a weakly
//! ordered load may see (loom).
//!
//! A model compiles the files that it models by their paths, with a module `sync` that re-exports `sync` of this crate in the place of
//! the crate's own. `explore` then runs it.
//!
//! All of this is behind the feature `loom`, which `cargo xtask test --slow` turns on.
#![cfg(feature = "loom")]
#![allow(clippy::unwrap_used)]

mod explore;
pub mod sync;

pub use loom;

pub use explore::{explore, explore_up_to};
