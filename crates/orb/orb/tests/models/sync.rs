//! Replacement of the module `sync` of the crate, for models.

pub(crate) use punctual_models::sync::*;
