//! Metrics of the scheduler.

use punctual_host::metrics::{Exposition, Timed};

/// Counters of the scheduler's changes, commits and computations.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) changes: Timed,
    /// Commits to the store, each with the changes of one caller or more.
    pub(crate) commits: Timed,
    pub(crate) computations: Timed,
}

/// Current number of operations, dependencies and levels, and the current length of the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauges {
    pub(crate) operations: usize,
    pub(crate) dependencies: usize,
    pub(crate) levels: usize,
    pub(crate) store_bytes: Option<u64>,
}

impl Metrics {
    /// Appends the scheduler's metrics to the exposition.
    pub(crate) fn write(&self, out: &mut Exposition, gauges: Gauges) {
        let help = "Changes by clients, until they are durable.";
        out.timed("change", help, &self.changes);
        let help = "Commits to the store; changes of many clients share one.";
        out.timed("commit", help, &self.commits);
        let help = "Computations of a schedule.";
        out.timed("computation", help, &self.computations);
        out.gauge("operations", "Operations.", gauges.operations as u64);
        out.gauge("dependencies", "Dependencies.", gauges.dependencies as u64);
        out.gauge("levels", "Levels of the schedule.", gauges.levels as u64);
        if let Some(bytes) = gauges.store_bytes {
            out.gauge("store_bytes", "Bytes of the store's file.", bytes);
        }
    }
}
