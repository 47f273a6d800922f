//! Filters that another service applies to the events of its channels.

use std::sync::Arc;

use super::forwarding::Forwarding;
use crate::cos_notify_filter::Filter;
use crate::event::Event;

/// Filter that another service has attached. A filter that its client destroys stays one until this is dropped.
#[derive(Clone, Debug)]
pub struct EventFilter {
    reference: Filter,
    filter: Arc<Forwarding>,
}

impl EventFilter {
    pub(super) fn new(reference: Filter, filter: Arc<Forwarding>) -> Self {
        Self { reference, filter }
    }

    /// Returns the reference to the filter.
    #[must_use]
    pub fn reference(&self) -> &Filter {
        &self.reference
    }

    /// Returns the number of the filter, by which it is found after a restart.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.filter.number()
    }

    pub(crate) fn lets_through(&self, event: &Event) -> bool {
        self.filter.matches(event)
    }
}
