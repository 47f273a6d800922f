//! Events, which all consumers share, in both forms: as an Any and as a structured event (formal/04-10-13, 2.3.3).
//!
//! An Any that holds a structured event is one. Any other Any is, as a structured event, the remainder of the body of
//! an event of type `%ANY` without a domain; such an event is, as an Any, its remainder.
//!
//! A structured event that comes in a message stays encoded: consumers get its bytes, and filters read of them what they need.

use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use punctual::Any;
use punctual::any::TypeKind;
use punctual::stub::{CdrError, Decoder, Encoder, Marshal, Unmarshal};
use punctual_constraint::{Event as _, FieldValue, List};
use punctual_events::bytes_of;

use crate::cos_notification::{
    EventHeader, EventType, FixedEventHeader, Property, StructuredEvent,
};
use crate::encoded::{ANY, Encoded, STRUCTURED_EVENT};
use crate::qos::{EventTerms, since_1582};

/// Type name of events that are calls of typed interfaces.
const TYPED: &str = "%TYPED";

/// Property of a header by which a supplier that repeats an event makes it known as the same.
const EVENT_ID: &str = "EventId";

/// Bytes that an event counts for besides its contents.
const OVERHEAD: usize = 64;

/// Event in a channel.
#[derive(Debug)]
pub(crate) struct Event {
    content: Content,
    /// Event as an Any, once it is asked for where the content is another form.
    any: OnceLock<Any>,
    /// Event as a structured one, likewise.
    structured: OnceLock<Box<StructuredEvent>>,
    terms: EventTerms,
    received: Instant,
    bytes: usize,
    /// States that the event is in the channel's log, from which consumers that are readers of it get it.
    is_logged: bool,
    /// Count of the channel's events, while this is one of them.
    counted: OnceLock<Counted>,
}

/// Form in which an event was supplied.
#[derive(Debug)]
enum Content {
    /// Any that holds no structured event.
    Any(Any),
    Structured(Box<StructuredEvent>),
    Encoded(Encoded),
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
        let structured = || structured_in(any).map(Self::of_structured);
        encoded_in(any)
            .map(Self::of_encoded)
            .or_else(structured)
            .unwrap_or_else(|| {
                let terms = EventTerms::default();
                Self::new(Content::Any(any.clone()), bytes_of(any), terms)
            })
    }

    /// Makes an event of a structured one.
    pub(crate) fn of_structured(event: StructuredEvent) -> Self {
        let (bytes, terms) = (size_of(&event), terms(&event.header.variable_header));
        Self::new(Content::Structured(Box::new(event)), bytes, terms)
    }

    /// Reads a structured event of a message, which stays encoded if it can.
    ///
    /// # Errors
    /// Errors of the encoding.
    pub(crate) fn read(input: &mut Decoder<'_>) -> Result<Self, CdrError> {
        match Encoded::read(input) {
            Some(event) => Ok(Self::of_encoded(event)),
            None => StructuredEvent::unmarshal(input).map(Self::of_structured),
        }
    }

    fn of_encoded(event: Encoded) -> Self {
        let (bytes, terms) = (event.bytes(), terms(&event.header()));
        Self::new(Content::Encoded(event), bytes, terms)
    }

    /// Makes an event of a number of bytes.
    fn new(content: Content, bytes: usize, terms: EventTerms) -> Self {
        Self {
            content,
            any: OnceLock::new(),
            structured: OnceLock::new(),
            terms,
            received: Instant::now(),
            bytes: bytes + OVERHEAD,
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
        matches!(self.content, Content::Any(_))
    }

    /// Returns whether the event has stayed encoded.
    #[cfg(test)]
    pub(crate) fn is_encoded(&self) -> bool {
        matches!(self.content, Content::Encoded(_))
    }

    /// Returns the id that the supplier has given the event, against repeats: a string in its header.
    pub(crate) fn id(&self) -> Option<String> {
        let header = match &self.content {
            Content::Any(_) => return None,
            Content::Structured(event) => Cow::Borrowed(&*event.header.variable_header),
            Content::Encoded(event) => Cow::Owned(event.header()),
        };
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
        match &self.content {
            Content::Any(any) => any,
            Content::Structured(event) => self.any.get_or_init(|| held(event)),
            Content::Encoded(event) => event.any(),
        }
    }

    /// Returns the event as an Any, which the event does not keep.
    pub(crate) fn to_any(&self) -> Any {
        match &self.content {
            Content::Structured(event) => self.any.get().cloned().unwrap_or_else(|| held(event)),
            _ => self.any().clone(),
        }
    }

    /// Returns the event as a structured one.
    pub(crate) fn structured(&self) -> &StructuredEvent {
        match &self.content {
            Content::Structured(event) => event,
            _ => self
                .structured
                .get_or_init(|| Box::new(self.to_structured())),
        }
    }

    /// Returns the event as a structured one, which the event does not keep.
    pub(crate) fn to_structured(&self) -> StructuredEvent {
        match &self.content {
            Content::Any(any) => around(any.clone()),
            Content::Structured(event) => StructuredEvent::clone(event),
            Content::Encoded(event) => event.decode(),
        }
    }

    /// Writes the event as a structured one.
    ///
    /// # Errors
    /// Text that a code set does not have, and the like.
    pub(crate) fn marshal_structured(&self, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        match &self.content {
            Content::Encoded(event) => event.marshal(out),
            _ => self.structured().marshal(out),
        }
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
        match &self.content {
            Content::Any(_) => ("", ANY),
            Content::Structured(event) => (event.domain_name(), event.type_name()),
            Content::Encoded(event) => (event.domain_name(), event.type_name()),
        }
    }
}

