//! Failures of requests.

use punctual_any::Any;
use punctual_orb::{CompletionStatus, DispatchError, SystemException, SystemExceptionKind, minor};
use thiserror::Error;

/// Reason why a call of the dynamic invocation interface (DII) returned no results.
#[derive(Clone, Error)]
pub enum InvokeError {
    /// User exception that the request expects, which CORBA wraps as `UnknownUserException`.
    #[error("user exception {}", .0.type_code().id().unwrap_or_default())]
    User(Any),
    /// System exception that the call raised.
    #[error(transparent)]
    System(#[from] SystemException),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for InvokeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Converts a user exception to UNKNOWN, as is done for one that an operation does not declare
/// (CORBA 3.3 part 1, Annex A).
impl From<InvokeError> for SystemException {
    fn from(error: InvokeError) -> Self {
        match error {
            InvokeError::System(exception) => exception,
            InvokeError::User(_) => SystemException::new(
                SystemExceptionKind::Unknown,
                minor::UNLISTED_USER_EXCEPTION,
                CompletionStatus::Yes,
            )
            .with_detail(error.to_string()),
        }
    }
}

impl From<InvokeError> for DispatchError {
    fn from(error: InvokeError) -> Self {
        Self::System(error.into())
    }
}
