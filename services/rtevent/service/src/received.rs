//! Received events, whose memory is reused by those that come after them.

use crate::data::MOST_KEPT;
use crate::wire::read_events;
use crate::{Event, Form};
use parking_lot::Mutex;
use punctual::SystemException;
use punctual::stub::Decoder;
use punctual_rtevent::Payload;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// Number of sets of events that are kept: as many as suppliers push at once, or wait in queues, before memory is
/// allocated.
const MOST_SETS: usize = 8;
/// Number of events of a set that are kept.
const MOST_EVENTS: usize = 256;
/// Octets of the data of an event that is kept, so that all that are kept have 8 MiB at most, and none a copy in a pool.
const MOST_OCTETS: usize = MOST_KEPT;

/// Sets of events that were received, the oldest first. Their memory is reused when nothing else holds it any more, so that
/// a warm push allocates nothing.
#[derive(Default)]
pub(crate) struct Received(Mutex<VecDeque<Vec<Event>>>);

/// Events of one request, whose memory is kept when they are dropped.
pub(crate) struct Taken<'r> {
    events: Vec<Event>,
    received: &'r Received,
}

impl Received {
    /// Reads the events of a request.
    ///
    /// # Errors
    /// MARSHAL, as [`Form::read`] does.
    pub(crate) fn read(
        &self,
        form: Form,
        input: &mut Decoder<'_>,
    ) -> Result<Taken<'_>, SystemException> {
        let mut taken = Taken {
            events: self.oldest(),
            received: self,
        };
        let read = form.read(input, |form, input| {
            read_events(form, input, &mut taken.events)
        });
        if let Err(exception) = read {
            // Data that were read in part may be longer than their noted size.
            taken.events.clear();
            return Err(exception);
        }
        Ok(taken)
    }

    /// Returns the oldest set, or an empty one while the oldest is still in queues and few are kept.
    fn oldest(&self) -> Vec<Event> {
        let mut sets = self.0.lock();
        let is_free = |set: &Vec<Event>| {
            let first = set.first();
            first.is_none_or(|event| Arc::strong_count(&event.data) == 1)
        };
        let is_reused = sets.len() >= MOST_SETS || sets.front().is_some_and(is_free);
        let oldest = is_reused.then(|| sets.pop_front()).flatten();
        oldest.unwrap_or_default()
    }

    fn keep(&self, mut events: Vec<Event>) {
        events.truncate(MOST_EVENTS);
        events.retain(|event| event.data.size() <= MOST_OCTETS);
        let mut sets = self.0.lock();
        if sets.len() < MOST_SETS {
            sets.push_back(events);
        }
    }
}

impl Deref for Taken<'_> {
    type Target = [Event];

    fn deref(&self) -> &[Event] {
        &self.events
    }
}

impl DerefMut for Taken<'_> {
    fn deref_mut(&mut self) -> &mut [Event] {
        &mut self.events
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.received.keep(std::mem::take(&mut self.events));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::write_events;
    use crate::{EventData, RtecEventData};
    use punctual::stub::{Block, ByteOrder, Coding, Encoder};
    use punctual_rtevent::Header;

    fn message(payload: usize) -> Vec<u8> {
        let data = EventData::new(RtecEventData {
            payload: vec![1; payload],
            ..RtecEventData::default()
        });
        let event = Event::new(Header::new(16, 1), Arc::new(data));
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        write_events(Form::default(), &[event], None, &mut out).unwrap();
        out.into_block().into_vec()
    }

    fn read(received: &Received, octets: &[u8]) -> bool {
        let mut input = Decoder::new(octets, ByteOrder::NATIVE, Coding::default());
        received.read(Form::default(), &mut input).is_ok()
    }

    /// Returns the room for payloads in the memory that is kept.
    fn kept(received: &Received) -> Vec<usize> {
        let sets = received.0.lock();
        let events = sets.iter().flatten();
        events
            .map(|event| event.data.contents().payload.capacity())
            .collect()
    }

    #[test]
    fn memory_of_small_events_is_kept_and_that_of_large_ones_is_not() {
        let received = Received::default();
        assert!(read(&received, &message(100)));
        let [room] = kept(&received)[..] else {
            panic!("one event is kept");
        };
        assert!((100..=MOST_OCTETS).contains(&room), "{room}");
        assert!(read(&received, &message(MOST_OCTETS + 1)));
        assert!(kept(&received).is_empty());
    }

    #[test]
    fn a_message_that_is_not_read_to_its_end_leaves_no_memory() {
        let received = Received::default();
        assert!(read(&received, &message(100)));
        let mut cut = message(1 << 20);
        cut.pop();
        assert!(!read(&received, &cut));
        assert!(kept(&received).is_empty());
        assert!(read(&received, &message(100)), "others are read");
    }
}
