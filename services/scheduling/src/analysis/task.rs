//! Task: what a processor has to execute, again and again.

use crate::time::Time;

/// Work that arrives on one processor at a minimum distance, and has to end by a deadline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Worst-case execution time of a job.
    pub wcet: Time,
    /// Minimum distance of two nominal releases, above zero; the period of a periodic task.
    pub period: Time,
    /// Deadline, counted from the nominal release. May be longer than the period.
    pub deadline: Time,
    /// Maximum time from a nominal release to the actual one.
    pub jitter: Time,
    /// Maximum time, once in each busy period, for which tasks of lower priority hold this one up by
    /// mutexes ([`Response`] does not depend on how it was computed).
    pub blocking: Time,
    /// Points at which other tasks may preempt a job.
    pub preemption: Preemption,
    /// `true` for the time that the platform takes away ([`Task::interference`]): it interrupts sections
    /// without preemption, too.
    pub is_interference: bool,
}

/// Points at which a job may be preempted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preemption {
    /// At any time.
    #[default]
    Full,
    /// Not at all: a job that has begun runs to its end.
    None,
    /// Between segments.
    Segments {
        /// Length of the longest segment.
        longest: Time,
        /// Length of the last segment.
        last: Time,
    },
    /// At any time, except in sections of unknown place.
    Floating {
        /// Length of the longest section.
        longest: Time,
    },
}

/// Worst-case response time of a task, counted from its nominal release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// No job takes longer.
    Within(Time),
    /// No bound was found: the processor is overloaded, or full and behind by jitter or blocking, or the
    /// bound exceeds [`Time::LONGEST`], or the busy period has too many jobs.
    Unbounded,
}

impl Task {
    /// Makes a preemptive task without jitter or blocking, whose deadline is its period.
    #[must_use]
    pub const fn new(wcet: Time, period: Time) -> Self {
        Self {
            wcet,
            period,
            deadline: period,
            jitter: Time::ZERO,
            blocking: Time::ZERO,
            preemption: Preemption::Full,
            is_interference: false,
        }
    }

    /// Makes the time that the platform takes of a processor, above all priorities: at most `most` in any
    /// window of length `every`. Interrupts of the kernel, firmware and hypervisors take it (operating-system
    /// noise).
    ///
    /// A sporadic task of the highest priority takes at least as much in any interval, and ends
    /// busy periods at the same times.
    #[must_use]
    pub const fn interference(most: Time, every: Time) -> Self {
        let mut task = Self::new(most, every);
        task.is_interference = true;
        task
    }

    /// Sets the deadline.
    #[must_use]
    pub const fn with_deadline(mut self, deadline: Time) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the release jitter.
    #[must_use]
    pub const fn with_jitter(mut self, jitter: Time) -> Self {
        self.jitter = jitter;
        self
    }

    /// Sets the maximum blocking by mutexes.
    #[must_use]
    pub const fn with_blocking(mut self, blocking: Time) -> Self {
        self.blocking = blocking;
        self
    }

    /// Sets the points of preemption.
    #[must_use]
    pub const fn with_preemption(mut self, preemption: Preemption) -> Self {
        self.preemption = preemption;
        self
    }

    /// Returns the longest time for which a job cannot be preempted.
    #[must_use]
    pub fn longest_section(&self) -> Time {
        match self.preemption {
            Preemption::Full => Time::ZERO,
            Preemption::None => self.wcet,
            Preemption::Segments { longest, .. } | Preemption::Floating { longest } => longest,
        }
    }
}

impl Response {
    /// Returns whether the response ends by a deadline.
    #[must_use]
    pub fn meets(self, deadline: Time) -> bool {
        matches!(self, Self::Within(time) if time <= deadline)
    }

    /// Returns the bound, if there is one.
    #[must_use]
    pub const fn bound(self) -> Option<Time> {
        match self {
            Self::Within(time) => Some(time),
            Self::Unbounded => None,
        }
    }
}
