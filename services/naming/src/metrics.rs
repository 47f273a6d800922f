//! Metrics of the Naming Service.

use punctual_host::metrics::{Exposition, Timed};

/// Counters of the naming service's operations, by kind.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) resolves: Timed,
    pub(crate) lists: Timed,
    pub(crate) changes: Timed,
    /// Commits to the store, each with the changes of one operation or more.
    pub(crate) commits: Timed,
}

/// Current numbers of contexts and bindings, and the current length of the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gauges {
    pub(crate) contexts: usize,
    pub(crate) bindings: usize,
    pub(crate) bytes: usize,
    pub(crate) store_bytes: Option<u64>,
}

impl Metrics {
    /// Appends the naming service's metrics to the exposition.
    pub(crate) fn write(&self, out: &mut Exposition, gauges: Gauges) {
        out.timed("resolve", "Names resolved.", &self.resolves);
        out.timed("list", "Portions of contexts listed.", &self.lists);
        out.timed(
            "change",
            "Names bound and unbound, contexts made and destroyed, until that is durable.",
            &self.changes,
        );
        out.timed(
            "commit",
            "Commits to the store; changes of many clients share one.",
            &self.commits,
        );
        let Gauges {
            contexts, bindings, ..
        } = gauges;
        out.gauge(
            "contexts",
            "Contexts, the root among them.",
            contexts as u64,
        );
        out.gauge("bindings", "Bindings in all contexts.", bindings as u64);
        out.gauge(
            "bindings_bytes",
            "Bytes that bindings and contexts take in memory, of --most-bytes.",
            gauges.bytes as u64,
        );
        if let Some(bytes) = gauges.store_bytes {
            out.gauge("store_bytes", "Bytes of the store's file.", bytes);
        }
    }
}
