//! Events about which foreign filters are asked before they are in the channel. The supplier does not wait for them; its
//! events stay in their order.

use std::sync::Arc;

use super::core::Inlet;
use crate::event::Event;
use crate::filter::{Questions, Waiter};
use crate::group::Group;
use crate::inquiry::Inquiry;
use crate::line::{Asking, Line, Place, advance};
use crate::outcome::Outcome;
use crate::refusal::Refusal;

impl Inlet {
    /// Returns whether an event of the supplier has to wait for foreign filters, or behind events that do.
    pub(super) fn asks(&self) -> bool {
        let (own, group) = (&self.base.stated, &self.group.stated);
        self.base.common.foreign.is_any()
            && (own.filters.has_foreign() || group.filters.has_foreign() || self.line.is_moving())
    }

    /// Takes an event that has to wait.
    ///
    /// # Errors
    /// As many wait as may.
    pub(super) fn ask_about(&self, event: Event) -> Result<(), Refusal> {
        let event = Arc::new(event);
        let mut questions = Questions::default();
        let inquiry = Inquiry {
            of_admin: self.group.stated.filters.opinion(&event, &mut questions),
            of_proxy: self.base.stated.filters.opinion(&event, &mut questions),
            event,
            position: None,
            priority: None,
            lifetime: None,
        };
        match self.line.join(inquiry) {
            Place::First => advance(self),
            Place::Behind => {}
            Place::Full => return Err(Refusal::TooManyUnfiltered(self.line.most())),
            Place::Closed => return Err(Refusal::Ending),
        }
        Ok(())
    }
}

impl Asking for Inlet {
    fn line(&self) -> &Line {
        &self.line
    }

    fn group(&self) -> &Group {
        &self.group
    }

    /// The supplier may disconnect meanwhile: its events pass on nevertheless.
    fn waiter(&self) -> Waiter {
        let own = self.own.upgrade();
        Box::new(move || {
            if let Some(own) = own {
                advance(&*own);
            }
        })
    }

    fn decided(&self, inquiry: Inquiry, passes: bool) {
        let hub = &self.group.hub;
        if passes && hub.check_room(&inquiry.event).is_err() {
            return self.base.tally.add(Outcome::Rejected, 1);
        }
        self.base.tally.add(Outcome::Received, 1);
        match passes {
            true => hub.publish(inquiry.event),
            false => self.base.tally.add(Outcome::Filtered, 1),
        }
    }

    fn emptied(&self) {
        let has_more = self.pull.lock().waits_with.take();
        if let Some(has_more) = has_more {
            self.go_on(has_more);
        }
    }
}
