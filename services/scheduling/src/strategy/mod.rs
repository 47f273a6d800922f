//! Strategies of scheduling: from what operations need to static priority levels, the order of
//! dispatching inside a level, and the operations that are left out of an overloaded processor.
//!
//! TAO's scheduling service has most under the same names (Gill, Levine and Schmidt 2001), but OPA and
//! CRITICALITY. One file is one strategy; a program adds its own by implementing [`Strategy`].
//!
//! | name | levels | inside a level | admission |
//! |---|---|---|---|
//! | RMS | one a period | static | criticality, then rate |
//! | DMS | one a deadline | static | criticality, then rate |
//! | EDF | one | deadline | criticality, then rate |
//! | MLF | one | laxity | criticality, then rate |
//! | MUF | one a criticality | laxity | criticality, then rate |
//! | RMS_MLF | one a critical period, one for the rest | static; laxity | criticality, then rate |
//! | MUF_FAIR | as MUF | laxity | rate index, then criticality |
//! | RMS_FAIR | as RMS | static | rate index, then rate |
//! | OPA | one an operation, by Audsley's search | static | criticality, then rate |
//! | CRITICALITY | one a deadline of each criticality | static | criticality, then rate |

mod admission;
mod criticality;
mod dms;
mod edf;
mod levels;
mod mlf;
mod muf;
mod muf_fair;
mod opa;
mod rms;
mod rms_fair;
mod rms_mlf;
mod schedule;

use std::cmp::{Ordering, Reverse};
use std::fmt;

pub use admission::Limit;
pub use criticality::Criticality;
pub use dms::Dms;
pub use edf::Edf;
pub use mlf::Mlf;
pub use muf::Muf;
pub use muf_fair::MufFair;
pub use opa::Opa;
pub use rms::Rms;
pub use rms_fair::RmsFair;
pub use rms_mlf::RmsMlf;
pub(crate) use schedule::schedule_below;
pub use schedule::{Admitted, LeftOut, Outcome, Schedule, schedule};

use crate::analysis::Task;
use crate::assignment::Candidate;
use crate::assignment::rank::ties;
use crate::level::Level;

/// Order in which the dispatching queue of one level serves its operations, as `Dispatching_Type` of
/// `RtecScheduler`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dispatching {
    /// By sub-priority.
    Static,
    /// By the time left to the deadline, the shortest first.
    Deadline,
    /// By laxity, the time left to the deadline less the execution time; the least first.
    Laxity,
}

/// Operation that may run at one of several rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Tasks of which one is admitted: one operation's execution time, period and deadline at each
    /// rate, in any order.
    pub rates: Vec<Task>,
    /// Harm of a missed deadline.
    pub criticality: Level,
    /// Preference among operations that are otherwise equal.
    pub importance: Level,
}

/// Operation at one of its rates: the data by which the order of admission is computed.
#[derive(Clone, Copy, Debug)]
pub struct Rate<'c> {
    /// Operation at this rate.
    pub candidate: &'c Candidate,
    /// Place among the operation's rates: 0 is the lowest rate, the longest period.
    pub index: usize,
}

/// Rules that make a schedule of operations. The comparisons have to be total orders: sorting by
/// others may panic.
pub trait Strategy: fmt::Debug + Sync {
    /// Returns the name, as TAO spells it.
    fn name(&self) -> &str;

    /// Compares the static priority levels of two operations: `Less` if `one` is served first,
    /// `Equal` if both share a level.
    fn level_order(&self, one: &Candidate, other: &Candidate) -> Ordering;

    /// Returns the level of each of a processor's operations; level 0 is served first, and no level is
    /// empty. `platform` is the time that the processor's platform takes, above all levels. By
    /// [`Self::level_order`], unless a strategy looks at all operations together.
    fn levels(&self, candidates: &[&Candidate], platform: Option<&Task>) -> Vec<usize> {
        let _ = platform;
        levels::levels(candidates, |one, other| self.level_order(one, other))
    }

    /// Returns the order of dispatching in the level of an operation; equal for all of a level.
    fn dispatching(&self, candidate: &Candidate) -> Dispatching;

    /// Compares the sub-priorities of two operations of one level. By criticality, then importance,
    /// unless a strategy says otherwise; the index breaks ties.
    fn subpriority_order(&self, one: &Candidate, other: &Candidate) -> Ordering {
        ties(one, other)
    }

    /// Returns the limit of admission in a plan. By default none: all operations are admitted, and the
    /// analysis says which of them miss.
    fn limit(&self) -> Limit<'static> {
        Limit::None
    }

    /// Compares two operations in the order of admission: what comes last is left out first. By
    /// criticality, then rate, then importance, unless a strategy says otherwise.
    fn admission_order(&self, one: &Rate<'_>, other: &Rate<'_>) -> Ordering {
        criticality_then_rate(one.candidate).cmp(&criticality_then_rate(other.candidate))
    }
}

/// All strategies of this module.
pub const ALL: [&dyn Strategy; 10] = [
    &Rms,
    &Dms,
    &Edf,
    &Mlf,
    &Muf,
    &RmsMlf,
    &MufFair,
    &RmsFair,
    &Opa,
    &Criticality,
];

/// Returns the strategy of a name, in letters of either case: RMS, DMS, EDF, MLF, MUF, RMS_MLF,
/// MUF_FAIR, RMS_FAIR, OPA or CRITICALITY.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn Strategy> {
    ALL.into_iter()
        .find(|strategy| strategy.name().eq_ignore_ascii_case(name))
}

impl Operation {
    /// Makes an operation of one rate, of medium criticality and importance.
    #[must_use]
    pub fn new(task: Task) -> Self {
        Self {
            rates: vec![task],
            criticality: Level::Medium,
            importance: Level::Medium,
        }
    }

    /// Adds a rate.
    #[must_use]
    pub fn with_rate(mut self, task: Task) -> Self {
        self.rates.push(task);
        self
    }

    /// Sets the criticality.
    #[must_use]
    pub fn with_criticality(mut self, criticality: Level) -> Self {
        self.criticality = criticality;
        self
    }

    /// Sets the importance.
    #[must_use]
    pub fn with_importance(mut self, importance: Level) -> Self {
        self.importance = importance;
        self
    }
}

impl From<Candidate> for Operation {
    fn from(candidate: Candidate) -> Self {
        Self {
            rates: vec![candidate.task],
            criticality: candidate.criticality,
            importance: candidate.importance,
        }
    }
}

impl Dispatching {
    /// Returns the name as the IDL of `RtecScheduler` spells it, without its suffix: `STATIC`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Static => "STATIC",
            Self::Deadline => "DEADLINE",
            Self::Laxity => "LAXITY",
        }
    }
}

impl fmt::Display for Dispatching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Returns a key that orders candidates by criticality, then rate, then importance.
fn criticality_then_rate(one: &Candidate) -> impl Ord + use<> {
    (
        Reverse(one.criticality),
        one.task.period,
        Reverse(one.importance),
    )
}
