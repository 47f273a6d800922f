//! Tests of constraints.

use super::*;
use punctual::Any;

use crate::cos_notification::{EventType, Property, StructuredEvent};
use crate::event::Event;

impl Valued for i32 {
    fn to_any(&self) -> Any {
        Any::new(self).unwrap()
    }

    fn of_any(any: Any) -> Self {
        any.extract().unwrap()
    }
}

fn bounds() -> Bounds {
    Bounds {
        constraints: 3,
        types: 2,
        bytes: 1_000,
        room: Room::default(),
    }
}

fn expression(types: &[(&str, &str)], text: &str) -> ConstraintExp {
    let types = types.iter().map(|(domain, name)| EventType {
        domain_name: (*domain).to_owned(),
        type_name: (*name).to_owned(),
    });
    ConstraintExp {
        event_types: types.collect(),
        constraint_expr: text.to_owned(),
    }
}

fn alarm(severity: i32) -> Event {
    let mut event = StructuredEvent::default();
    event.header.fixed_header.event_type.domain_name = "Telecom".to_owned();
    event.header.fixed_header.event_type.type_name = "Alarm".to_owned();
    event.filterable_data.push(Property {
        name: "severity".to_owned(),
        value: Any::new(&severity).unwrap(),
    });
    Event::of_structured(event)
}

#[test]
fn the_first_constraint_that_an_event_meets_decides() {
    let constraints = Constraints::new(Grammar::ExtendedTcl, bounds(), None);
    assert_eq!(constraints.first_met(&alarm(5), &mut budget()), None);
    let added = constraints.add(vec![
        (expression(&[("Telecom", "Call")], ""), 1),
        (expression(&[("Tele*", "%ALL")], "$severity > 4"), 2),
        (expression(&[], "$severity > 3"), 3),
    ]);
    assert_eq!(added.unwrap().len(), 3);
    assert_eq!(constraints.first_met(&alarm(5), &mut budget()), Some(2));
    assert_eq!(constraints.first_met(&alarm(4), &mut budget()), Some(3));
    assert_eq!(constraints.first_met(&alarm(3), &mut budget()), None);
}

#[test]
fn constraints_together_cost_no_more_than_their_budget() {
    let constraints = Constraints::new(Grammar::ExtendedTcl, bounds(), None);
    let given = vec![
        (expression(&[], "$severity > 9"), 1),
        (expression(&[("Telecom", "Alarm")], "$severity > 3"), 2),
    ];
    constraints.add(given).unwrap();
    let mut little = Budget::new(5);
    assert_eq!(constraints.first_met(&alarm(5), &mut little), None);
    assert_eq!(little.left(), 0);
    let mut much = budget();
    assert_eq!(constraints.first_met(&alarm(5), &mut much), Some(2));
    let spent = budget().left() - much.left();
    assert!((6..100).contains(&spent), "{spent}");
}

#[test]
fn changes_are_made_all_or_none() {
    let constraints = Constraints::new(Grammar::ExtendedTcl, bounds(), None);
    let wrong = expression(&[], "$severity >");
    let both = vec![(expression(&[], ""), 1), (wrong.clone(), 2)];
    let bad = constraints.add(both).unwrap_err();
    assert_eq!(bad, BadConstraints::Invalid(Box::new(wrong)));
    assert!(constraints.all().is_empty());
    let four = vec![(expression(&[], ""), 1); 4];
    assert_eq!(
        constraints.add(four).unwrap_err(),
        BadConstraints::TooMany(3)
    );
    let two = constraints.add(vec![(expression(&[], ""), 1); 2]).unwrap();
    let ids = [two[0].id, two[1].id];
    let replaced = vec![(99, expression(&[], ""), 7)];
    assert_eq!(
        constraints.modify(&ids[..1], replaced),
        Err(BadConstraints::NotFound(99))
    );
    let replaced = vec![(ids[1], expression(&[], "1 == 1"), 7)];
    constraints.modify(&ids[..1], replaced).unwrap();
    assert_eq!(constraints.get(&ids).unwrap_err(), ids[0]);
    assert_eq!(constraints.get(&ids[1..]).unwrap()[0].value, 7);
    constraints.clear().unwrap();
    assert!(constraints.all().is_empty());
}
