//! What the IDL compiler writes for implementers: a skeleton stands between a request and the
//! implementation of an interface.

mod delegate;
mod identity;
mod skeleton;
mod tie;

pub use delegate::Delegate;
pub use identity::Identity;
pub use skeleton::{Answer, Answered, Answers, Operations};
pub use tie::Tie;

use punctual_orb::{DispatchError, Dispatched, Interface, OperationTypes, Provided, ServerCall};
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

/// A skeleton: takes a request apart, calls the implementation, puts the reply together. Written by
/// the IDL compiler around a type that implements the interface's servant trait.
///
/// One that is written by hand needs only what has no default here, and is then found by its own
/// [`Servant::dispatch`] alone.
pub trait Servant: Send + Sync + 'static {
    /// The repository ids it answers `_is_a` for, most derived first.
    fn repository_ids(&self) -> &'static [&'static str];

    /// The repository id of the most derived interface of the object that is called (`_repository_id`): for
    /// a servant of many objects of different types, whom [`crate::Current`] tells which it is.
    fn primary_interface(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.repository_ids().first().copied().unwrap_or_default())
    }

    /// Whether the object that is called implements an interface (`_is_a`).
    fn is_a(&self, repository_id: &str) -> bool {
        self.repository_ids().contains(&repository_id)
    }

    /// Whether it answers what every object answers (`_is_a`, `_non_existent`, `_interface` and their like)
    /// itself, as a request like any other: because it stands for an object elsewhere.
    fn is_transparent(&self) -> bool {
        false
    }

    /// Whether it knows its operations at run time only, so that interceptors see a request when the servant reads its arguments
    /// (CORBA 3.3 part 1, §16.3.8), by [`ServerCall::tell_arguments`].
    fn is_dynamic(&self) -> bool {
        false
    }

    /// Answers one request, whose operation it finds by a search of its own: by the length of the name,
    /// then by those of its octets that tell it from others. Several threads may be in here at once.
    ///
    /// # Errors
    /// What to tell the caller instead of a result.
    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError>;

    /// The operations by their names on the wire; the place of one is its number. For adapters that find
    /// operations in ways of their own.
    fn operations(&self) -> &'static [&'static str] {
        &[]
    }

    /// Answers one request with the operation of a number, whatever the request says.
    ///
    /// # Errors
    /// BAD_OPERATION when there are not so many, and what to tell the caller instead of a result.
    fn upcall(
        &self,
        operation: usize,
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        let _ = operation;
        Err(call.bad_operation())
    }

    /// What travels with requests to one of its operations; none where that is not known.
    fn operation_types(&self, operation: &str) -> Option<&'static OperationTypes> {
        let _ = operation;
        None
    }

    /// Which object it makes a CORBA object of. By default the skeleton itself is meant.
    fn identity(&self) -> Identity {
        Identity::of::<Self, Self>(self)
    }

    /// The implementation as it was given, an `Arc` if it was one, for downcasting.
    fn implementation(&self) -> &(dyn Any + Send + Sync);

    /// The implementation as what stubs in this process call it by without a request. By default it is
    /// nothing of that kind, and they send one.
    fn provide(&self) -> Provided<'_> {
        Provided::new(self.implementation(), &[])
    }
}

/// Says that `S` implements the interface; written by the IDL compiler for every type with the
/// interface's servant trait. It is what lets [`crate::Poa::activate`] infer the reference's type.
pub trait Implements<S>: Interface {
    /// The servant that an implementation is as this interface: what servant managers give, and what default servants
    /// are made of. `Cubit::servant(CubitImpl)`; of an interface with an operation of that name, [`servant_of`].
    fn servant(servant: S) -> Arc<dyn Servant>;
}

/// [`Implements::servant`] of interface `I`: `servant_of::<Cubit, _>(CubitImpl)`.
#[must_use]
pub fn servant_of<I: Implements<S>, S>(servant: S) -> Arc<dyn Servant> {
    I::servant(servant)
}
