//! Levels from a plan.

use punctual::rt::Priority;
use punctual_rtevent::{Level, Schedule};
use punctual_scheduling_runtime::{Schedule as Plan, UnknownName};
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;

/// Level of consumers whose filter has no `rt_info` of the plan: behind all operations of it.
pub const UNPLANNED: Level = Level::new(1, 0);

/// Level of gateways to other channels: before all operations, as events elsewhere may be more urgent than all here, and
/// passing one on is short.
pub const GATEWAYS: Level = Level::new(0, i16::MAX);

/// Returns the level of an operation with a CORBA priority in a plan.
#[must_use]
pub fn level_of(priority: Priority) -> Level {
    Level::new(0, priority.get())
}

/// Schedule of a channel by a plan: `rt_info` is a handle, and each handle names an operation of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedLevels(BTreeMap<i32, Level>);

/// Reason why handles do not fit a plan.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LevelError {
    /// The plan's host has no such operation.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// 0 is the `rt_info` of entries that have none.
    #[error("handle 0 of `{0}` cannot be used, as an `rt_info` of 0 is none: count from 1")]
    Zero(String),
    /// Two operations have the same handle.
    #[error("handle {0} stands for two operations: give each its own")]
    Twice(i32),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl PlannedLevels {
    /// Makes the schedule of handles and the operations for which they stand.
    ///
    /// # Errors
    /// [`LevelError`].
    pub fn new<'n>(
        plan: &Plan,
        handles: impl IntoIterator<Item = (i32, &'n str)>,
    ) -> Result<Self, LevelError> {
        let mut levels = BTreeMap::new();
        for (handle, name) in handles {
            if handle == 0 {
                return Err(LevelError::Zero(name.to_owned()));
            }
            let level = level_of(plan.activity(name)?.priority());
            if levels.insert(handle, level).is_some() {
                return Err(LevelError::Twice(handle));
            }
        }
        Ok(Self(levels))
    }

    /// Returns the handles and their levels.
    pub fn handles(&self) -> impl Iterator<Item = (i32, Level)> + '_ {
        self.0.iter().map(|(handle, level)| (*handle, *level))
    }
}

impl Schedule for PlannedLevels {
    fn level(&self, rt_info: i32) -> Option<Level> {
        self.0.get(&rt_info).copied()
    }
}
