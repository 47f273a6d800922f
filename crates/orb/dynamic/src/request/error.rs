//! What a request may end with instead of results.

use punctual_any::Any;
use punctual_orb::SystemException;
use thiserror::Error;

/// Why a request has no results.
#[derive(Clone, Debug, Error)]
pub enum InvokeError {
    /// A user exception of the request's list, which CORBA wraps as `UnknownUserException`.
    #[error("user exception {}", .0.type_code().id().unwrap_or_default())]
    User(Any),
    /// Any other.
    #[error(transparent)]
    System(#[from] SystemException),
}
