//! What takes the place of the crate's own module of this name.

pub(crate) use punctual_models::sync::*;

/// Slots or buckets of the smallest segment: few, so that a model fills one.
pub(crate) const FIRST: u32 = 2;
