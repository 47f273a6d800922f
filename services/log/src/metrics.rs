//! Metrics of the log service.

use punctual_events::Count;
use punctual_host::metrics::{Exposition, Timed};

/// Counts of what clients did.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Logs created and destroyed.
    pub(crate) changes: Timed,
    /// Records that were written.
    pub(crate) written: Count,
    /// Records that made room for others, in logs that wrap.
    pub(crate) replaced: Count,
    /// Records whose lives have ended.
    pub(crate) expired: Count,
    /// Records that clients deleted.
    pub(crate) deleted: Count,
    /// Records that a full log did not take.
    pub(crate) refused: Count,
}

/// Numbers of what there is at present.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gauges {
    pub(crate) logs: usize,
    pub(crate) records: u64,
    pub(crate) bytes: u64,
    pub(crate) iterators: usize,
    pub(crate) proxies: usize,
}

impl Metrics {
    /// Appends the service's metrics to the exposition.
    pub(crate) fn write(&self, out: &mut Exposition, gauges: Gauges) {
        let help = "Logs created and destroyed by clients.";
        out.timed("change", help, &self.changes);
        for (name, help, count) in [
            ("written_total", "Records that were written.", &self.written),
            (
                "replaced_total",
                "Records that made room for others, in logs that wrap.",
                &self.replaced,
            ),
            (
                "expired_total",
                "Records whose lives have ended.",
                &self.expired,
            ),
            (
                "deleted_total",
                "Records that clients deleted.",
                &self.deleted,
            ),
            (
                "refused_total",
                "Records that full logs did not take.",
                &self.refused,
            ),
        ] {
            out.counter(name, help, count.get());
        }
        out.gauge("logs", "Logs.", gauges.logs as u64);
        out.gauge("records", "Records of all logs.", gauges.records);
        out.gauge(
            "record_bytes",
            "Bytes of the records of all logs.",
            gauges.bytes,
        );
        out.gauge(
            "iterators",
            "Iterators of clients.",
            gauges.iterators as u64,
        );
        let help = "Proxies of suppliers and consumers, of event logs and of their factory.";
        out.gauge("proxies", help, gauges.proxies as u64);
    }
}
