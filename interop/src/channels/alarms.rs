//! Events of the notification cases.

use punctual::Any;
use punctual_notification::cos_notification::{
    EventHeader, EventType, FixedEventHeader, Property, StructuredEvent,
};

use crate::Failure;

/// Returns an event type.
pub(super) fn event_type(domain: &str, name: &str) -> EventType {
    EventType {
        domain_name: domain.to_owned(),
        type_name: name.to_owned(),
    }
}

/// Returns a property.
pub(super) fn property(name: &str, value: Any) -> Property {
    Property {
        name: name.to_owned(),
        value,
    }
}

/// Returns the event that all constraints in `constraints.txt` speak of, with this number.
pub(super) fn event(number: i32) -> Result<StructuredEvent, Failure> {
    let causes = vec![
        property("power", Any::new(&7_i32)?),
        property("text", Any::new(&"x".to_owned())?),
    ];
    let words = vec!["a".to_owned(), "b".to_owned()];
    Ok(StructuredEvent {
        header: EventHeader {
            fixed_header: FixedEventHeader {
                event_type: event_type("Telecom", "NT_ALARM"),
                event_name: "link down".to_owned(),
            },
            variable_header: vec![property("Priority", Any::new(&i16::try_from(number)?)?)],
        },
        filterable_data: vec![
            property("severity", Any::new(&number)?),
            property("probability", Any::new(&0.5_f64)?),
            property("place", Any::new(&"north/pump".to_owned())?),
            property("cleared", Any::new(&false)?),
            property("octets", Any::new(&5_000_000_000_u64)?),
            property("type", Any::new(&event_type("Plant", "Pump"))?),
            property("causes", Any::new(&causes)?),
            property("words", Any::new(&words)?),
        ],
        remainder_of_body: Any::new(&number)?,
    })
}

/// Returns the same event, of a type.
pub(super) fn event_of(domain: &str, name: &str, number: i32) -> Result<StructuredEvent, Failure> {
    let mut event = event(number)?;
    event.header.fixed_header.event_type = event_type(domain, name);
    Ok(event)
}
