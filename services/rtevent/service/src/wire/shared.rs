//! Events that are encoded once for several consumers.
//!
//! Reactive dispatching gives the very events of a push to one consumer after the other, on the supplier's thread. While that
//! push lasts, the thread keeps their encoding; consumers that get other events, such as a part of them, have their own.

use super::event::write_events;
use super::form::Form;
use crate::{Event, clock};
use punctual::stub::{CdrError, Encoder, SharedEncoding};
use std::cell::RefCell;

thread_local! {
    static PUSH: RefCell<Shared> = RefCell::default();
}

/// Time in 100 ns within which the events of a push may be sent with the same time.
const SAME_TIME: u64 = 10_000;

/// Encoding of the events of the push that goes on.
#[derive(Default)]
struct Shared {
    /// Address and number of the events; `None` if no push goes on.
    events: Option<(*const Event, usize)>,
    form: Form,
    sent: Option<u64>,
    encoding: SharedEncoding,
}

/// Restores the push around the one that ends.
struct Ends(Option<(*const Event, usize)>);

impl Drop for Ends {
    fn drop(&mut self) {
        PUSH.with_borrow_mut(|push| push.begin(self.0));
    }
}

/// Pushes events: calls of [`write_shared`] with these very events share one encoding meanwhile.
pub(crate) fn sharing<R>(events: &[Event], push: impl FnOnce() -> R) -> R {
    let place = Some((events.as_ptr(), events.len()));
    let _ends = PUSH.with_borrow_mut(|push| {
        let around = push.events;
        push.begin(place);
        Ends(around)
    });
    push()
}

/// Writes a set of events as [`write_events`] does, with the time at which they are sent: that of the consumer which was
/// the first to get them, unless that is more than 1 ms ago.
pub(crate) fn write_shared(
    form: Form,
    events: &[Event],
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    let sent = form.has_timestamps.then(clock::now);
    PUSH.with_borrow_mut(|push| push.write(form, events, sent, out))
}

impl Shared {
    fn begin(&mut self, events: Option<(*const Event, usize)>) {
        self.events = events;
        self.encoding.clear();
    }

    fn write(
        &mut self,
        form: Form,
        events: &[Event],
        sent: Option<u64>,
        out: &mut Encoder<'_>,
    ) -> Result<(), CdrError> {
        // The events of the push are borrowed until it ends, so that no others are at their place.
        if self.events != Some((events.as_ptr(), events.len())) {
            return write_events(form, events, sent, out);
        }
        if self.form != form || !is_same_time(self.sent, sent) {
            self.encoding.clear();
            (self.form, self.sent) = (form, sent);
        }
        let sent = self.sent;
        self.encoding
            .put(out, |out| write_events(form, events, sent, out))
    }
}

fn is_same_time(kept: Option<u64>, now: Option<u64>) -> bool {
    match (kept, now) {
        (Some(kept), Some(now)) => now.abs_diff(kept) <= SAME_TIME,
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use punctual::stub::{Block, ByteOrder, Coding};
    use punctual_rtevent::Header;

    fn events() -> [Event; 2] {
        [1, 2].map(|source| Event::new(Header::new(16, source), crate::Data::default()))
    }

    fn written(events: &[Event]) -> Vec<u8> {
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        write_shared(Form::default(), events, &mut out).unwrap();
        out.into_block().into_vec()
    }

    /// Writes the events twice, with another time of the clock each.
    fn twice(events: &[Event]) -> [Vec<u8>; 2] {
        let first = written(events);
        let now = clock::now();
        while clock::now() == now {}
        [first, written(events)]
    }

    #[test]
    fn consumers_of_the_events_of_a_push_get_one_encoding() {
        let events = events();
        // A thread that had to wait for a processor encodes them again.
        let is_shared = |_| {
            let [first, second] = sharing(&events, || twice(&events));
            first == second
        };
        assert!((0..1_000).any(is_shared));
    }

    #[test]
    fn other_events_and_those_behind_the_push_have_their_own() {
        let (events, others) = (events(), self::events());
        let [first, second] = sharing(&events, || twice(&others));
        assert_ne!(first, second, "other events");
        let [first, second] = sharing(&events, || twice(&events[..1]));
        assert_ne!(first, second, "a part");
        let [first, second] = sharing(&events, || [written(&events), written(&events)]);
        assert_eq!(first.len(), second.len());
        let [first, second] = twice(&events);
        assert_ne!(first, second, "behind the push");
    }

    #[test]
    fn a_push_inside_of_a_push_has_its_own() {
        let (outer, mut inner) = (events(), events());
        inner[0].header.kind = 17;
        sharing(&outer, || {
            written(&outer);
            sharing(&inner, || {
                assert_eq!(written(&inner)[4..8], 17_i32.to_ne_bytes())
            });
            assert_eq!(written(&outer)[4..8], 16_i32.to_ne_bytes());
        });
    }

    #[test]
    fn a_time_is_shared_for_a_millisecond() {
        assert!(is_same_time(Some(5), Some(5 + SAME_TIME)));
        assert!(!is_same_time(Some(5), Some(6 + SAME_TIME)));
        assert!(is_same_time(None, None) && !is_same_time(Some(5), None));
    }
}
