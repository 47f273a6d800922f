//! Limits of the service.

use std::time::Duration;

/// Limits of a log service. Requests that exceed them are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of logs. Default: 1,000.
    pub logs: usize,
    /// Maximum number of records of all logs. Default: 1,000,000. Beyond, a log is full.
    pub records: u64,
    /// Maximum number of bytes of the records of all logs. Default: 1 GiB. Beyond, a log is full.
    pub bytes: u64,
    /// Maximum number of bytes of one record. Default: 1 MiB.
    pub record_bytes: usize,
    /// Maximum number of attributes of one record. Default: 64.
    pub attributes: usize,
    /// Maximum number of records that one reply has. Default: 1,000; the rest comes through an iterator.
    pub reply_records: usize,
    /// Maximum number of bytes of the records that one reply has; one record is returned in any case. Default: 1 MiB.
    pub reply_bytes: usize,
    /// Maximum number of iterators. Default: 1,000; beyond, the one that was unused longest ends.
    pub iterators: usize,
    /// Time after which an unused iterator ends. Default: 5 min.
    pub iterator_idle: Duration,
    /// Maximum number of steps that the constraint of one request takes over all records. Default: 100,000,000.
    pub steps: u32,
    /// Interval at which records whose life has ended are removed from the file. Default: 10 s.
    pub sweep: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            logs: 1_000,
            records: 1_000_000,
            bytes: 1 << 30,
            record_bytes: 1 << 20,
            attributes: 64,
            reply_records: 1_000,
            reply_bytes: 1 << 20,
            iterators: 1_000,
            iterator_idle: Duration::from_secs(300),
            steps: 100_000_000,
            sweep: Duration::from_secs(10),
        }
    }
}
