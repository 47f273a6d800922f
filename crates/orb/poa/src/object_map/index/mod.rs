//! Index from ids to entries: a hash, which each map has, and further strategies for comparison.

#[cfg(feature = "comparison")]
mod comparison;
mod hash;
#[cfg(not(feature = "comparison"))]
mod no_comparison;

#[cfg(feature = "comparison")]
pub(super) use comparison::Comparison;
#[cfg(feature = "comparison")]
pub(crate) use comparison::{DuplicateId, Strategy};
pub(super) use hash::HashIndex;
#[cfg(not(feature = "comparison"))]
pub(super) use no_comparison::Comparison;
#[cfg(not(feature = "comparison"))]
pub(crate) use no_comparison::{DuplicateId, Strategy};
