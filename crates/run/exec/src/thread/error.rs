//! Errors of starting a thread.

use punctual_sys::scheduling::Scheduling;
use std::fmt;
use std::io;

/// Reason why a thread could not be started.
pub enum SpawnError {
    /// The thread group or pool has its maximum number of threads.
    Full {
        /// Maximum number of threads in the group or pool.
        limit: usize,
    },
    /// The thread pool has been stopped.
    Stopped,
    /// The operating system could not start the thread.
    Os(io::Error),
    /// The operating system started a thread, but not as specified. It has ended without doing its
    /// work.
    Refused {
        /// Requirement of the thread's specification that was refused.
        requirement: Requirement,
        /// Error that the operating system returned.
        error: io::Error,
    },
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Requirement in the specification of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Scheduling policy and priority: a privilege is missing (`CAP_SYS_NICE`, `RLIMIT_RTPRIO`), or
    /// the policy has no such priority.
    Scheduling(Scheduling),
    /// Processors: they do not exist, or this process may not use them.
    Processors,
    /// Stack whose pages are all brought into memory when the thread starts.
    Stack,
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { limit } => write!(f, "all {limit} threads are in use"),
            Self::Stopped => f.write_str("the thread pool has been stopped"),
            Self::Os(error) => write!(f, "the operating system could not start a thread: {error}"),
            Self::Refused { requirement, error } => {
                write!(f, "the thread cannot have {requirement}: {error}")
            }
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheduling(scheduling) => scheduling.fmt(f),
            Self::Processors => f.write_str("the processors it is to run on"),
            Self::Stack => f.write_str("its stack in memory from the start"),
        }
    }
}

impl std::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Full { .. } | Self::Stopped => None,
            Self::Os(error) | Self::Refused { error, .. } => Some(error),
        }
    }
}

impl From<SpawnError> for io::Error {
    fn from(error: SpawnError) -> Self {
        match error {
            SpawnError::Os(error) => error,
            SpawnError::Refused { error: ref why, .. } => Self::new(why.kind(), error),
            SpawnError::Full { .. } | SpawnError::Stopped => Self::other(error),
        }
    }
}
