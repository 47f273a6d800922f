//! Replacement of `src/object_map/sync.rs`: the same names, of which loom explores every order.

pub(crate) use punctual_models::sync::*;

/// Number of slots or buckets of the smallest segment: few, so that a model fills one.
pub(crate) const FIRST: u32 = 2;