/// Constraints see the event that was supplied, whatever form its consumers have.
impl punctual_constraint::Event for Event {
    fn root(&self) -> Option<&Any> {
        match &self.content {
            Content::Any(any) => Some(any),
            _ => None,
        }
    }

    fn domain_name(&self) -> &str {
        self.type_names().0
    }

    fn type_name(&self) -> &str {
        self.type_names().1
    }

    fn event_name(&self) -> &str {
        match &self.content {
            Content::Any(_) => "",
            Content::Structured(event) => event.event_name(),
            Content::Encoded(event) => event.event_name(),
        }
    }

    fn property_count(&self, list: List) -> usize {
        match &self.content {
            Content::Any(_) => 0,
            Content::Structured(event) => event.property_count(list),
            Content::Encoded(event) => event.property_count(list),
        }
    }

    fn property_at(&self, list: List, index: usize) -> Option<(&str, FieldValue<'_>)> {
        match &self.content {
            Content::Any(_) => None,
            Content::Structured(event) => event.property_at(list, index),
            Content::Encoded(event) => event.property_at(list, index),
        }
    }

    fn property(&self, list: List, name: &str) -> Option<FieldValue<'_>> {
        match &self.content {
            Content::Any(_) => None,
            Content::Structured(event) => event.property(list, name),
            Content::Encoded(event) => event.property(list, name),
        }
    }

    fn remainder_of_body(&self) -> Option<FieldValue<'_>> {
        match &self.content {
            Content::Any(_) => None,
            Content::Structured(event) => Some((&event.remainder_of_body).into()),
            Content::Encoded(event) => Some(event.remainder_of_body()),
        }
    }

    fn current_time(&self) -> Option<u64> {
        Some(since_1582())
    }
}

/// Reads a variable header.
fn terms(header: &[Property]) -> EventTerms {
    match header {
        [] => EventTerms::default(),
        header => EventTerms::of(header, since_1582()),
    }
}

/// Returns the structured event that an Any holds, if it is one that can stay encoded.
fn encoded_in(any: &Any) -> Option<Encoded> {
    // It gets this service's own TypeCode, whatever members a peer's has.
    is_structured(any).then(|| any.read(|input| Ok(Encoded::read(input))).ok()?)?
}

/// Returns whether an Any claims to hold a structured event.
fn is_structured(any: &Any) -> bool {
    let held = any.type_code();
    held.kind() == TypeKind::Struct && held.id().ok() == STRUCTURED_EVENT.id().ok()
}

/// Returns the structured event that an Any holds, if it is one.
fn structured_in(any: &Any) -> Option<StructuredEvent> {
    is_structured(any).then(|| any.extract().ok())?
}

/// Makes the Any that a structured event is: one that holds it, or that for which it stands.
fn held(event: &StructuredEvent) -> Any {
    match is_any(event) {
        true => event.remainder_of_body.clone(),
        false => Any::new(event).unwrap_or_default(),
    }
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

/// Returns the number of bytes of a decoded event.
pub(crate) fn size_of(event: &StructuredEvent) -> usize {
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
mod encoded_tests;

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
        assert!(!through.is_any());
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
