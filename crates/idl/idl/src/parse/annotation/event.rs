//! `@event`, `@event(type = 1234)`: structs and unions that are the values of events.

use std::collections::BTreeMap;

use crate::model::{Annotation, ConstValue, DeclId, DeclKind, Declaration};
use crate::parse::Parser;
use crate::parse::stated_event::StatedEvent;
use crate::source::{FileId, Location, Place};

use super::parameter::ArgumentPlace;

/// First type of events that is free for users (`ACE_ES_EVENT_UNDEFINED` of TAO).
const FIRST_OF_USERS: u32 = 16;

/// Returns whether an annotation that no definition explains is this one.
pub(super) fn is_event(name: &str) -> bool {
    name.strip_prefix("::").unwrap_or(name) == "event"
}

impl Parser<'_> {
    /// Keeps an `@event` whose arguments have been checked, and checks its type.
    pub(super) fn keep_event(&mut self, annotation: &Annotation, places: &[ArgumentPlace]) {
        let number = match annotation.constant("type") {
            Some(ConstValue::Integer(number)) => u32::try_from(*number).ok(),
            _ => None,
        };
        if let (Some(low), Some(at)) = (number.filter(|n| *n < FIRST_OF_USERS), places.first()) {
            let message = format!("the event type {low} is one of the channel's own");
            let help = format!("types of users are from {FIRST_OF_USERS} to {}", u32::MAX);
            self.error_with_help(at.value, message, "reserved", help);
        }
        self.events_stated.push(StatedEvent {
            number,
            location: annotation.location.clone(),
        });
    }

    /// Gives each struct and union with `@event` its type; reports types that are there twice, and
    /// each `@event` before something else. If there are other errors, a declaration may not have
    /// been read because of them.
    pub(in crate::parse) fn finish_events(&mut self) {
        if self.session.has_errors() {
            return;
        }
        let stated = std::mem::take(&mut self.events_stated).into_iter();
        let mut stated: BTreeMap<Position, StatedEvent> = stated
            .map(|event| (position(&event.location), event))
            .collect();
        for index in 0..self.spec.declarations.len() {
            let declaration = &self.spec.declarations[index];
            let (id, positions) = (declaration.id, positions_at(declaration));
            let events: Vec<_> = positions
                .iter()
                .filter_map(|at| stated.remove(at))
                .collect();
            self.finish_event(id, &events);
        }
        for event in stated.values() {
            self.report_misplaced_event(event);
        }
        self.report_equal_types();
    }

    fn finish_event(&mut self, id: DeclId, events: &[StatedEvent]) {
        let [first, others @ ..] = events else { return };
        if let Some(again) = others.first() {
            let message = "a type has one `@event`";
            let fault = self
                .session
                .error_at(Place::from(&again.location), message, "again here");
            let first = Place::from(&first.location);
            let fault = self.session.and(fault, first, "first here");
            self.session.report(fault);
        }
        if self.facts[id.index()].local {
            let message = "an event cannot hold a local interface";
            let place = Place::from(&self.spec[id].location);
            self.error(place, message, "holds a local interface");
        }
        let number = first.number;
        let number = number.unwrap_or_else(|| computed(&self.spec[id].repository_id));
        self.spec.event_types.insert(id, number.cast_signed());
    }

    fn report_misplaced_event(&mut self, event: &StatedEvent) {
        let message = "`@event` is for structs and unions";
        let help = "write it directly before the type of the events' values";
        self.error_with_help(
            Place::from(&event.location),
            message,
            "not before one",
            help,
        );
    }

    fn report_equal_types(&mut self) {
        let mut first_with = BTreeMap::new();
        for (id, number) in self.spec.event_types.clone() {
            let first = *first_with.entry(number).or_insert(id);
            if first != id {
                self.report_equal(first, id, number.cast_unsigned());
            }
        }
    }

    fn report_equal(&mut self, first: DeclId, again: DeclId, number: u32) {
        let names = [first, again].map(|id| self.spec[id].scoped_name.join("::"));
        let message = format!(
            "events of `{}` and `{}` have the same type",
            names[0], names[1]
        );
        let place = |id: DeclId| Place::from(&self.spec[id].location);
        let (first, again) = (place(first), place(again));
        let label = format!("type {number}, too");
        let fault = self.session.error_at(again, message, label);
        let fault = self.session.and(fault, first, format!("type {number}"));
        let help = "give one of them another number: `@event(type = …)`";
        self.session.report(fault.with_help(help));
    }
}

/// File and offset of an annotation.
type Position = (FileId, usize);

fn position(location: &Location) -> Position {
    (location.file, location.span.start)
}

/// Returns the positions of the annotations of a struct or union; none for other declarations.
fn positions_at(declaration: &Declaration) -> Vec<Position> {
    match declaration.kind {
        DeclKind::Struct(_) | DeclKind::Union(_) => {
            let annotations = declaration.annotations.iter();
            annotations.map(|one| position(&one.location)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the type of events whose IDL states none.
fn computed(repository_id: &str) -> u32 {
    (crc32fast::hash(repository_id.as_bytes()) & 0x7fff_ffff).max(FIRST_OF_USERS)
}
