//! What the IDL compiler writes for implementers.

use punctual_orb::{DispatchError, Dispatched, Interface, ServerCall};
use std::sync::Arc;

/// A skeleton: takes a request apart, calls the implementation, puts the reply together. Written by
/// the IDL compiler around a type that implements the interface's servant trait.
pub trait Servant: Send + Sync + 'static {
    /// The repository ids it answers `_is_a` for, most derived first.
    fn repository_ids(&self) -> &'static [&'static str];

    /// Answers one request. Several threads may be in here at once.
    ///
    /// # Errors
    /// What to tell the caller instead of a result.
    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError>;
}

/// Says that `S` implements the interface; written by the IDL compiler for every type with the
/// interface's servant trait. It is what lets [`crate::Poa::activate`] infer the reference's type.
pub trait Implements<S>: Interface {
    /// The skeleton around an implementation.
    fn skeleton(servant: S) -> Arc<dyn Servant>;
}
