//! Answers that an object adapter gives in place of a result.

use crate::exception::{
    CompletionStatus, SystemException, SystemExceptionKind, unmarshal_exception,
};
use punctual_any::{AnyError, TypeCodeError};
use punctual_cdr::{CdrError, FixedError};
use punctual_ior::Ior;

/// Location of an object, as an object adapter answers it.
#[derive(Clone, Debug)]
pub enum Location {
    /// The object is served by this adapter.
    Here,
    /// The object is not known to the adapter.
    Unknown,
    /// The object is reachable by the given other reference.
    Forward(Box<Ior>),
}

/// Answer to a caller in place of a result.
#[derive(Clone, Debug)]
pub enum DispatchError {
    /// System exception to be raised at the caller.
    System(SystemException),
    /// The caller shall call this object instead (LOCATION_FORWARD).
    Forward(Box<Ior>),
    /// The caller shall call this object instead, for all further calls too
    /// (LOCATION_FORWARD_PERM). Before GIOP 1.2 it is sent as [`DispatchError::Forward`].
    ForwardPermanently(Box<Ior>),
}

impl From<SystemException> for DispatchError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<CdrError> for DispatchError {
    /// Converts the error of an argument that cannot be decoded; the servant has not been called.
    fn from(error: CdrError) -> Self {
        Self::System(
            unmarshal_exception(error, CompletionStatus::No).in_context("reading the arguments"),
        )
    }
}

/// Implements the conversions by which `?` raises exceptions in a servant or a servant manager, as
/// in `Err(ObjectNotExist)?`.
macro_rules! raised {
    ($($error:ty),*) => {$(
        impl From<$error> for DispatchError {
            fn from(error: $error) -> Self {
                Self::System(error.into())
            }
        }
    )*};
}

raised!(SystemExceptionKind, TypeCodeError, FixedError, AnyError);
