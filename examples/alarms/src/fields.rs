//! Properties of an event's filterable data and header.

use punctual::Any;
use punctual::value::CdrError;
use punctual_notification::cos_notification::{
    BEST_EFFORT, EVENT_RELIABILITY, EventType, Property, StructuredEvent,
};

/// Longest text of an event that is kept, in characters.
const LONGEST: usize = 500;

/// Header property by which the service recognises an event that a supplier repeats: an extension of Punctual's.
const EVENT_ID: &str = "EventId";

/// Returns a property.
pub(crate) fn property(name: &str, value: Any) -> Property {
    Property {
        name: name.to_owned(),
        value,
    }
}

/// Returns a property that is a text.
pub(crate) fn text_property(name: &str, value: &str) -> Result<Property, CdrError> {
    Ok(property(name, Any::new(value)?))
}

/// Returns a type of events.
pub(crate) fn event_type(domain: &str, name: &str) -> EventType {
    EventType {
        domain_name: domain.to_owned(),
        type_name: name.to_owned(),
    }
}

/// Returns an event, without header properties and without a body that filters do not see.
pub(crate) fn event(of: EventType, name: &str, data: Vec<Property>) -> StructuredEvent {
    let mut event = StructuredEvent::default();
    event.header.fixed_header.event_type = of;
    event.header.fixed_header.event_name = name.to_owned();
    event.filterable_data = data;
    event
}

/// Gives an event the id by which the service stores it once, however often it is pushed.
pub(crate) fn identified(
    mut event: StructuredEvent,
    id: &str,
) -> Result<StructuredEvent, CdrError> {
    event.header.variable_header = vec![text_property(EVENT_ID, id)?];
    Ok(event)
}

/// Keeps an event out of the channel's log: a heartbeat that comes after a restart says nothing.
pub(crate) fn unlogged(mut event: StructuredEvent) -> Result<StructuredEvent, CdrError> {
    event.header.variable_header = vec![property(EVENT_RELIABILITY, Any::new(&BEST_EFFORT)?)];
    Ok(event)
}

/// Returns the value of a property, if the event has it.
pub(crate) fn value<'e>(event: &'e StructuredEvent, name: &str) -> Option<&'e Any> {
    let mut data = event.filterable_data.iter();
    let found = data.find(|property| property.name == name)?;
    Some(&found.value)
}

/// Returns the text of a property, cut to the longest that is kept; empty without one.
pub(crate) fn text(event: &StructuredEvent, name: &str) -> String {
    let text = value(event, name).and_then(|value| value.extract::<String>().ok());
    cut(&text.unwrap_or_default())
}

/// Cuts a text to the longest that is kept.
pub(crate) fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}
