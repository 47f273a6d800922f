//! Records that a request means.

use punctual_constraint::{Budget, Constraint, Event, Grammar, Limits};

use crate::ds_log_admin::TimeT;
use crate::record::Entry;
use crate::refusal::BadQuery;

/// Condition on records, and the order in which they are read.
#[derive(Clone, Debug)]
pub(crate) enum Selection {
    /// Those that meet a constraint, from the oldest on.
    Matching(Constraint),
    /// Those of a time or later, from the oldest on.
    From(TimeT),
    /// Those before a time, from the newest on.
    Before(TimeT),
}

impl Selection {
    /// Compiles a constraint.
    ///
    /// # Errors
    /// The grammar is unknown, or the constraint is wrong.
    pub(crate) fn matching(grammar: &str, text: &str) -> Result<Self, BadQuery> {
        let grammar = Grammar::named(grammar).ok_or(BadQuery::Grammar)?;
        let compiled = Constraint::compile(grammar, text, &Limits::default());
        compiled.map(Self::Matching).map_err(|diagnostic| {
            tracing::info!("a constraint is refused: {diagnostic}");
            BadQuery::Constraint
        })
    }

    pub(crate) const fn is_upwards(&self) -> bool {
        !matches!(self, Self::Before(_))
    }

    /// Returns whether a record may be meant, as far as its time tells.
    pub(crate) const fn may_include(&self, entry: &Entry) -> bool {
        match self {
            Self::Matching(_) => true,
            Self::From(time) => entry.time >= *time,
            Self::Before(time) => entry.time < *time,
        }
    }

    /// Returns whether a record is meant whose time may be.
    pub(crate) fn includes(&self, record: &dyn Event, budget: &mut Budget) -> bool {
        match self {
            Self::Matching(constraint) => constraint.matches_within(record, budget),
            Self::From(_) | Self::Before(_) => true,
        }
    }
}
