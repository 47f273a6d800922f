//! Why a thread was not started.

use punctual_sys::scheduling::Scheduling;
use std::fmt;
use std::io;

/// Why a thread was not started.
#[derive(Debug)]
pub enum SpawnError {
    /// Its group or pool has as many threads as it may have.
    Full {
        /// How many that is.
        limit: usize,
    },
    /// Its pool has been stopped.
    Stopped,
    /// The operating system gave none.
    Os(io::Error),
    /// The operating system gave one, but not as it is specified. It has ended without doing its work.
    Refused {
        /// What was not given.
        requirement: Requirement,
        /// Why.
        error: io::Error,
    },
}

/// What a thread's specification asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Scheduling policy and priority: a right is missing (`CAP_SYS_NICE`, `RLIMIT_RTPRIO`), or the policy
    /// has no such priority.
    Scheduling(Scheduling),
    /// Processors: there are none of these, or none that this process may use.
    Processors,
    /// A stack in memory from the start.
    Stack,
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { limit } => write!(f, "all {limit} threads are in use"),
            Self::Stopped => f.write_str("the thread pool has been stopped"),
            Self::Os(error) => write!(f, "the operating system gave no thread: {error}"),
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
