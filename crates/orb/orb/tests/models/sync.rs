//! Replacement, in model-checking tests, of the crate's module `sync`.

pub(crate) use punctual_models::sync::*;
