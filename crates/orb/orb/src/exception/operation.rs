//! What the errors of all operations have in common.

use super::{CompletionStatus, SystemException, SystemExceptionKind as Kind};
use punctual_cdr::{CdrError, Decoder, Encoder};
use std::error::Error;

/// The error of an operation: [`SystemException`] of those that raise no exceptions of their own, and an enum that the
/// IDL compiler writes of the others. What is written for all operations, such as what repeats calls, takes any.
///
/// ```
/// use punctual_orb::OperationError;
///
/// /// Repeats a call that has failed for the moment.
/// fn retry<T, E: OperationError>(mut call: impl FnMut() -> Result<T, E>) -> Result<T, E> {
///     for _ in 0..3 {
///         match call() {
///             Err(error) if error.is_transient() => {}
///             done => return done,
///         }
///     }
///     call()
/// }
/// ```
pub trait OperationError: Error + From<SystemException> + Sized {
    /// The system exception, if the servant has not raised one of the operation's own.
    fn system(&self) -> Option<&SystemException>;

    /// Whether the object could not be reached now, and may be later (TRANSIENT with COMPLETED_NO): the call has done
    /// nothing, and can be repeated.
    fn is_transient(&self) -> bool {
        self.system().is_some_and(|exception| {
            exception.kind() == Kind::Transient && exception.completed() == CompletionStatus::No
        })
    }

    /// How far the call has come. One that raises an exception of its own is completed.
    fn completed(&self) -> CompletionStatus {
        self.system()
            .map_or(CompletionStatus::Yes, SystemException::completed)
    }

    /// The repository id of the exception that the servant has raised, if it is one of the operation's own; empty of
    /// others. For generated code.
    #[doc(hidden)]
    fn exception_id(&self) -> &'static str {
        ""
    }

    /// The exception of an id that a reply brings, if it is one of the operation's. For generated code.
    ///
    /// # Errors
    /// What is wrong with its members.
    #[doc(hidden)]
    fn raised(id: &str, reply: &mut Decoder<'_>) -> Result<Option<Self>, CdrError>;

    /// Writes a user exception as the body of a reply; whether it is one. For generated code.
    ///
    /// # Errors
    /// Those of its members.
    #[doc(hidden)]
    fn marshal_raised(&self, body: &mut Encoder<'_>) -> Result<bool, CdrError>;
}

impl OperationError for SystemException {
    fn system(&self) -> Option<&SystemException> {
        Some(self)
    }

    fn raised(_: &str, _: &mut Decoder<'_>) -> Result<Option<Self>, CdrError> {
        Ok(None)
    }

    fn marshal_raised(&self, _: &mut Encoder<'_>) -> Result<bool, CdrError> {
        Ok(false)
    }
}
