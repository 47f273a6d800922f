//! Reasons why a thread refuses requests (TRANSIENT).

use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};

/// Reason why the server refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// All threads that could serve the request are busy.
    AllBusy,
    /// All threads are busy, and the buffer of waiting requests is full.
    BufferFull,
    /// The request waited for a thread, and the ORB has been shut down meanwhile.
    ShutDown,
    /// Too many nested upcalls are in progress on the thread.
    TooDeep,
}

impl Refusal {
    #[cold]
    pub(super) fn exception(self) -> SystemException {
        let (minor, detail) = match self {
            Self::AllBusy => (
                minor::POOL_EXHAUSTED,
                "all threads that could serve the request are busy",
            ),
            Self::BufferFull => (
                minor::POOL_EXHAUSTED,
                "all threads that could serve the request are busy, and their buffer is full",
            ),
            Self::ShutDown => (
                minor::POOL_EXHAUSTED,
                "the server was shut down while the request waited for a thread",
            ),
            Self::TooDeep => (minor::TOO_DEEP, "upcalls nest too deep (max_nesting)"),
        };
        SystemException::new(Kind::Transient, minor, CompletionStatus::No).with_detail(detail)
    }
}
