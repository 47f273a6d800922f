//! Doubts about a schedule.

use std::fmt;

/// Reason for which a schedule is not proved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// Threads do not execute the operation as planned.
    NotExecuted {
        /// Name of the operation.
        operation: String,
        /// Difference between the plan and its execution.
        why: &'static str,
    },
    /// The operation may end after its deadline, or is left out.
    Late {
        /// Name of the operation.
        operation: String,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotExecuted { operation, why } => {
                write!(
                    f,
                    "operation `{operation}` is not executed as planned: {why}"
                )
            }
            Self::Late { operation } => {
                write!(f, "it is not proved that {operation} ends in time")
            }
        }
    }
}
