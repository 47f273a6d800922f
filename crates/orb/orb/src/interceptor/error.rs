//! Errors that interceptors raise, and errors of the operations that they call.

use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};
use punctual_ior::Ior;
use std::fmt;

/// Error that an interceptor raises at an interception point.
#[derive(Clone)]
pub enum InterceptorError {
    /// A system exception: the caller gets it, unless another interceptor changes it. Its
    /// completion status is set by the point that raises it (CORBA 3.3 part 1, §16.3.5).
    System(SystemException),
    /// A forward of the call to another object (`ForwardRequest`, §16.3.12). Made by
    /// [`InterceptorError::forward`](crate::InterceptorError::forward).
    ForwardRequest(Box<Ior>),
}

impl From<SystemException> for InterceptorError {
    fn from(exception: SystemException) -> Self {
        Self::System(exception)
    }
}

impl From<Kind> for InterceptorError {
    fn from(kind: Kind) -> Self {
        Self::System(kind.into())
    }
}

impl From<InvalidSlot> for InterceptorError {
    fn from(error: InvalidSlot) -> Self {
        Self::System(error.into())
    }
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for InterceptorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for InterceptorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(exception) => exception.fmt(f),
            Self::ForwardRequest(to) => write!(f, "ForwardRequest to a `{}`", to.type_id),
        }
    }
}

impl std::error::Error for InterceptorError {}

/// Error for a slot that was not allocated ([`crate::OrbInitInfo::allocate_slot_id`]).
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the slot {0} is not allocated")]
pub struct InvalidSlot(
    /// Number of the slot that was not allocated.
    pub u32,
);

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for InvalidSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<InvalidSlot> for SystemException {
    fn from(error: InvalidSlot) -> Self {
        Kind::BadParam.because(error.to_string())
    }
}

/// Returns the exception for an attribute or operation that is not valid at the point (§16.3.14,
/// table 16.1 and table 16.2).
#[cold]
pub(super) fn not_valid_here(what: &str) -> SystemException {
    bad_inv_order(
        minor::INTERCEPTION_POINT,
        format!("`{what}` is not valid at this interception point"),
    )
}

#[cold]
pub(super) fn bad_inv_order(minor: u32, why: String) -> SystemException {
    SystemException::new(Kind::BadInvOrder, minor, CompletionStatus::No).with_detail(why)
}

/// Returns the exception for information that is not available for the call, because it is
/// marshaled without TypeCodes (§16.3.11: NO_RESOURCES 1).
#[cold]
pub(super) fn not_available(what: &str) -> SystemException {
    SystemException::new(
        Kind::NoResources,
        minor::INFORMATION_NOT_AVAILABLE,
        CompletionStatus::No,
    )
    .with_detail(format!("`{what}` is not available for this call"))
}

/// Returns the exception for a service context that does not exist.
#[cold]
pub(super) fn no_context(id: u32) -> SystemException {
    SystemException::new(
        Kind::BadParam,
        minor::NO_SERVICE_CONTEXT,
        CompletionStatus::No,
    )
    .with_detail(format!("the message has no service context {id:#x}"))
}
