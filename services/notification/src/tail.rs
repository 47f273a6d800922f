//! The latest events of a channel that meet a constraint, for a page that shows them.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use punctual_constraint::Constraint;

use crate::channel::Channel;
use crate::cos_notification::StructuredEvent;
use crate::event::{Event, size_of};
use crate::hub::{Subscriber, Verdicts};

/// Most events that are kept.
const EVENTS: usize = 50;

/// Most bytes of the events that are kept; a larger one is kept alone.
const BYTES: usize = 1 << 20;

/// Latest events of a channel that meet a constraint, until this is dropped. It is no consumer: nothing counts it.
pub struct Tail {
    latest: Arc<Latest>,
    channel: Weak<Channel>,
}

struct Latest {
    number: u64,
    constraint: Constraint,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// Number of all that came.
    count: u64,
    bytes: usize,
    events: VecDeque<(usize, StructuredEvent)>,
}

impl std::fmt::Debug for Tail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tail").finish_non_exhaustive()
    }
}

impl Tail {
    pub(crate) fn new(channel: &Arc<Channel>, constraint: Constraint) -> Self {
        let latest = Arc::new(Latest {
            number: channel.common.objects.number(),
            constraint,
            kept: Mutex::default(),
        });
        let listener: Arc<dyn Subscriber> = latest.clone();
        channel.listen(&listener);
        Self {
            latest,
            channel: Arc::downgrade(channel),
        }
    }

    /// Returns the latest events, the newest first, and the number of all that came.
    #[must_use]
    pub fn latest(&self) -> (Vec<StructuredEvent>, u64) {
        let kept = self.latest.kept.lock();
        let newest_first = kept.events.iter().rev();
        (
            newest_first.map(|(_, event)| event.clone()).collect(),
            kept.count,
        )
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        if let Some(channel) = self.channel.upgrade() {
            channel.stop_listening(self.latest.number);
        }
    }
}

impl Subscriber for Latest {
    fn number(&self) -> u64 {
        self.number
    }

    fn needs(&self) -> Option<Vec<Constraint>> {
        Some(vec![self.constraint.clone()])
    }

    fn take(&self, event: &Arc<Event>, _: &mut Verdicts) {
        if self.constraint.matches(&**event) {
            self.kept.lock().add(event);
        }
    }
}

impl Kept {
    /// Adds a copy of an event, which does not count as one of the channel.
    fn add(&mut self, event: &Event) {
        let event = event.to_structured();
        let bytes = size_of(&event);
        self.count += 1;
        self.bytes += bytes;
        self.events.push_back((bytes, event));
        while self.events.len() > 1 && (self.events.len() > EVENTS || self.bytes > BYTES) {
            let dropped = self.events.pop_front();
            self.bytes -= dropped.map_or(0, |(bytes, _)| bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual::Any;

    #[test]
    fn the_latest_events_are_kept_within_bounds() {
        let mut kept = Kept::default();
        let event = |size: usize| Event::of_any(&Any::new("x".repeat(size).as_str()).unwrap());
        for _ in 0..EVENTS + 3 {
            kept.add(&event(10));
        }
        assert_eq!((kept.events.len(), kept.count), (EVENTS, EVENTS as u64 + 3));
        kept.add(&event(BYTES * 2));
        assert_eq!(kept.events.len(), 1);
        kept.add(&event(10));
        assert_eq!(kept.events.len(), 1);
        assert_eq!(kept.bytes, size_of(event(10).structured()));
    }
}
