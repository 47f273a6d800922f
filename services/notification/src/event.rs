//! Events, which all consumers share, in both forms: as an Any and as a structured event (formal/04-10-13, 2.3.3).
//!
//! An Any that holds a structured event is one. Any other Any is, as a structured event, the remainder of the body of
//! an event of type `%ANY` without a domain; such an event is, as an Any, its remainder.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use punctual::any::TypeKind;
use punctual::{Any, Typed};
use punctual_constraint::List;
use punctual_events::bytes_of;

use crate::cos_notification::{
    EventHeader, EventType, FixedEventHeader, Property, StructuredEvent,
};
use crate::qos::{EventTerms, since_1582};
use crate::seen;

/// Type name of events that are Anys.
const ANY: &str = "%ANY";

/// Type name of events that are calls of typed interfaces.
const TYPED: &str = "%TYPED";

/// Property of a header by which a supplier that repeats an event makes it known as the same.
const EVENT_ID: &str = "EventId";

/// Bytes that an event counts for besides its contents.
const OVERHEAD: usize = 64;

/// Event in a channel. One of its forms is there from the beginning, the other one once it is asked for.
#[derive(Debug)]
pub(crate) struct Event {
    any: OnceLock<Any>,
    structured: OnceLock<Box<StructuredEvent>>,
    /// States that the event is an Any that holds no structured event.
    is_any: bool,
    terms: EventTerms,
    received: Instant,
    bytes: usize,
    /// States that the event is in the channel's log, from which consumers that are readers of it get it.
    is_logged: bool,
    /// Count of the channel's events, while this is one of them.
    counted: OnceLock<Counted>,
}

