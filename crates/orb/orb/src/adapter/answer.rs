//! What an object adapter answers instead of a result.

use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind, cdr_exception};
use punctual_any::{AnyError, TypeCodeError};
use punctual_cdr::{CdrError, FixedError};
use punctual_ior::Ior;

/// Where an object is.
#[derive(Clone, Debug)]
pub enum Location {
    /// Here.
    Here,
    /// Nowhere that this adapter knows.
    Unknown,
    /// At another place.
    Forward(Box<Ior>),
}

/// What a caller is told instead of a result.
#[derive(Clone, Debug)]
pub enum DispatchError {
    /// A standard exception.
    System(SystemException),
    /// To ask there instead (LOCATION_FORWARD).
    Forward(Box<Ior>),
    /// To ask there instead, from now on (LOCATION_FORWARD_PERM); before GIOP 1.2 it means the same as
    /// [`DispatchError::Forward`].
    ForwardPermanently(Box<Ior>),
}

impl From<SystemException> for DispatchError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<CdrError> for DispatchError {
    /// An argument that does not decode: the servant has not begun.
    fn from(error: CdrError) -> Self {
        Self::System(cdr_exception(error, CompletionStatus::No).in_context("reading the arguments"))
    }
}

/// What a servant or a servant manager raises by `?`, as `Err(ObjectNotExist)?`: the exception that it stands for.
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
