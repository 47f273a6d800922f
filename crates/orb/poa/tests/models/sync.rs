//! Replacement of `src/object_map/sync.rs` with loom's types under the same names, so that every
//! interleaving is explored.

pub(crate) use punctual_models::sync::*;

/// Number of slots or buckets of the smallest segment: few, so that a model fills one.
pub(crate) const FIRST: u32 = 2;
