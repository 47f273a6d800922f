//! Expectations of a plan, and their violations.

use super::ticks::Scale;
use std::fmt;
use std::time::Duration;

/// Times of an operation that a plan expects. `None`: nothing is expected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// Scoped name of the operation in IDL, with the interface that declares it: `Module::Interface::operation`; an
    /// attribute's is `_get_name` or `_set_name`.
    pub operation: String,
    /// Longest execution time of an upcall (WCET).
    pub wcet: Option<Duration>,
    /// Least distance of two upcalls.
    pub period: Option<Duration>,
    /// Time by which a distance may be shorter than the period.
    pub jitter: Duration,
    /// Longest response time, from the beginning of an upcall to its end.
    pub deadline: Option<Duration>,
}

/// Kind of a violation of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ViolationKind {
    /// An upcall took longer than the worst-case execution time.
    Overrun,
    /// An upcall began before the period, less the jitter, was over.
    EarlyRelease,
    /// An upcall ended after its deadline.
    MissedDeadline,
    /// The plan does not contain the operation.
    UnknownOperation,
}

/// Violation of the plan by an upcall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation<'v> {
    /// Kind of the violation.
    pub kind: ViolationKind,
    /// Scoped name of the operation.
    pub operation: &'v str,
    /// Measured time: the execution time of an overrun or an unknown operation, the distance of an
    /// early release, the response time of a missed deadline.
    pub measured: Duration,
    /// Bound of the plan; zero for an unknown operation.
    pub bound: Duration,
}

/// Handler of violations ([`crate::measurement::RecordingOptions`]); closures implement it.
pub trait ViolationHandler: Send + Sync {
    /// Takes notice of a violation. Called on the thread of the upcall after the servant has
    /// returned, and before the thread serves its next request: it delays the thread. Its time is
    /// not in the times of the upcall. A panic in it is logged and goes no further.
    fn violated(&self, violation: &Violation<'_>);
}

impl<F: Fn(&Violation<'_>) + Send + Sync> ViolationHandler for F {
    fn violated(&self, violation: &Violation<'_>) {
        self(violation);
    }
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Overrun => "overrun",
            Self::EarlyRelease => "early release",
            Self::MissedDeadline => "missed deadline",
            Self::UnknownOperation => "unknown operation",
        })
    }
}

impl fmt::Display for Violation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            operation,
            measured,
            bound,
        } = self;
        match kind {
            ViolationKind::UnknownOperation => write!(f, "{operation}: the plan does not know it"),
            _ => write!(
                f,
                "{operation}: {kind}, {measured:?} where {bound:?} are planned"
            ),
        }
    }
}

/// Bounds of an operation; without expectations none is ever violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) wcet: u64,
    pub(super) least_distance: u64,
    pub(super) deadline: u64,
}

impl Bounds {
    pub(super) const NONE: Self = Self {
        wcet: u64::MAX,
        least_distance: 0,
        deadline: u64::MAX,
    };

    /// Returns the bounds with those of distances and responses in ticks, rounded so that no time within them violates
    /// one.
    pub(super) fn in_ticks(self, scale: Scale) -> Self {
        Self {
            least_distance: scale.ticks_within(self.least_distance),
            deadline: scale.ticks_for(self.deadline),
            ..self
        }
    }
}

impl From<&Expected> for Bounds {
    fn from(expected: &Expected) -> Self {
        let period = expected.period.unwrap_or_default();
        Self {
            wcet: expected.wcet.map_or(u64::MAX, nanos),
            least_distance: nanos(period.saturating_sub(expected.jitter)),
            deadline: expected.deadline.map_or(u64::MAX, nanos),
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
