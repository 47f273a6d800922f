//! Anomalies of a computation, with TAO's names and severities.

use crate::rtec_scheduler::{AnomalySeverity, SchedulingAnomaly};

/// Maximum number of anomalies that a computation reports one by one.
const MOST: usize = 1000;

/// Kind of an anomaly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anomaly {
    Cycle,
    UnresolvedLocal,
    UnresolvedRemote,
    ThreadSpecification,
    NoTasks,
    UtilizationBoundExceeded,
    /// The model contradicts itself, or is too large.
    Invalid,
}

impl Anomaly {
    const fn name(self) -> &'static str {
        match self {
            Self::Cycle => "CYCLIC_DEPENDENCIES",
            Self::UnresolvedLocal => "UNRESOLVED_LOCAL_DEPENDENCIES",
            Self::UnresolvedRemote => "UNRESOLVED_REMOTE_DEPENDENCIES",
            Self::ThreadSpecification => "THREAD_SPECIFICATION",
            Self::NoTasks => "NO_TASKS_REGISTERED",
            Self::UtilizationBoundExceeded => "UTILIZATION_BOUND_EXCEEDED",
            Self::Invalid => "INVALID",
        }
    }

    const fn severity(self) -> AnomalySeverity {
        match self {
            Self::UnresolvedRemote | Self::NoTasks | Self::UtilizationBoundExceeded => {
                AnomalySeverity::AnomalyWarning
            }
            _ => AnomalySeverity::AnomalyError,
        }
    }
}

/// Anomalies that were found so far.
#[derive(Debug, Default)]
pub(crate) struct Anomalies {
    found: Vec<SchedulingAnomaly>,
    /// Number of anomalies beyond the ones that are reported one by one.
    more: usize,
}

impl Anomalies {
    pub(super) fn add(&mut self, anomaly: Anomaly, text: &str) {
        if self.found.len() >= MOST {
            self.more += 1;
            return;
        }
        self.found.push(SchedulingAnomaly {
            description: format!("{}: {text}", anomaly.name()),
            severity: anomaly.severity(),
        });
    }

    /// Returns the anomalies for clients.
    pub(super) fn into_set(mut self) -> Vec<SchedulingAnomaly> {
        if self.more > 0 {
            self.found.push(SchedulingAnomaly {
                description: format!("{} more anomalies", self.more),
                severity: AnomalySeverity::AnomalyWarning,
            });
        }
        self.found
    }
}
