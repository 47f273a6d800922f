//! Replacement of the crate's own module of this name.

pub(crate) use punctual_models::sync::*;
