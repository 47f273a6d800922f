//! Skeletons: generated code that connects a request with the implementation of an interface.

mod delegate;
mod identity;
mod skeleton;
mod tie;

pub use delegate::Delegate;
pub use identity::Identity;
#[doc(hidden)]
pub use skeleton::declaring_own;
pub use skeleton::{Answer, Answered, Answers, Operations};
pub use tie::Tie;

use punctual_orb::{DispatchError, Dispatched, Interface, OperationTypes, Provided, ServerCall};
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

/// Skeleton: unmarshals a request, calls the implementation, marshals the reply. Written by the IDL
/// compiler around a type that implements the interface's servant trait.
///
/// A hand-written skeleton needs only the methods without a default; its operations are then found
/// only by its own [`Servant::dispatch`].
pub trait Servant: Send + Sync + 'static {
    /// Returns the repository ids for which `_is_a` is true, most derived first.
    fn repository_ids(&self) -> &'static [&'static str];

    /// Returns the repository id of the most derived interface of the called object
    /// (`_repository_id`): a servant of many objects of different types finds the object by
    /// [`crate::Current`].
    fn primary_interface(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.repository_ids().first().copied().unwrap_or_default())
    }

    /// Returns whether the called object implements an interface (`_is_a`).
    fn is_a(&self, repository_id: &str) -> bool {
        self.repository_ids().contains(&repository_id)
    }

    /// Returns whether the servant itself answers the operations of every object (`_is_a`,
    /// `_non_existent`, `_interface` and others), as requests like any other, because it stands for
    /// a remote object.
    fn is_transparent(&self) -> bool {
        false
    }

    /// Returns whether the servant knows its operations at run time only, so that interceptors see
    /// a request when the servant reads its arguments (CORBA 3.3 part 1, §16.3.8), by
    /// [`ServerCall::tell_arguments`].
    fn is_dynamic(&self) -> bool {
        false
    }

    /// Answers one request, after a search for its operation: by the length of the name, then by
    /// the octets that distinguish it from others. Several threads may call this at once.
    ///
    /// # Errors
    /// The exception that the client gets instead of a result.
    fn dispatch(&self, call: &mut ServerCall<'_>) -> Result<Dispatched, DispatchError>;

    /// Returns the names of the operations on the wire; the index of a name is the operation's
    /// number. Used by adapters with other strategies for finding operations.
    fn operations(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the repository id of the interface that declares an operation, by its name on the wire; `None` if it is
    /// not known. Schedules name operations by it, whichever interface inherits them.
    fn declaring_interface(&self, operation: &str) -> Option<&'static str> {
        let _ = operation;
        None
    }

    /// Answers one request by the operation with this number, whatever operation the request names.
    ///
    /// # Errors
    /// The exception that the client gets instead of a result; BAD_OPERATION if no operation has
    /// the number.
    fn upcall(
        &self,
        operation: usize,
        call: &mut ServerCall<'_>,
    ) -> Result<Dispatched, DispatchError> {
        let _ = operation;
        Err(call.bad_operation())
    }

    /// Returns the types of the arguments and results of an operation; `None` if they are not
    /// known.
    fn operation_types(&self, operation: &str) -> Option<&'static OperationTypes> {
        let _ = operation;
        None
    }

    /// Returns the identity of the object that the skeleton calls. By default that is the skeleton
    /// itself.
    fn identity(&self) -> Identity {
        Identity::of::<Self, Self>(self)
    }

    /// Returns the implementation as it was given (an `Arc` if it was one), for downcasting.
    fn implementation(&self) -> &(dyn Any + Send + Sync);

    /// Returns the implementation as the servant trait through which stubs in this process call it
    /// without a request. The default provides none, and stubs send a request.
    fn provide(&self) -> Provided<'_> {
        Provided::new(self.implementation(), &[])
    }
}

/// Trait which marks that `S` implements the interface; the IDL compiler implements it for every
/// type with the interface's servant trait. It lets [`crate::Poa::activate`] infer the reference's
/// type.
pub trait Implements<S>: Interface {
    /// Wraps an implementation as a servant with this interface, for servant managers and default
    /// servants: `Cubit::servant(CubitImpl)`. For an interface with an operation named `servant`,
    /// use [`servant_of`].
    fn servant(servant: S) -> Arc<dyn Servant>;
}

/// Calls [`Implements::servant`] of interface `I`: `servant_of::<Cubit, _>(CubitImpl)`.
#[must_use]
pub fn servant_of<I: Implements<S>, S>(servant: S) -> Arc<dyn Servant> {
    I::servant(servant)
}
