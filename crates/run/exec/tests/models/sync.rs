//! Replacement for the crate's module `sync`, for compiling its files into the models.

pub(crate) use punctual_models::sync::*;
