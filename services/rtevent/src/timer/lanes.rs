//! Lanes by their levels.

use super::lane::Lane;
use crate::level::Level;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lanes of a channel's timers.
pub(crate) struct Lanes<T> {
    lanes: Mutex<BTreeMap<Level, Arc<Lane<T>>>>,
    resolution: u64,
    most: usize,
}

impl<T: Clone> Lanes<T> {
    /// Makes lanes of at most `most` levels, with this resolution in nanoseconds.
    pub(crate) fn new(resolution: u64, most: usize) -> Self {
        Self {
            lanes: Mutex::default(),
            resolution,
            most,
        }
    }

    /// Returns the lane of a level: its own, or, if there may be no more, that of the next less urgent level, or the least
    /// urgent one. `begin` is called with a new lane.
    pub(crate) fn lane<E>(
        &self,
        level: Level,
        now: u64,
        begin: impl FnOnce(Arc<Lane<T>>) -> Result<(), E>,
    ) -> Result<Arc<Lane<T>>, E> {
        let mut lanes = self.lanes.lock();
        let next = lanes.range(level..).next();
        let is_own = next.is_some_and(|(own, _)| *own == level);
        if (is_own || lanes.len() >= self.most)
            && let Some((_, lane)) = next.or_else(|| lanes.last_key_value())
        {
            return Ok(lane.clone());
        }
        let lane = Arc::new(Lane::new(self.resolution, now));
        begin(lane.clone())?;
        lanes.insert(level, lane.clone());
        Ok(lane)
    }

    /// Returns all lanes, the most urgent first.
    pub(crate) fn all(&self) -> Vec<Arc<Lane<T>>> {
        self.lanes.lock().values().cloned().collect()
    }
}
