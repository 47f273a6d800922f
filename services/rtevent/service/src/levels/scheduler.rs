//! Levels from a scheduler on the network (`RtecScheduler::Scheduler`): the one of this project, or TAO's.

use super::rtec_scheduler::{Scheduler, SchedulerEntryPointPriorityError, SchedulerPriorityError};
use parking_lot::Mutex;
use punctual::{Interface, Orb, SystemException};
use punctual_rtevent::{Level, Schedule};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Level of consumers whose filter has no `rt_info` that the scheduler knows: behind all levels of it.
pub const UNSCHEDULED: Level = Level::new(u8::MAX, 0);

/// Options of [`SchedulerLevels`].
#[derive(Clone, Debug)]
pub struct SchedulerOptions {
    /// Time after which a call to the scheduler fails. Default: 2 s.
    pub timeout: Duration,
    /// Time for which an answer holds; a consumer that connects later has it asked for anew. Default: 1 s.
    pub fresh_for: Duration,
    /// Time for which a scheduler that did not answer is not called again. Default: 10 s.
    pub retry_after: Duration,
    /// Native priorities that the schedule's levels must have; `None` if no thread gets them. Default: `None`.
    pub native: Option<RangeInclusive<i32>>,
    /// Handles of filters that stand for operations by their names; other ones are the scheduler's own. Default: none.
    pub handles: Vec<(i32, String)>,
}

impl Default for SchedulerOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(2),
            fresh_for: Duration::from_secs(1),
            retry_after: Duration::from_secs(10),
            native: None,
            handles: Vec::new(),
        }
    }
}

/// Schedule of a channel by a scheduler on the network: `rt_info` is a handle of the scheduler, or one that the options
/// name.
///
/// A level's group is the preemption priority of the operation, its priority in the group the native one, so that all
/// operations of a dispatching queue have one level. The scheduler is asked when a consumer connects, and never while
/// events pass. Once it does not answer, what it has answered before stays.
pub struct SchedulerLevels {
    reference: String,
    options: SchedulerOptions,
    handles: BTreeMap<i32, String>,
    scheduler: OnceLock<Scheduler>,
    known: Mutex<Known>,
}

/// Answers of the scheduler.
#[derive(Default)]
struct Known {
    levels: BTreeMap<i32, Answer>,
    /// Time until which the scheduler is not called, as it did not answer.
    away_until: Option<Instant>,
}

#[derive(Clone, Copy)]
struct Answer {
    /// Level of the handle; `None` if it has no place in the schedule.
    level: Option<Level>,
    at: Instant,
}

/// Maximum number of answers that are kept; others are asked for each time, as peers may name any handle.
const MOST_KNOWN: usize = 65_536;

