//! Metrics of the Interface Repository.

use punctual_host::metrics::{Exposition, Timed};

/// Counters of the Interface Repository's changes and commits.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) changes: Timed,
    /// Commits to the store, each with the changes of one caller or more.
    pub(crate) commits: Timed,
}

/// Current number and length of definitions, and the current length of the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauges {
    pub(crate) definitions: usize,
    pub(crate) bytes: usize,
    pub(crate) store_bytes: Option<u64>,
}

impl Metrics {
    /// Appends the Interface Repository's metrics to the exposition.
    pub(crate) fn write(&self, out: &mut Exposition, gauges: Gauges) {
        let help = "Definitions made, changed and removed by clients, until that is durable.";
        out.timed("change", help, &self.changes);
        let help = "Commits to the store; changes of many clients share one.";
        out.timed("commit", help, &self.commits);
        let Gauges {
            definitions, bytes, ..
        } = gauges;
        out.gauge("definitions", "Definitions.", definitions as u64);
        out.gauge("bytes", "Bytes of all definitions' records.", bytes as u64);
        if let Some(bytes) = gauges.store_bytes {
            out.gauge("store_bytes", "Bytes of the store's file.", bytes);
        }
    }
}
