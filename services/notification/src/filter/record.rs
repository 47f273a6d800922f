//! Record of a filter in the store.

use std::sync::Arc;

use punctual::Any;
use punctual_constraint::Grammar;

use crate::common::Common;
use crate::cos_notify_filter::ConstraintId;
use crate::kept;
use crate::refusal::Refusal;
use crate::storage::Change;

/// Record of a filter or a mapping filter.
#[derive(Debug)]
pub(super) struct Record {
    common: Arc<Common>,
    number: u64,
    grammar: Grammar,
    /// Default value of a mapping filter.
    default: Option<Any>,
}

impl Record {
    pub(super) fn new(
        common: Arc<Common>,
        number: u64,
        grammar: Grammar,
        default: Option<Any>,
    ) -> Self {
        Self {
            common,
            number,
            grammar,
            default,
        }
    }

    /// Returns the number of the filter.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Makes the record durable, if the service has a store. Blocks.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn put(
        &self,
        constraints: impl FnOnce() -> (Vec<kept::Constraint>, ConstraintId),
        is_destroyed: bool,
    ) -> Result<(), Refusal> {
        if !self.common.is_stored {
            return Ok(());
        }
        let (constraints, next_constraint) = constraints();
        let filter = kept::Filter {
            grammar: self.grammar.name().to_owned(),
            is_mapping: self.default.is_some(),
            is_destroyed,
            default_value: self.default.clone().unwrap_or_default(),
            constraints,
            next_constraint,
        };
        let change = Change::Filter(self.number, Some(filter));
        self.common.keep(vec![change])
    }

    /// Removes the record.
    ///
    /// # Errors
    /// It cannot be removed.
    pub(super) fn remove(&self) -> Result<(), Refusal> {
        self.common.keep(vec![Change::Filter(self.number, None)])
    }
}
