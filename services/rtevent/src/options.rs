//! Options of a channel.

use crate::dispatch::Dispatcher;
use crate::filter::FilterLimits;
use crate::level::{Level, Schedule};
use crate::peer::Reports;
use punctual_exec::ThreadSpec;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Function that specifies the thread of a level: its name, native priority, processors and stack.
pub type ThreadFunction = Arc<dyn Fn(Level) -> ThreadSpec + Send + Sync>;

/// Options of a channel.
#[derive(Clone)]
pub struct ChannelOptions {
    /// Threads that deliver events. Default: those of suppliers.
    pub dispatching: Dispatching,
    /// Schedule that knows the levels of entries' `rt_info`. Default: none.
    pub schedule: Option<Arc<dyn Schedule>>,
    /// Receiver of reports on lost events and disconnected peers. Default: none.
    pub reports: Option<Arc<dyn Reports>>,
    /// Limits of a consumer's filter.
    pub filter_limits: FilterLimits,
    /// Largest number of connected consumers. Default 65,536.
    pub most_consumers: usize,
    /// Largest number of connected suppliers. Default 65,536.
    pub most_suppliers: usize,
    /// Largest number of publications of one supplier. Default 10,000.
    pub most_publications: usize,
    /// Largest number of levels for which one consumer has a queue. Deliveries at further levels take
    /// the queue of the nearest one. Default 16, at least 1.
    pub levels_per_consumer: usize,
    /// Largest number of combinations of type and source whose routes are kept. Events of others are
    /// delivered more slowly. Default 65,536.
    pub most_routes: usize,
    /// Largest size of an event's data in bytes; larger ones are refused. Default 16 MiB.
    pub largest_event: usize,
    /// Maximum depth of nested pushes on one thread, at least 1: consumers that push events while they receive some
    /// use the supplier's stack. Default 32.
    pub most_nesting: usize,
    /// Number of failed pushes in a row after which a consumer is disconnected, at least 1. Default 3.
    pub most_failures: u32,
    /// Options of the questions to peers whether they are alive. Default: none.
    pub liveness: Option<Liveness>,
    /// Clock of the timers.
    pub clock: Clock,
    /// Resolution of the timers: they expire up to this much later, and never earlier. 1 ns to 1 s.
    /// Default 1 ms.
    pub timer_resolution: Duration,
    /// Largest number of levels whose timers have a thread, at least 1; timers of further levels expire on the thread of the
    /// next less urgent one, or of the least urgent. Default 16.
    pub most_timer_levels: usize,
    /// Specification of the thread on which a level's timers expire. Default: the scheduling of the thread that
    /// connects the level's first consumer with timers.
    pub timer_thread: ThreadFunction,
}

/// Threads that deliver events.
#[derive(Clone, Default)]
pub enum Dispatching {
    /// The supplier's thread pushes to consumers, the most urgent first, and then returns. A consumer that blocks
    /// delays the supplier and the less urgent consumers.
    #[default]
    Reactive,
    /// Queues, one for each consumer and level, served by threads: [`Threads`](crate::Threads),
    /// [`Pool`](crate::Pool), [`Lanes`](crate::Lanes), or a strategy of one's own.
    Queued(Arc<dyn Dispatcher>),
}

/// Options of the questions to peers whether they are alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// Time between two questions to one peer; not 0.
    pub interval: Duration,
    /// Number of questions in a row without an answer after which a peer counts as dead, at least 1.
    pub most_unanswered: u32,
}

/// Clock of a channel's timers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// `CLOCK_MONOTONIC`; the channel has a thread for each level with timers.
    #[default]
    Monotonic,
    /// Time as [`Channel::advance`](crate::Channel::advance) states it; the channel has no threads of its own. For
    /// simulations and tests. It begins at 0.
    Manual,
}

impl Default for ChannelOptions {
    fn default() -> Self {
        Self {
            dispatching: Dispatching::Reactive,
            schedule: None,
            reports: None,
            filter_limits: FilterLimits::default(),
            most_consumers: 65_536,
            most_suppliers: 65_536,
            most_publications: 10_000,
            levels_per_consumer: 16,
            most_routes: 65_536,
            largest_event: 16 << 20,
            most_nesting: 32,
            most_failures: 3,
            liveness: None,
            clock: Clock::Monotonic,
            timer_resolution: Duration::from_millis(1),
            most_timer_levels: 16,
            timer_thread: Arc::new(|_| ThreadSpec::named("event timers")),
        }
    }
}

impl ChannelOptions {
    /// Checks the options.
    ///
    /// # Errors
    /// The first option that is out of its range.
    pub(crate) fn check(&self) -> Result<(), OptionsError> {
        let least_one = |name, value: usize| match value {
            0 => Err(OptionsError::Zero { name }),
            _ => Ok(()),
        };
        least_one("levels_per_consumer", self.levels_per_consumer)?;
        least_one("most_timer_levels", self.most_timer_levels)?;
        least_one("most_nesting", self.most_nesting)?;
        least_one("most_failures", self.most_failures as usize)?;
        if let Some(liveness) = self.liveness {
            least_one(
                "liveness.most_unanswered",
                liveness.most_unanswered as usize,
            )?;
            if liveness.interval.is_zero() {
                return Err(OptionsError::Zero {
                    name: "liveness.interval",
                });
            }
        }
        let resolutions = Duration::from_nanos(1)..=Duration::from_secs(1);
        match resolutions.contains(&self.timer_resolution) {
            true => Ok(()),
            false => Err(OptionsError::Resolution(self.timer_resolution)),
        }
    }
}

impl fmt::Debug for ChannelOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelOptions")
            .field("dispatching", &self.dispatching)
            .field("has_schedule", &self.schedule.is_some())
            .field("has_reports", &self.reports.is_some())
            .field("filter_limits", &self.filter_limits)
            .field("most_consumers", &self.most_consumers)
            .field("most_suppliers", &self.most_suppliers)
            .field("most_publications", &self.most_publications)
            .field("levels_per_consumer", &self.levels_per_consumer)
            .field("most_routes", &self.most_routes)
            .field("largest_event", &self.largest_event)
            .field("most_nesting", &self.most_nesting)
            .field("most_failures", &self.most_failures)
            .field("liveness", &self.liveness)
            .field("clock", &self.clock)
            .field("timer_resolution", &self.timer_resolution)
            .field("most_timer_levels", &self.most_timer_levels)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Dispatching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Reactive => "Reactive",
            Self::Queued(_) => "Queued",
        })
    }
}

/// Error in the options of a channel, a queue, or a strategy.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// An option is 0 that may not be.
    #[error("`{name}` is 0: set it to at least 1, or leave the default")]
    Zero {
        /// Name of the option.
        name: &'static str,
    },
    /// The resolution of timers is out of range.
    #[error("`timer_resolution` is {0:?}: set it to a time from 1 ns to 1 s, such as 1 ms")]
    Resolution(Duration),
    /// A limit is below the number that it limits.
    #[error("`{name}` is {limit}, less than the {wanted} that are started at once: raise it")]
    Limit {
        /// Name of the option.
        name: &'static str,
        /// Value of the option.
        limit: usize,
        /// Least value that it may have.
        wanted: usize,
    },
    /// Two lanes have the same priority.
    #[error("two lanes are of {0}: give each lane a priority of its own")]
    LanesOfOneLevel(Level),
}
