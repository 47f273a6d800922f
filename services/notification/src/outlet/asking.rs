//! Events about which foreign filters are asked before they are in the queue: they wait in a line, in their order.

use std::sync::Arc;

use punctual_durable::Position;

use super::arrival::Arrival;
use super::core::Outlet;
use crate::event::Event;
use crate::filter::mappings::{self, in_force};
use crate::filter::{Questions, Waiter};
use crate::group::Group;
use crate::inquiry::Inquiry;
use crate::line::{Asking, Line, Place, advance};
use crate::outcome::Outcome;

impl Outlet {
    /// Takes an event if foreign filters are to be asked about it, or if it is behind such events; returns whether it is.
    pub(super) fn ask_about(
        &self,
        event: &Arc<Event>,
        position: Option<Position>,
        questions: &mut Questions,
    ) -> bool {
        if !self.has_foreign() && !self.line.is_moving() {
            return false;
        }
        match self.line.join(self.inquiry(event, position, questions)) {
            Place::First => advance(self),
            Place::Behind => {}
            Place::Full => self.base.tally.add(Outcome::Discarded, 1),
            Place::Closed => self.base.tally.add(Outcome::Undelivered, 1),
        }
        true
    }

    fn has_foreign(&self) -> bool {
        let (own, group) = (&self.base.stated, &self.group.stated);
        own.filters.has_foreign() || group.filters.has_foreign() || {
            let (own, group) = (own.mappings.read(), group.mappings.read());
            let is_foreign = |own, group| mappings::foreign(in_force(own, group)).is_some();
            is_foreign(&own.priority, &group.priority) || is_foreign(&own.lifetime, &group.lifetime)
        }
    }

    fn inquiry(
        &self,
        event: &Arc<Event>,
        position: Option<Position>,
        questions: &mut Questions,
    ) -> Inquiry {
        let (own, group) = (&self.base.stated, &self.group.stated);
        let of_admin = group.filters.opinion(event, questions);
        let of_proxy = own.filters.opinion(event, questions);
        let (own, group) = (own.mappings.read(), group.mappings.read());
        let mut question = |own, group| {
            let foreign = mappings::foreign(in_force(own, group))?;
            Some(questions.of(foreign, event))
        };
        Inquiry {
            event: event.clone(),
            position,
            of_admin,
            of_proxy,
            priority: question(&own.priority, &group.priority),
            lifetime: question(&own.lifetime, &group.lifetime),
        }
    }
}

impl Asking for Outlet {
    fn line(&self) -> &Line {
        &self.line
    }

    fn group(&self) -> &Group {
        &self.group
    }

    fn waiter(&self) -> Waiter {
        let own = self.own.clone();
        Box::new(move || {
            if let Some(own) = own.upgrade() {
                advance(&*own);
            }
        })
    }

    fn decided(&self, inquiry: Inquiry, passes: bool) {
        let arrival = Arrival {
            position: inquiry.position,
            mapped: inquiry.mapped(),
        };
        match passes {
            true => self.offer(&inquiry.event, arrival),
            false => self.leave(inquiry.position),
        }
    }

    fn emptied(&self) {}
}
