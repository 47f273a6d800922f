//! Events from the channel's log. Those that wait are in the log; the queue has as many of them as its bounds permit, and
//! gets more as they are delivered. The types and filters of the moment at which an event leaves the log count.

use std::sync::Arc;
use std::time::Duration;

use punctual_durable::{Delivery, DurableError, Most, Position, Reader};

use super::arrival::Arrival;
use super::core::Outlet;
use super::source::Source;
use crate::event::Event;
use crate::filter::Questions;
use crate::journal::decoded;
use crate::queue::Numbered;
use crate::refusal::Refusal;
use crate::stated::Stated;

/// Most events that are moved at a time.
const AT_A_TIME: usize = 256;

impl Outlet {
    /// Makes the consumer a reader of the channel's log, if its connection is persistent and the channel has one. From then
    /// on the reliability of the connection stays as it is. Blocks.
    ///
    /// # Errors
    /// The store of events fails.
    pub(super) fn open_source(&self) -> Result<(), Refusal> {
        let Some(log) = self.group.hub.log() else {
            return Ok(());
        };
        let quality = &self.base.stated.quality;
        if quality.settings().has_persistent_connections() && self.source.get().is_none() {
            let reader = log.open_reader(self.base.stated.number)?;
            let (own, readers) = (self.own.clone(), self.base.common.readers.clone());
            reader.wake_by(Arc::new(move || {
                let own = own.clone();
                readers.run(move || {
                    if let Some(own) = own.upgrade() {
                        own.more_came();
                    }
                });
            }));
            let _ = self.source.set(Source::new(reader));
        }
        quality.fix_connection();
        Ok(())
    }

    /// Closes the reader, and removes it unless the service ends, on another thread: the store may have to wait for a server.
    pub(super) fn close_source(&self) {
        let Some(reader) = self.source.get().and_then(Source::take) else {
            return;
        };
        let (group, number) = (self.group.clone(), self.base.stated.number);
        let is_removed = !self.base.common.is_ending();
        self.base.common.readers.run(move || {
            drop(reader);
            if let Some(log) = group.hub.log().filter(|_| is_removed) {
                log.remove_reader(number);
            }
        });
    }

    fn more_came(&self) {
        if let Some(source) = self.source.get() {
            source.note_more();
            self.refill();
        }
    }

    /// Acknowledges the events of the log that the queue has dropped, and has it filled again.
    pub(super) fn settle(&self) {
        let Some(source) = self.source.get() else {
            return;
        };
        let (ended, is_low) = {
            let mut delivery = self.delivery.lock();
            (delivery.queue.take_ended(), delivery.is_low())
        };
        source.acknowledge(&ended);
        if is_low && source.may_have_more() && !source.plan(true) {
            self.refill_on_thread();
        }
    }

    fn refill_on_thread(&self) {
        let own = self.own.clone();
        self.base.common.readers.run(move || {
            if let Some(own) = own.upgrade() {
                own.refill();
            }
        });
    }

    /// Moves events from the log to the queue, as many as it has room for. May read from a disk.
    pub(super) fn refill(&self) {
        let Some(source) = self.source.get() else {
            return;
        };
        let _order = source.order();
        source.plan(false);
        while let Some(most) = self.room()
            && let Some(reader) = source.reader()
            && source.begin_fetch()
        {
            match reader.fetch(most, Duration::ZERO) {
                Ok(fetched) if fetched.is_empty() => {}
                Ok(fetched) => {
                    source.note_more();
                    self.enter(&*reader, fetched);
                }
                Err(error @ DurableError::Removed(_)) => {
                    if source.reader().is_some() {
                        let consumer = self.name();
                        tracing::error!("{consumer} gets no persistent events any more: {error}");
                    }
                    return;
                }
                Err(error) => return self.refill_later(source, &error),
            }
        }
    }

    fn refill_later(&self, source: &Source, error: &DurableError) {
        let consumer = self.name();
        tracing::warn!("events for {consumer} cannot be read, and wait: {error}");
        source.note_more();
        let (own, time) = (self.own.clone(), self.base.common.limits.longest_retry);
        self.base.common.timetable.after(time, move || {
            if let Some(own) = own.upgrade() {
                own.refill_on_thread();
            }
        });
    }

    /// Returns how many events are to be moved; `None` if there is no room, or the consumer is not connected.
    fn room(&self) -> Option<Most> {
        self.indexed.lock().as_ref()?;
        let line = self.line.size();
        let room = self.delivery.lock().room();
        let events = room.events.saturating_sub(line.events);
        let bytes = room.bytes.saturating_sub(line.bytes);
        (events > 0 && bytes > 0).then(|| Most {
            events: events.min(AT_A_TIME),
            bytes,
        })
    }

    /// Adds those events to the queue that are for the consumer, and acknowledges the others.
    fn enter(&self, reader: &dyn Reader, fetched: Vec<Delivery>) {
        let mut others = Vec::new();
        for one in fetched {
            let event = decoded(&one.bytes);
            if event.is_none() {
                tracing::error!(
                    "event {} in the log of channel {} is damaged, and is lost for {}",
                    one.position,
                    self.group.hub.id(),
                    self.name()
                );
            }
            let wanted = event.filter(|event| self.is_of_type(event));
            let wanted = wanted.map(Arc::new).is_some_and(|event| {
                self.asks_about(&event, one.position) || self.takes(&event, one.position)
            });
            if !wanted {
                others.push(one.position);
            }
        }
        // A proxy that has ended wants none; at the end of the service, events stay in the log for the next start.
        if self.indexed.lock().is_some() {
            reader.acknowledge(&others);
        }
    }

    fn is_of_type(&self, event: &Event) -> bool {
        let (domain, name) = event.type_names();
        let types = self.indexed.lock();
        types
            .as_ref()
            .is_some_and(|types| types.include(domain, name))
    }

    /// Puts an event of the log into the line if foreign filters are asked about it; returns whether it waits.
    fn asks_about(&self, event: &Arc<Event>, position: Position) -> bool {
        self.base.common.foreign.is_any()
            && self.ask_about(event, Some(position), &mut Questions::default())
    }

    /// Adds an event of the log to the queue if the filters let it through; returns whether they do.
    fn takes(&self, event: &Arc<Event>, position: Position) -> bool {
        let filters = |stated: &Stated| stated.filters.verdict(event);
        let (group, own) = (filters(&self.group.stated), filters(&self.base.stated));
        let passes = self.group.passes(group, own);
        if passes {
            self.offer(event, Arrival::logged(position));
        }
        passes
    }

    /// Acknowledges an event of the log that foreign filters did not let through, and has the queue filled again.
    pub(super) fn leave(&self, position: Option<Position>) {
        let (Some(position), Some(source)) = (position, self.source.get()) else {
            return;
        };
        if self.indexed.lock().is_some() {
            source.acknowledge(&[position]);
            self.settle();
        }
    }

    /// Acknowledges the events of the log among those that a push has delivered, or that are given up.
    pub(super) fn acknowledge(&self, events: &[Numbered<Arc<Event>>]) {
        if let Some(source) = self.source.get() {
            source.acknowledge(&positions(events));
        }
    }

    /// Notes the events of the log among those that have answered a pull.
    pub(super) fn note_answered(&self, events: &[Numbered<Arc<Event>>]) {
        if let Some(source) = self.source.get() {
            source.note_answered(positions(events));
        }
    }
}

fn positions(events: &[Numbered<Arc<Event>>]) -> Vec<Position> {
    let positions = events.iter().filter_map(|one| one.entry.position);
    positions.collect()
}
