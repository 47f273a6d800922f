//! Errors of starting a thread.

use punctual_sys::scheduling::Scheduling;
use std::fmt;
use std::io;

/// Reason why a thread was not started.
pub enum SpawnError {
    /// The group or pool is full.
    Full {
        /// Upper bound of threads.
        limit: usize,
    },
    /// The pool has been stopped.
    Stopped,
    /// The operating system started no thread.
    Os(io::Error),
    /// The operating system started a thread, but not as specified. It has ended without doing its
    /// work.
    Refused {
        /// Requirement that was refused.
        requirement: Requirement,
        /// The operating system's error.
        error: io::Error,
    },
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Requirement of a thread's specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Scheduling policy and priority: a privilege is missing (`CAP_SYS_NICE`, `RLIMIT_RTPRIO`), or
    /// the policy has no such priority.
    Scheduling(Scheduling),
    /// Processors: they do not exist, or this process may not use them.
    Processors,
    /// Stack brought into memory from the start.
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
