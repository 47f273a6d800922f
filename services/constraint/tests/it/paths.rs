//! Components of events.

use crate::support::{Structured, fails, holds};
use punctual_constraint::Failure;

#[test]
fn the_header_is_reached_by_names_by_positions_and_by_short_names() {
    let event = Structured::of_type("Domain", "Type", "Event");
    for text in [
        "$domain_name == 'Domain' and $type_name == 'Type' and $event_name == 'Event'",
        "$.header.fixed_header.event_type.domain_name == 'Domain'",
        "$.header.fixed_header.event_type.type_name == 'Type'",
        "$.header.fixed_header.event_name == 'Event'",
        "$.0.0.0.0 == 'Domain' and $.0.0.0.1 == 'Type' and $.0.0.1 == 'Event'",
    ] {
        holds(text, &event);
    }
}

#[test]
fn a_component_that_is_absent_makes_the_constraint_false() {
    let event = Structured::default();
    for text in [
        "$x == 1",
        "not ($x == 1)",
        "$.header.x == 1",
        "$x",
        "1 in $x",
        "default $.x",
    ] {
        fails(text, &event, Failure::Absent);
    }
}
