//! Errors of scheduling segments.

use punctual_orb::Discipline;
use punctual_orb::{
    CompletionStatus, DispatchError, SystemException, SystemExceptionKind as Kind, minor,
};
use std::fmt;

/// Reason why a scheduling segment did not begin, was not updated or did not end as requested.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// RTScheduling::Current::UNSUPPORTED_SCHEDULING_DISCIPLINE: the RTORB does not support the
    /// parameter's discipline.
    #[error("this RTORB does not schedule by {0} (`DynamicScheduling::disciplines`)")]
    UnsupportedSchedulingDiscipline(Discipline),
    /// The operation failed with a system exception, such as BAD_INV_ORDER, BAD_PARAM or
    /// INV_POLICY.
    #[error(transparent)]
    System(#[from] SystemException),
}

/// Formats the error as its `Display` text, so that it is also readable when `main` returns it.
impl fmt::Debug for SegmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Converts to a system exception for servants, whose IDL does not declare the user exceptions of the
/// standard's local interface.
impl From<SegmentError> for SystemException {
    fn from(error: SegmentError) -> Self {
        match error {
            SegmentError::System(exception) => exception,
            SegmentError::UnsupportedSchedulingDiscipline(_) => {
                Kind::NoImplement.because(error.to_string())
            }
        }
    }
}

impl From<SegmentError> for DispatchError {
    fn from(error: SegmentError) -> Self {
        Self::System(error.into())
    }
}

/// Returns INV_POLICY for a segment whose reservation or priority is refused.
#[cold]
pub(super) fn refused(why: String) -> SystemException {
    SystemException::new(
        Kind::InvPolicy,
        minor::CANNOT_RECONCILE,
        CompletionStatus::No,
    )
    .with_detail(why)
}

/// Returns BAD_INV_ORDER for a thread that is in no segment.
#[cold]
pub(super) fn in_no_segment() -> SystemException {
    Kind::BadInvOrder
        .because("the thread is in no scheduling segment: `begin_scheduling_segment` begins one")
}