/// Reason why levels cannot come from a scheduler.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SchedulerError {
    /// The scheduler does not answer, or the reference is none.
    #[error("the scheduler at {reference} does not answer: {reason}")]
    Unreachable {
        /// Reference of the scheduler, as the options have it.
        reference: String,
        /// Exception of the call.
        reason: String,
    },
    /// The scheduler does not have an operation.
    #[error("the scheduler has no operation `{0}`")]
    Unknown(String),
    /// An operation has no place in the schedule.
    #[error("`{0}` has no place in the scheduler's schedule, which has to be computed first")]
    NotScheduled(String),
    /// 0 is the `rt_info` of entries that have none.
    #[error("handle 0 of `{0}` cannot be used, as an `rt_info` of 0 is none: count from 1")]
    Zero(String),
    /// Two operations have the same handle.
    #[error("handle {0} stands for two operations: give each its own")]
    Twice(i32),
    /// A level of the schedule has a native priority that threads here may not have.
    #[error(
        "level {level} of the scheduler's schedule has native priority {priority}, outside {least} to {most}"
    )]
    Priority {
        /// Number of the level.
        level: i32,
        /// Native priority that the schedule gives it.
        priority: i32,
        /// Lowest native priority of threads here.
        least: i32,
        /// Highest native priority of threads here.
        most: i32,
    },
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for SchedulerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for SchedulerLevels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SchedulerLevels")
            .field("reference", &self.reference)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl SchedulerLevels {
    /// Makes the schedule of a scheduler's reference: `corbaloc:…` or `IOR:…`. It knows no level before
    /// [`connect`](Self::connect).
    ///
    /// # Errors
    /// Handles that are 0, or named twice.
    pub fn new(
        reference: impl Into<String>,
        options: SchedulerOptions,
    ) -> Result<Self, SchedulerError> {
        let mut handles = BTreeMap::new();
        for (handle, name) in &options.handles {
            if *handle == 0 {
                return Err(SchedulerError::Zero(name.clone()));
            }
            if handles.insert(*handle, name.clone()).is_some() {
                return Err(SchedulerError::Twice(*handle));
            }
        }
        Ok(Self {
            reference: reference.into(),
            options,
            handles,
            scheduler: OnceLock::new(),
            known: Mutex::default(),
        })
    }

    /// Connects to the scheduler by an ORB, and asks it for the levels of the handles that the options name. Blocks for
    /// a call each. Does nothing if it is connected.
    ///
    /// # Errors
    /// The scheduler does not answer, does not have one of the operations, or has no schedule with it; a level has a
    /// native priority that threads here may not have.
    pub fn connect(&self, orb: &Orb) -> Result<(), SchedulerError> {
        if self.scheduler.get().is_some() {
            return Ok(());
        }
        let unreachable = |exception: SystemException| self.unreachable(&exception);
        let object = orb.string_to_object(&self.reference).map_err(unreachable)?;
        let scheduler = Scheduler::from_object(object.with_timeout(self.options.timeout));
        self.check_priorities(&scheduler)?;
        for (handle, name) in &self.handles {
            let level = of_name(&scheduler, name).map_err(|silence| self.error(silence, name))?;
            self.known.lock().note(*handle, Some(level));
        }
        let _ = self.scheduler.set(scheduler);
        Ok(())
    }

    /// Checks the native priorities of the schedule's levels, if there is a schedule.
    fn check_priorities(&self, scheduler: &Scheduler) -> Result<(), SchedulerError> {
        let queues = scheduler.get_config_info_set();
        let queues = queues.map_err(|error| self.unreachable(&error))?;
        let Some(range) = &self.options.native else {
            return Ok(());
        };
        let outside = queues
            .iter()
            .find(|queue| !range.contains(&queue.thread_priority));
        match outside {
            None => Ok(()),
            Some(queue) => Err(SchedulerError::Priority {
                level: queue.preemption_priority,
                priority: queue.thread_priority,
                least: *range.start(),
                most: *range.end(),
            }),
        }
    }

    fn unreachable(&self, reason: &dyn fmt::Display) -> SchedulerError {
        SchedulerError::Unreachable {
            reference: self.reference.clone(),
            reason: reason.to_string(),
        }
    }

    fn error(&self, silence: NoLevel, name: &str) -> SchedulerError {
        match silence {
            NoLevel::Unknown => SchedulerError::Unknown(name.to_owned()),
            NoLevel::NotScheduled => SchedulerError::NotScheduled(name.to_owned()),
            NoLevel::NoAnswer(reason) => self.unreachable(&reason),
        }
    }

    /// Asks the scheduler for the level of a handle.
    fn ask(&self, scheduler: &Scheduler, rt_info: i32) -> Result<Level, NoLevel> {
        match self.handles.get(&rt_info) {
            Some(name) => of_name(scheduler, name),
            None => of_handle(scheduler, rt_info),
        }
    }

    /// Returns what the scheduler has answered last; tells once that it answers no more.
    fn away(&self, rt_info: i32, reason: &str) -> Option<Level> {
        let mut known = self.known.lock();
        let was_away = known.away_until.is_some();
        known.away_until = Some(Instant::now() + self.options.retry_after);
        if !was_away {
            tracing::warn!(
                "the scheduler at {} does not answer, what it has answered before stays: {reason}",
                self.reference
            );
        }
        known.level(rt_info)
    }

    /// Notes an answer, which is `None` for a handle that the schedule does not have.
    fn answered(&self, rt_info: i32, level: Option<Level>) -> Option<Level> {
        let mut known = self.known.lock();
        if known.away_until.take().is_some() {
            tracing::warn!("the scheduler at {} answers again", self.reference);
        }
        known.note(rt_info, level);
        level
    }
}

impl Known {
    /// Notes an answer. Where there are too many, handles that have no level make room for those that have one.
    fn note(&mut self, handle: i32, level: Option<Level>) {
        if self.is_full() && !self.levels.contains_key(&handle) {
            if level.is_none() {
                return;
            }
            self.levels.retain(|_, answer| answer.level.is_some());
            if self.is_full() {
                return;
            }
        }
        let at = Instant::now();
        self.levels.insert(handle, Answer { level, at });
    }

