//! Settings of a log.

use std::time::Duration;

/// Limits of a log, and what happens at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Maximum number of events that readers have yet to acknowledge. Default: 10,000,000.
    pub events: u64,
    /// Maximum sum of these events' bytes. Default: 1 GiB. JetStream counts what it keeps beside each
    /// event as well, and reserves this room when the log is created.
    pub bytes: u64,
    /// Reaction to an append beyond these limits. Default: to refuse it.
    pub when_full: WhenFull,
}

/// Reaction to an append beyond a log's quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenFull {
    /// Refuses the append, whole.
    #[default]
    Refuse,
    /// Drops the oldest events, for all readers, to make room.
    DropOldest,
}

impl Default for Quota {
    fn default() -> Self {
        Self {
            events: 10_000_000,
            bytes: 1 << 30,
            when_full: WhenFull::Refuse,
        }
    }
}

/// Settings of a log. They may change each time that the log is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSettings {
    /// Limits of what the log keeps.
    pub quota: Quota,
    /// Time for which the log knows the ids of events, against repeats. Default: 2 minutes. Stores
    /// may limit the number of ids, too.
    pub repeat_window: Duration,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            quota: Quota::default(),
            repeat_window: Duration::from_secs(120),
        }
    }
}
