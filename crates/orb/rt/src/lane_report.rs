//! Periodic report with a line for each lane: its activity since the previous report.

use punctual_exec::{SpawnError, ThreadSpec};
use punctual_orb::{LaneStatistics, Orb};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Periodic report on an ORB's lanes, until dropped. Its thread has no priority.
#[derive(Debug)]
#[must_use]
pub struct LaneReport {
    /// Sender of a channel; the thread that reports ends when this is dropped.
    _ends: Sender<()>,
}

impl LaneReport {
    /// Calls `say` after each interval, for each lane that was active in it, with its statistics.
    /// The reports end with the ORB.
    ///
    /// # Errors
    /// The reason why the thread cannot be started.
    pub fn start(
        orb: &Orb,
        every: Duration,
        mut say: impl FnMut(&LaneStatistics) + Send + 'static,
    ) -> Result<Self, SpawnError> {
        let (ends, end) = channel();
        let orb = orb.downgrade();
        let report = move || {
            let mut last: Vec<LaneStatistics> = Vec::new();
            while end.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let Some(orb) = orb.upgrade() else {
                    return;
                };
                let now = orb.lane_statistics();
                let changed = now.iter().filter(|lane| !last.contains(lane));
                changed.for_each(&mut say);
                last = now;
            }
        };
        ThreadSpec::named("punctual-report").start(report)?;
        Ok(Self { _ends: ends })
    }

    /// Reports to the log, a line for each lane.
    ///
    /// # Errors
    /// Those of [`LaneReport::start`].
    pub fn to_log(orb: &Orb, every: Duration) -> Result<Self, SpawnError> {
        Self::start(orb, every, |lane| tracing::info!("{lane}"))
    }
}
