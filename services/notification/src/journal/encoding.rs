//! Events as the bytes that a log keeps: their CDR, with the time of their receipt.

use std::time::Duration;

use punctual_durable::{EventId, NewEvent};
use punctual_host::store::{Cdr, Record, StoreError};

use crate::event::Event;
use crate::kept;
use crate::qos::{Terms, length, since_1582, units};

/// Shortest life of an event in a log: what is left of one that has ended before.
const SHORTEST: Duration = Duration::from_millis(1);

/// Returns an event as it is appended, with the end of its life as its header or else the terms of the channel say.
///
/// # Errors
/// The event has no CDR.
pub(super) fn encoded(event: &Event, terms: &Terms) -> Result<NewEvent, StoreError> {
    // An event that was pulled may have waited until its log had room.
    encoded_after(event.received().elapsed(), event, terms)
}

fn encoded_after(age: Duration, event: &Event, terms: &Terms) -> Result<NewEvent, StoreError> {
    let kept = kept::Event {
        received: since_1582().saturating_sub(units(age)),
        is_any: event.is_any(),
        content: event.to_structured(),
    };
    Ok(NewEvent {
        // An event that was taken must not be lost as it cannot be read.
        bytes: Cdr(kept).to_readable()?.into(),
        id: event.id().and_then(|id| EventId::new(id.as_bytes())),
        lifetime: lifetime(event, terms).map(|life| life.saturating_sub(age).max(SHORTEST)),
        priority: event.terms().priority.unwrap_or(terms.priority),
    })
}

fn lifetime(event: &Event, terms: &Terms) -> Option<Duration> {
    let stated = event.terms();
    let life = Some(stated.timeout.unwrap_or(terms.timeout)).filter(|life| !life.is_zero());
    let stop = stated.stop_in.filter(|_| terms.has_stop_times);
    life.into_iter().chain(stop).min()
}

/// Returns the event of bytes that a log has kept; `None` for others.
pub(crate) fn decoded(bytes: &[u8]) -> Option<Event> {
    let Cdr(kept) = Cdr::<kept::Event>::decode(bytes)?;
    let event = match kept.is_any {
        true => Event::of_any(&kept.content.remainder_of_body),
        false => Event::of_structured(kept.content),
    };
    let age = length(since_1582().saturating_sub(kept.received));
    Some(event.with_age(age))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use punctual::Any;

    use punctual_durable::DurableError;

    use super::*;
    use crate::cos_notification::{Property, StructuredEvent};
    use crate::refusal::Refusal;
    use crate::time_base::UtcT;

    fn of(header: &[(&str, Any)]) -> Event {
        let mut event = StructuredEvent::default();
        event.header.fixed_header.event_type.domain_name = "Telecom".to_owned();
        event.header.variable_header = header
            .iter()
            .map(|(name, value)| Property {
                name: (*name).to_owned(),
                value: value.clone(),
            })
            .collect();
        Event::of_structured(event)
    }

    #[test]
    fn events_of_both_forms_are_what_they_were() {
        let any = Event::of_any(&Any::new("text").unwrap());
        let structured = of(&[("Priority", Any::new(&7_i16).unwrap())]);
        for event in [any, structured] {
            let bytes = encoded(&event, &Terms::default()).unwrap().bytes;
            let again = decoded(&bytes).unwrap();
            assert_eq!(again.structured(), event.structured());
            assert_eq!(
                (again.is_any(), again.type_names()),
                (event.is_any(), event.type_names())
            );
            assert_eq!(again.terms(), event.terms());
            assert!(again.received() <= Instant::now());
        }
        assert!(decoded(b"nonsense").is_none());
    }

    /// Returns the bytes of an event that was received so long ago.
    fn aged(bytes: &[u8], age: Duration) -> Vec<u8> {
        let Cdr(mut kept) = Cdr::<kept::Event>::decode(bytes).unwrap();
        kept.received -= units(age);
        let mut bytes = Vec::new();
        Cdr(kept).encode(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn an_event_keeps_its_stop_time_however_long_it_was_in_the_log() {
        let (age, left) = (Duration::from_secs(3_600), Duration::from_secs(600));
        let stop = Any::new(&UtcT {
            time: since_1582() + units(left),
            ..UtcT::default()
        });
        let event = of(&[("StopTime", stop.unwrap())]);
        let bytes = encoded(&event, &Terms::default()).unwrap().bytes;
        let again = decoded(&aged(&bytes, age)).unwrap();
        let stops = again.received() + again.terms().stop_in.unwrap();
        let now = Instant::now();
        assert!(stops <= now + left && stops > now, "{:?}", stops - now);
    }

    #[test]
    fn the_log_has_the_id_and_the_end_of_life_of_an_event() {
        let second = Any::new(&10_000_000_u64).unwrap();
        let terms = Terms {
            timeout: Duration::from_secs(9),
            ..Terms::default()
        };
        let stated = of(&[("EventId", Any::new("a1").unwrap()), ("Timeout", second)]);
        let encoded = |event| encoded_after(Duration::ZERO, event, &terms).unwrap();
        let stated = encoded(&stated);
        assert_eq!(stated.lifetime, Some(Duration::from_secs(1)));
        assert_eq!(stated.id, EventId::new(b"a1"));
        let plain = encoded(&of(&[]));
        assert_eq!(
            (plain.lifetime, plain.id),
            (Some(Duration::from_secs(9)), None)
        );
        let long = of(&[("EventId", Any::new(&"x".repeat(65)).unwrap())]);
        let long = encoded_after(Duration::ZERO, &long, &Terms::default()).unwrap();
        assert_eq!((long.lifetime, long.id), (None, None));
    }

    #[test]
    fn an_event_without_a_form_that_can_be_stored_is_refused_for_good() {
        // No code set has both.
        let character = Any::new(&punctual::Char(0xe9)).unwrap();
        let event = of(&[("c", character), ("t", Any::new("\u{20ac}").unwrap())]);
        let refused = encoded(&event, &Terms::default()).unwrap_err();
        let refusal = Refusal::from(DurableError::Store(refused));
        assert!(matches!(refusal, Refusal::NotStorable(_)), "{refusal}");
        assert!(refusal.is_final());
    }

    #[test]
    fn an_event_that_has_waited_for_its_log_lives_no_longer_for_it() {
        let terms = Terms {
            timeout: Duration::from_secs(9),
            ..Terms::default()
        };
        let age = Duration::from_secs(4);
        let kept = encoded_after(age, &of(&[]), &terms).unwrap();
        assert_eq!(kept.lifetime, Some(Duration::from_secs(5)));
        let again = decoded(&kept.bytes).unwrap();
        assert!(again.received().elapsed() >= age);
        let late = encoded_after(age * 3, &of(&[]), &terms).unwrap();
        assert_eq!(late.lifetime, Some(SHORTEST));
    }
}
