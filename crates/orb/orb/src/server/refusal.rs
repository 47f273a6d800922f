//! Why a thread refuses requests (TRANSIENT).

use crate::exception::{CompletionStatus, SystemException, SystemExceptionKind as Kind, minor};

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// All threads that could serve them are held up.
    AllBusy,
    /// They are, and no more requests may wait for them.
    BufferFull,
    /// It waited for a thread, and the ORB has been shut down meanwhile.
    ShutDown,
    /// Too many upcalls are under way on it, one within the other.
    TooDeep,
}

impl Refusal {
    #[cold]
    pub(super) fn exception(self) -> SystemException {
        let (minor, detail) = match self {
            Self::AllBusy => (
                minor::POOL_EXHAUSTED,
                "all threads that could serve it are held up",
            ),
            Self::BufferFull => (
                minor::POOL_EXHAUSTED,
                "all threads that could serve it are held up, and no more requests are buffered for them",
            ),
            Self::ShutDown => (
                minor::POOL_EXHAUSTED,
                "it waited for a thread when the server was shut down",
            ),
            Self::TooDeep => (minor::TOO_DEEP, "upcalls nest too deep (max_nesting)"),
        };
        SystemException::new(Kind::Transient, minor, CompletionStatus::No).with_detail(detail)
    }
}
