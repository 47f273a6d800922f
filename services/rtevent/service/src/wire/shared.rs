//! Events that are encoded once for several consumers.
//!
//! Each thread that pushes keeps the encoding of the last set of events: consumers of the same ones, one after the other, get
//! a copy. So it is under reactive dispatching, where all of them get the events of a push, and mostly on the thread of a
//! level, which takes the same events from one queue after the other.
//!
//! A thread keeps the encoding, of at most [`SharedEncoding::LONGEST`] bytes, and the headers of its events until it encodes
//! others or ends. Nothing is kept of a push whose headers alone are longer, nor of one to a consumer over shared memory whose
//! payloads are lent.

use super::event::write_events;
use super::form::Form;
use crate::Event;
use punctual::stub::{CdrError, Encoder, SharedEncoding};
use punctual_rtevent::Header;
use std::cell::RefCell;

thread_local! {
    static LAST: RefCell<Last> = RefCell::default();
}

/// Time in 100 ns within which the same events may be sent with the same time.
const SAME_TIME: u64 = 10_000;

/// Encoding of the last set of events.
#[derive(Default)]
struct Last {
    /// Headers and the numbers of the data.
    events: Vec<(Header, u64)>,
    form: Form,
    sent: Option<u64>,
    encoding: SharedEncoding,
}

/// Writes a set of events as [`write_events`] does, with the time at which they are sent: that of the consumer to which this
/// thread was the first to send them, unless that is more than 1 ms ago.
pub(crate) fn write_shared(
    form: Form,
    events: &[Event],
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    let sent = form.now();
    let is_lent = |event: &Event| form.has_octets && event.data.is_lent_to(out);
    if events.len() > SharedEncoding::LONGEST / form.least() || events.iter().any(is_lent) {
        return write_events(form, events, sent, out);
    }
    LAST.with_borrow_mut(|last| last.write(form, events, sent, out))
}

impl Last {
    fn write(
        &mut self,
        form: Form,
        events: &[Event],
        sent: Option<u64>,
        out: &mut Encoder<'_>,
    ) -> Result<(), CdrError> {
        if self.form != form || !is_same_time(self.sent, sent) || !self.holds(events) {
            self.encoding.clear();
            self.events.clear();
            let numbered = events.iter().map(|one| (one.header, one.data.number()));
            self.events.extend(numbered);
            (self.form, self.sent) = (form, sent);
        }
        let sent = self.sent;
        self.encoding
            .put(out, |out| write_events(form, events, sent, out))
    }

    fn holds(&self, events: &[Event]) -> bool {
        let is_same = |(event, (header, number)): (&Event, &(Header, u64))| {
            event.data.number() == *number && event.header == *header
        };
        self.events.len() == events.len() && events.iter().zip(&self.events).all(is_same)
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
    use crate::RtecEventData;
    use punctual::stub::{Block, ByteOrder, Coding};
    use std::sync::Arc;

    fn events() -> [Event; 2] {
        [1, 2].map(|source| {
            let data = RtecEventData::default();
            Event::new(Header::new(16, source), Arc::new(data.into()))
        })
    }

    fn written(events: &[Event]) -> Vec<u8> {
        let mut out = Encoder::new(Block::default(), ByteOrder::NATIVE, Coding::default());
        write_shared(Form::default(), events, &mut out).unwrap();
        out.into_block().into_vec()
    }

    /// Writes the ones and the others, with another time of the clock each.
    fn both(ones: &[Event], others: &[Event]) -> [Vec<u8>; 2] {
        let first = written(ones);
        let now = Form::default().now();
        while Form::default().now() == now {}
        [first, written(others)]
    }

    #[test]
    fn consumers_of_the_same_events_get_one_encoding() {
        // A thread that had to wait for a processor encodes them again.
        let is_shared = |_| {
            let events = events();
            let [first, second] = both(&events, &events.clone());
            first == second
        };
        assert!((0..1_000).any(is_shared));
    }

    #[test]
    fn other_events_have_another_encoding() {
        let (ones, others) = (events(), events());
        let [first, second] = both(&ones, &others);
        assert_ne!(first, second, "of other data, though of equal");
        let number = |octets: &[u8], at: usize| {
            let octets = octets[at..].first_chunk().unwrap();
            u32::from_ne_bytes(*octets)
        };
        // The ttl of the second event.
        let mut crossed = ones.clone();
        crossed[1].header.ttl = 1;
        let [first, second] = both(&ones, &crossed).map(|octets| number(&octets, 60));
        assert_eq!((first, second), (0, 1), "of another header");
        let [first, second] = both(&ones, &ones[..1]).map(|octets| number(&octets, 0));
        assert_eq!((first, second), (2, 1), "a part");
        let swapped = [ones[1].clone(), ones[0].clone()];
        let sources = |octets: Vec<u8>| (number(&octets, 8), number(&octets, 56));
        let [first, second] = both(&ones, &swapped).map(sources);
        assert_eq!((first, second), ((1, 2), (2, 1)), "in another order");
    }

    #[test]
    fn nothing_is_kept_of_a_push_whose_headers_alone_are_too_long() {
        let many = vec![events()[0].clone(); SharedEncoding::LONGEST / Form::default().least() + 1];
        assert!(written(&many).len() > SharedEncoding::LONGEST);
        assert!(LAST.with_borrow(|last| last.events.is_empty()));
        written(&many[1..]);
        assert_eq!(LAST.with_borrow(|last| last.events.len()), many.len() - 1);
    }

    #[test]
    fn a_time_is_shared_for_a_millisecond() {
        assert!(is_same_time(Some(5), Some(5 + SAME_TIME)));
        assert!(!is_same_time(Some(5), Some(6 + SAME_TIME)));
        assert!(is_same_time(None, None) && !is_same_time(Some(5), None));
    }
}
