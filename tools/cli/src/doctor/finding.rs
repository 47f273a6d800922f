//! A topic that is examined, and the finding about it.

use super::machine::Unknown;
use serde::Serialize;

/// A topic, and the reason for which a real-time program depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Topic {
    pub(super) group: &'static str,
    pub(super) name: &'static str,
    pub(super) why: &'static str,
}

/// Result of an examination.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) group: &'static str,
    pub(super) name: &'static str,
    pub(super) verdict: Verdict,
    /// Value found, or the reason for which it is unknown.
    pub(super) value: String,
    pub(super) why: &'static str,
    /// Commands and settings that would help; any one of them suffices.
    pub(super) mend: Vec<String>,
}

/// Suitability for real-time programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    Ok,
    /// A program starts, but may be late.
    Warning,
    /// A program does not get what it requests.
    Missing,
    Unknown,
}

impl Topic {
    pub(super) fn ok(self, value: impl Into<String>) -> Finding {
        self.found(Verdict::Ok, value.into())
    }

    pub(super) fn warning(self, value: impl Into<String>) -> Finding {
        self.found(Verdict::Warning, value.into())
    }

    pub(super) fn missing(self, value: impl Into<String>) -> Finding {
        self.found(Verdict::Missing, value.into())
    }

    pub(super) fn unknown(self, reason: impl ToString) -> Finding {
        self.found(Verdict::Unknown, reason.to_string())
    }

    /// Returns the finding, or one that says why it is unknown.
    pub(super) fn or_unknown(self, found: Result<Finding, Unknown>) -> Finding {
        found.unwrap_or_else(|reason| self.unknown(reason))
    }

    fn found(self, verdict: Verdict, value: String) -> Finding {
        Finding {
            group: self.group,
            name: self.name,
            verdict,
            value,
            why: self.why,
            mend: Vec::new(),
        }
    }
}

impl Finding {
    /// Adds a command or a setting that helps.
    pub(super) fn mend(mut self, how: impl Into<String>) -> Self {
        self.mend.push(how.into());
        self
    }
}