    fn is_full(&self) -> bool {
        self.levels.len() >= MOST_KNOWN
    }

    fn level(&self, handle: i32) -> Option<Level> {
        self.levels.get(&handle)?.level
    }

    /// Returns whether the answer to a handle's question holds, or cannot be asked for.
    fn holds(&self, handle: i32, fresh_for: Duration) -> bool {
        let now = Instant::now();
        let answer = self.levels.get(&handle);
        let is_fresh = answer.is_some_and(|answer| now.duration_since(answer.at) < fresh_for);
        is_fresh || self.away_until.is_some_and(|until| now < until)
    }
}

impl Schedule for SchedulerLevels {
    /// Returns the level of a handle. Blocks for a call to the scheduler if its last answer is not fresh.
    fn level(&self, rt_info: i32) -> Option<Level> {
        let scheduler = self.scheduler.get()?;
        {
            let known = self.known.lock();
            if known.holds(rt_info, self.options.fresh_for) {
                return known.level(rt_info);
            }
        }
        // Not under the lock: others' answers may be at hand.
        match self.ask(scheduler, rt_info) {
            Ok(level) => self.answered(rt_info, Some(level)),
            Err(NoLevel::Unknown | NoLevel::NotScheduled) => self.answered(rt_info, None),
            Err(NoLevel::NoAnswer(reason)) => self.away(rt_info, &reason),
        }
    }
}

/// Reason why the scheduler names no level.
enum NoLevel {
    Unknown,
    NotScheduled,
    NoAnswer(String),
}

/// Native priority, sub-priority and level of an operation.
type Place = (i32, i32, i32);

fn of_name(scheduler: &Scheduler, name: &str) -> Result<Level, NoLevel> {
    use SchedulerEntryPointPriorityError as Error;
    match scheduler.entry_point_priority(name) {
        Ok(place) => Ok(level_of(place)),
        Err(Error::UnknownTask(_)) => Err(NoLevel::Unknown),
        Err(Error::NotScheduled(_)) => Err(NoLevel::NotScheduled),
        Err(error) => Err(NoLevel::NoAnswer(error.to_string())),
    }
}

fn of_handle(scheduler: &Scheduler, handle: i32) -> Result<Level, NoLevel> {
    use SchedulerPriorityError as Error;
    match scheduler.priority(handle) {
        Ok(place) => Ok(level_of(place)),
        Err(Error::UnknownTask(_)) => Err(NoLevel::Unknown),
        Err(Error::NotScheduled(_)) => Err(NoLevel::NotScheduled),
        Err(error) => Err(NoLevel::NoAnswer(error.to_string())),
    }
}

/// Returns the level of a place; its group is before that of [`UNSCHEDULED`].
fn level_of((native, _, level): Place) -> Level {
    let last = UNSCHEDULED.preemption_group - 1;
    let group = u8::try_from(level.max(0)).unwrap_or(last).min(last);
    let bounds = (i32::from(i16::MIN), i32::from(i16::MAX));
    let native = native.clamp(bounds.0, bounds.1);
    Level::new(group, i16::try_from(native).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_that_peers_make_up_do_not_take_the_places_of_those_with_a_level() {
        let mut known = Known::default();
        let level = Level::new(1, 50);
        known.note(1, Some(level));
        for made_up in 2.. {
            if known.is_full() {
                break;
            }
            known.note(made_up, None);
        }
        known.note(-1, None);
        assert_eq!(known.levels.len(), MOST_KNOWN);
        known.note(-2, Some(level));
        assert_eq!(
            [1, -1, -2].map(|handle| known.level(handle)),
            [Some(level), None, Some(level)]
        );
        assert_eq!(known.levels.len(), 2);
    }

    #[test]
    fn no_more_answers_are_kept_than_may_be() {
        let mut known = Known::default();
        let level = Level::new(1, 50);
        for handle in 0.. {
            if known.is_full() {
                break;
            }
            known.note(handle, Some(level));
        }
        known.note(-1, Some(level));
        known.note(0, None);
        assert_eq!(known.levels.len(), MOST_KNOWN);
        assert_eq!(
            [0, 1, -1].map(|handle| known.level(handle)),
            [None, Some(level), None]
        );
    }
}
