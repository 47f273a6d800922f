//! Reasons for which an operation is refused, and their exceptions.

use punctual::{CompletionStatus, SystemException, SystemExceptionKind};
use thiserror::Error;

use crate::rtec_scheduler as idl;

/// Reason for which an operation of the scheduler is refused.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Another operation has the entry point.
    #[error("the entry point `{0}` is taken: `lookup` returns its handle")]
    DuplicateName(String),
    /// No operation has the handle, or the entry point.
    #[error("there is no operation {0}")]
    UnknownTask(String),
    /// There is no dependency of these values.
    #[error("there is no such dependency of operation {0} on {1}")]
    UnknownDependency(i32, i32),
    /// There is no schedule, or the operation has no place in it.
    #[error("there is no place for it in a schedule: call `compute_scheduling`")]
    NotScheduled,
    /// The schedule has no level of this number.
    #[error("the schedule has no level {0}")]
    UnknownLevel(i32),
    /// An operation may miss its deadline, and the scheduler is strict.
    #[error("{0}")]
    UtilizationBoundExceeded(String),
    /// There are fewer native priorities than levels.
    #[error("the schedule has {levels} levels, and the range {priorities} priorities: widen it")]
    TooFewPriorities {
        /// Number of levels of the schedule.
        levels: usize,
        /// Number of native priorities in the range.
        priorities: u64,
    },
    /// A value is out of bounds.
    #[error("{0}")]
    Invalid(String),
    /// A limit of the scheduler is reached.
    #[error("the limit of {0} is reached (Limits)")]
    LimitExceeded(String),
    /// The peer has no right to change the scheduler's operations.
    #[error("the peer may not change the scheduler's operations")]
    NotPermitted,
    /// The change could not be stored.
    #[error("it could not be stored: {0}")]
    Storage(String),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Refusal {
    /// Returns the refusal of a handle that no operation has.
    pub(crate) fn unknown(handle: i32) -> Self {
        Self::UnknownTask(format!("of the handle {handle}"))
    }
}

/// Converts refusals to exceptions, for operations without a matching user exception.
impl From<Refusal> for SystemException {
    fn from(refusal: Refusal) -> Self {
        use SystemExceptionKind as Kind;
        let kind = match &refusal {
            Refusal::LimitExceeded(_) => Kind::NoResources,
            Refusal::NotPermitted => Kind::NoPermission,
            Refusal::Storage(_) => Kind::PersistStore,
            // Operations raise a user exception for each other one that can occur.
            _ => Kind::BadParam,
        };
        SystemException::new(kind, 0, CompletionStatus::No).with_detail(refusal.to_string())
    }
}

/// Converts refusals to the error types of operations, by the user exceptions that each operation
/// declares.
macro_rules! raised {
    ($($error:ident: $($exception:ident)*;)*) => {
        $(
            impl From<Refusal> for idl::$error {
                fn from(refusal: Refusal) -> Self {
                    match refusal {
                        $(raised!(@pattern $exception) => Self::$exception(idl::$exception),)*
                        refusal => Self::System(refusal.into()),
                    }
                }
            }
        )*
    };
    (@pattern DuplicateName) => { Refusal::DuplicateName(_) };
    (@pattern UnknownTask) => { Refusal::UnknownTask(_) | Refusal::UnknownDependency(..) };
    (@pattern NotScheduled) => { Refusal::NotScheduled };
    (@pattern UnknownPriorityLevel) => { Refusal::UnknownLevel(_) };
    (@pattern UtilizationBoundExceeded) => { Refusal::UtilizationBoundExceeded(_) };
    (@pattern InsufficientThreadPriorityLevels) => { Refusal::TooFewPriorities { .. } };
}

raised! {
    SchedulerCreateError: DuplicateName;
    SchedulerLookupError: UnknownTask;
    SchedulerGetError: UnknownTask;
    SchedulerSetError: UnknownTask;
    SchedulerResetError: UnknownTask;
    SchedulerSetSeqError: UnknownTask;
    SchedulerResetSeqError: UnknownTask;
    SchedulerReplaceSeqError: UnknownTask;
    SchedulerAddDependencyError: UnknownTask;
    SchedulerRemoveDependencyError: UnknownTask;
    SchedulerSetDependencyEnableStateError: UnknownTask;
    SchedulerSetDependencyEnableStateSeqError: UnknownTask;
    SchedulerSetRtInfoEnableStateError: UnknownTask;
    SchedulerSetRtInfoEnableStateSeqError: UnknownTask;
    SchedulerPriorityError: UnknownTask NotScheduled;
    SchedulerEntryPointPriorityError: UnknownTask NotScheduled;
    SchedulerComputeSchedulingError: UtilizationBoundExceeded InsufficientThreadPriorityLevels;
    SchedulerRecomputeSchedulingError: UtilizationBoundExceeded InsufficientThreadPriorityLevels;
    SchedulerDispatchConfigurationError: NotScheduled UnknownPriorityLevel;
    SchedulerLastScheduledPriorityError: NotScheduled;
    SchedulerGetConfigInfosError: NotScheduled;
}