/// One in a count, until it is dropped.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        // Relaxed: a count of its own, which orders no other access.
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Event {
    /// Makes an event of an Any.
    pub(crate) fn of_any(any: &Any) -> Self {
        match structured_in(any) {
            Some(event) => Self::of_structured(event),
            None => Self {
                bytes: bytes_of(any) + OVERHEAD,
                any: any.clone().into(),
                structured: OnceLock::new(),
                is_any: true,
                terms: EventTerms::default(),
                received: Instant::now(),
                is_logged: false,
                counted: OnceLock::new(),
            },
        }
    }

    /// Makes an event of a structured one.
    pub(crate) fn of_structured(event: StructuredEvent) -> Self {
        let terms = match event.header.variable_header.as_slice() {
            [] => EventTerms::default(),
            header => EventTerms::of(header, since_1582()),
        };
        Self {
            bytes: size_of(&event) + OVERHEAD,
            any: OnceLock::new(),
            structured: Box::new(event).into(),
            is_any: false,
            terms,
            received: Instant::now(),
            is_logged: false,
            counted: OnceLock::new(),
        }
    }

    /// Makes an event of the properties of a typed one, which constraints see as its filterable data.
    pub(crate) fn of_typed(properties: &[Property]) -> Self {
        let mut event = around(Any::default());
        event.filterable_data = properties.to_vec();
        event.header.fixed_header.event_type.type_name = TYPED.to_owned();
        Self::of_structured(event)
    }

    /// Sets the time for which the event has been in the channel, with the end of its life as its header states it.
    pub(crate) fn with_age(self, age: Duration) -> Self {
        let now = Instant::now();
        let stop_in = self.terms.stop_in.map(|time| time.saturating_add(age));
        Self {
            received: now.checked_sub(age).unwrap_or(now),
            terms: EventTerms {
                stop_in,
                ..self.terms
            },
            ..self
        }
    }

    /// Notes that the channel's log has the event.
    pub(crate) fn note_logged(&mut self) {
        self.is_logged = true;
    }

    pub(crate) fn is_logged(&self) -> bool {
        self.is_logged
    }

    /// Returns whether the event was supplied as an Any that holds no structured event.
    pub(crate) fn is_any(&self) -> bool {
        self.is_any
    }

    /// Returns the id that the supplier has given the event, against repeats: a string in its header.
    pub(crate) fn id(&self) -> Option<String> {
        let header = self.properties(List::VariableHeader);
        let stated = header.iter().find(|property| property.name == EVENT_ID)?;
        stated.value.extract().ok()
    }

    /// Counts the event until it is dropped, once.
    pub(crate) fn count_in(&self, count: &Arc<AtomicUsize>) {
        self.counted.get_or_init(|| {
            count.fetch_add(1, Ordering::Relaxed);
            Counted(count.clone())
        });
    }

    /// Returns the event as an Any.
    pub(crate) fn any(&self) -> &Any {
        self.any.get_or_init(|| self.encoded())
    }

    /// Returns the event as an Any, which the event does not keep.
    pub(crate) fn to_any(&self) -> Any {
        self.any.get().cloned().unwrap_or_else(|| self.encoded())
    }

    fn encoded(&self) -> Any {
        match self.structured.get() {
            Some(event) if is_any(event) => event.remainder_of_body.clone(),
            Some(event) => Any::new(&**event).unwrap_or_default(),
            None => Any::default(),
        }
    }

    /// Returns the event as a structured one.
    pub(crate) fn structured(&self) -> &StructuredEvent {
        self.structured
            .get_or_init(|| Box::new(around(self.any.get().cloned().unwrap_or_default())))
    }

    pub(crate) fn terms(&self) -> &EventTerms {
        &self.terms
    }

    /// Returns the time at which the channel received the event.
    pub(crate) fn received(&self) -> Instant {
        self.received
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns domain and type name.
    pub(crate) fn type_names(&self) -> (&str, &str) {
        match self.fixed() {
            Some(header) => (&header.event_type.domain_name, &header.event_type.type_name),
            None => ("", ANY),
        }
    }

    fn fixed(&self) -> Option<&FixedEventHeader> {
        let event = self.structured.get().filter(|_| !self.is_any);
        event.map(|event| &event.header.fixed_header)
    }

    fn properties(&self, list: List) -> &[Property] {
        self.structured
            .get()
            .map_or(&[], |event| seen::properties(event, list))
    }
}

/// Constraints see the event that was supplied, whatever form its consumers have.
impl punctual_constraint::Event for Event {
    fn root(&self) -> Option<&Any> {
        self.any.get().filter(|_| self.is_any)
    }

    fn domain_name(&self) -> &str {
        self.type_names().0
    }

    fn type_name(&self) -> &str {
        self.type_names().1
    }

    fn event_name(&self) -> &str {
        self.fixed().map_or("", |header| &header.event_name)
    }

    fn property_count(&self, list: List) -> usize {
        self.properties(list).len()
    }

    fn property_at(&self, list: List, index: usize) -> Option<(&str, &Any)> {
        let property = self.properties(list).get(index)?;
        Some((&property.name, &property.value))
    }

    fn remainder_of_body(&self) -> Option<&Any> {
        self.structured.get().map(|event| &event.remainder_of_body)
    }

    fn current_time(&self) -> Option<u64> {
        Some(since_1582())
    }
}

/// Returns the structured event that an Any holds, if it is one.
fn structured_in(any: &Any) -> Option<StructuredEvent> {
    let held = any.type_code();
    if held.kind() != TypeKind::Struct || held.id().ok() != StructuredEvent::type_code().id().ok() {
        return None;
    }
    any.extract().ok()
}

/// Returns whether a structured event stands for an Any.
fn is_any(event: &StructuredEvent) -> bool {
    let event_type = &event.header.fixed_header.event_type;
    event_type.domain_name.is_empty() && event_type.type_name == ANY
}

/// Returns the structured event that stands for an Any.
fn around(any: Any) -> StructuredEvent {
    let event_type = EventType {
        domain_name: String::new(),
        type_name: ANY.to_owned(),
    };
    let fixed_header = FixedEventHeader {
        event_type,
        event_name: String::new(),
    };
    StructuredEvent {
        header: EventHeader {
            fixed_header,
            variable_header: Vec::new(),
        },
        filterable_data: Vec::new(),
        remainder_of_body: any,
    }
}

fn size_of(event: &StructuredEvent) -> usize {
    let fixed = &event.header.fixed_header;
    let names = fixed.event_type.domain_name.len()
        + fixed.event_type.type_name.len()
        + fixed.event_name.len();
    let of_list = |list: &[Property]| -> usize {
        let sizes = list.iter().map(|property| {
            std::mem::size_of::<Property>() + property.name.len() + bytes_of(&property.value)
        });
        sizes.sum()
    };
    std::mem::size_of::<StructuredEvent>()
        + names
        + of_list(&event.header.variable_header)
        + of_list(&event.filterable_data)
        + bytes_of(&event.remainder_of_body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alarm() -> StructuredEvent {
        let mut event = around(Any::new(&7).unwrap());
        event.header.fixed_header.event_type = EventType {
            domain_name: "Telecom".to_owned(),
            type_name: "Alarm".to_owned(),
        };
        event
    }

    #[test]
    fn an_any_is_the_remainder_of_an_event_of_its_own_type() {
        let any = Any::new(&5).unwrap();
        let event = Event::of_any(&any);
        assert_eq!(event.any(), &any);
        assert_eq!(event.type_names(), ("", "%ANY"));
        assert!(is_any(event.structured()));
        let back = Event::of_structured(event.structured().clone());
        assert_eq!(back.any(), &any);
        assert_eq!(back.type_names(), ("", "%ANY"));
    }

    #[test]
    fn a_structured_event_comes_through_an_any_as_it_was() {
        let event = Event::of_structured(alarm());
        let through = Event::of_any(event.any());
        assert_eq!(through.structured(), &alarm());
        assert_eq!(through.type_names(), ("Telecom", "Alarm"));
        assert!(!through.is_any);
    }

    #[test]
    fn events_are_counted_until_they_are_dropped() {
        let count = Arc::new(AtomicUsize::new(0));
        let event = Event::of_structured(alarm());
        event.count_in(&count);
        event.count_in(&count);
        assert_eq!(count.load(Ordering::Relaxed), 1);
        drop(event);
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }
}
