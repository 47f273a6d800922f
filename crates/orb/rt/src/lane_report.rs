//! A line for each lane, now and then: what it has done since the last one.

use punctual_exec::{SpawnError, ThreadSpec};
use punctual_orb::{LaneStatistics, Orb};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// Reports what an ORB's lanes do, until dropped. The thread that does has no priority.
#[derive(Debug)]
#[must_use]
pub struct LaneReport {
    /// Its end is the report's.
    _ends: Sender<()>,
}

impl LaneReport {
    /// Has `say` told each lane's statistics every so often, of those lanes that have done anything since. Ends with the
    /// ORB.
    ///
    /// # Errors
    /// What keeps the thread from being started.
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

    /// The same to the log, a line for each.
    ///
    /// # Errors
    /// Those of [`LaneReport::start`].
    pub fn to_log(orb: &Orb, every: Duration) -> Result<Self, SpawnError> {
        Self::start(orb, every, |lane| tracing::info!("{lane}"))
    }
}
