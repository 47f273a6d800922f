//! Events on their way from a supplier into the channel. Those that were pushed and those that were pulled take the same one:
//! the channel has room, filters let them in, the channel's gate does, the store has them, and consumers get them.

use std::iter::Fuse;
use std::sync::Arc;

use super::core::Inlet;
use crate::event::Event;
use crate::filter::Attached;
use crate::outcome::Outcome;
use crate::refusal::Refusal;

/// Events that a supplier supplied together.
#[derive(Debug)]
pub(super) struct Supply<I: Iterator> {
    /// Events that were admitted, and are passed on next.
    admitted: Vec<Event>,
    /// Event that was refused, and may be taken later.
    waiting: Option<Event>,
    rest: Fuse<I>,
    /// Reason for which the event behind those that were admitted was refused.
    refusal: Option<Refusal>,
}

/// Events of a supply that were refused.
#[derive(Debug)]
pub(super) struct Refused {
    pub(super) reason: Refusal,
    pub(super) events: usize,
}

impl<I: Iterator<Item = Event>> Supply<I> {
    pub(super) fn new(events: impl IntoIterator<IntoIter = I>) -> Self {
        Self {
            admitted: Vec::new(),
            waiting: None,
            rest: events.into_iter().fuse(),
            refusal: None,
        }
    }

    /// Drops the events that were refused last.
    pub(super) fn give_up(&mut self) {
        match self.admitted.is_empty() {
            true => self.waiting = None,
            false => self.admitted.clear(),
        }
    }

    fn next(&mut self) -> Option<Event> {
        self.waiting.take().or_else(|| self.rest.next())
    }
}

impl Inlet {
    /// Passes events of one call on, in their order. The first one that is refused ends it: those before it are taken.
    ///
    /// # Errors
    /// The proxy is not connected; an event is refused.
    pub(super) fn publish(&self, events: impl IntoIterator<Item = Event>) -> Result<(), Refusal> {
        self.base.connection.used()?;
        let taken = self.take(&mut Supply::new(events));
        taken.map_err(|refused| {
            self.reject(&refused);
            refused.reason
        })
    }

    /// Passes events on that were supplied together, in their order. The first one that is refused ends it: those before it are
    /// taken, and what is refused now and can be taken later is still there for another call. Blocks if the channel may.
    ///
    /// # Errors
    /// The events that were refused, and why.
    pub(super) fn take<I>(&self, supply: &mut Supply<I>) -> Result<(), Refused>
    where
        I: Iterator<Item = Event>,
    {
        loop {
            let is_more = self.admit(supply);
            self.pass_on(&mut supply.admitted)?;
            if let Some(reason) = supply.refusal.take() {
                return Err(Refused { reason, events: 1 });
            }
            if !is_more {
                return Ok(());
            }
        }
    }

    /// Counts events that were refused for good: nothing takes them later, or their supplier has to supply them again.
    pub(super) fn reject(&self, refused: &Refused) {
        if refused.reason.is_final() || refused.reason.is_full() {
            self.base.tally.add(Outcome::Rejected, refused.events);
        }
    }

    /// Admits events up to the first one that is refused: one, or all if they can be one write to a store. Returns whether there
    /// may be more.
    fn admit<I: Iterator<Item = Event>>(&self, supply: &mut Supply<I>) -> bool {
        let is_together = self.group.hub.may_block();
        while supply.refusal.is_none() {
            let Some(event) = supply.next() else {
                return false;
            };
            if let Err(reason) = self.check_room(&event) {
                supply.waiting = Some(event).filter(|_| !reason.is_final());
                supply.refusal = Some(reason);
                break;
            }
            match self.admitted(event) {
                Ok(admitted) => supply.admitted.extend(admitted),
                Err(reason) => supply.refusal = Some(reason),
            }
            if !is_together {
                break;
            }
        }
        true
    }

    fn check_room(&self, event: &Event) -> Result<(), Refusal> {
        self.group.hub.check_room(event)?;
        match self.asks() && !self.line.has_room(event.bytes()) {
            true => Err(Refusal::TooManyUnfiltered(self.line.most())),
            false => Ok(()),
        }
    }

    /// Returns an event, if the filters of the proxy and its administrator let it in. One that has to wait for foreign filters
    /// is not returned.
    ///
    /// # Errors
    /// As many wait as may.
    fn admitted(&self, event: Event) -> Result<Option<Event>, Refusal> {
        if self.asks() {
            return self.ask_about(event).map(|()| None);
        }
        let verdict = |filters: &Attached| filters.verdict(&event);
        let of_admin = verdict(&self.group.stated.filters);
        if !self
            .group
            .passes(of_admin, verdict(&self.base.stated.filters))
        {
            self.base.tally.add(Outcome::Received, 1);
            self.base.tally.add(Outcome::Filtered, 1);
            return Ok(None);
        }
        Ok(Some(event))
    }

    /// Passes events on that were admitted, once those of them that are persistent are durable, if the channel's gate lets
    /// them through. After an error they are still there, and do not count as received.
    ///
    /// # Errors
    /// They cannot be made durable; the gate refuses them.
    fn pass_on(&self, events: &mut Vec<Event>) -> Result<(), Refused> {
        let hub = &self.group.hub;
        if events.is_empty() {
            return Ok(());
        }
        let count = events.len();
        let refused = |reason| Refused {
            reason,
            events: count,
        };
        let passes = hub.ask_gate(events).map_err(refused)?;
        if passes {
            hub.keep(events).map_err(refused)?;
        }
        self.base.tally.add(Outcome::Received, count);
        if !passes {
            events.clear();
        }
        for event in events.drain(..) {
            hub.publish(Arc::new(event));
        }
        Ok(())
    }
}
