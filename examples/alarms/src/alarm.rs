//! Severities, alarms as elements report them, and as the manager lists them.

use serde::{Deserialize, Serialize};

/// Perceived severity (ITU-T X.733), in ascending order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The condition has ended.
    Cleared,
    /// The severity cannot be determined.
    Indeterminate,
    /// A fault may come that affects the service.
    Warning,
    /// The service is not affected; the fault should be corrected.
    Minor,
    /// The service is affected.
    Major,
    /// The service is gone.
    Critical,
}

impl Severity {
    /// Severities of active alarms, the highest first.
    pub const ACTIVE: [Self; 5] = [
        Self::Critical,
        Self::Major,
        Self::Minor,
        Self::Warning,
        Self::Indeterminate,
    ];

    /// Returns the name in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cleared => "cleared",
            Self::Indeterminate => "indeterminate",
            Self::Warning => "warning",
            Self::Minor => "minor",
            Self::Major => "major",
            Self::Critical => "critical",
        }
    }
}

/// Condition of an object as its management system reports it, before it has the form of an event.
#[derive(Clone, Debug)]
pub struct Report {
    /// Id of the notification, unique within its management system.
    pub id: String,
    /// Name of the management system.
    pub system: String,
    /// Name of the managed element.
    pub element: String,
    /// Part of the element that has the condition.
    pub object: String,
    /// Probable cause.
    pub cause: String,
    /// Severity; `Cleared` ends the condition.
    pub severity: Severity,
    /// Explanation for operators.
    pub text: String,
    /// Time of the report, in milliseconds since 1970.
    pub at: u64,
}

/// Active alarm. Object and cause identify it among those of its management system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alarm {
    /// Name of the management system.
    pub system: String,
    /// Name of the object.
    pub object: String,
    /// Probable cause, with its qualifier.
    pub cause: String,
    /// Severity of the latest report.
    pub severity: Severity,
    /// Explanation of the latest report.
    pub text: String,
    /// Time of the first report, as `20261127225512.3Z`.
    pub raised: String,
    /// Number of reports that have changed the alarm since.
    pub changes: u32,
}

/// Alarm that an event raises, changes or clears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Id of the notification, by which a repeat is recognised.
    pub id: String,
    /// Alarm, whose severity is `Cleared` if the event ends it.
    pub alarm: Alarm,
}
