//! Parts of a structured event that paths begin with, found when a constraint is compiled.

use super::step::{Root, Step};
use crate::event::List;

/// Part of a structured event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// Struct that holds other parts, and has a type but no value.
    Struct(Part),
    DomainName,
    TypeName,
    EventName,
    List(List),
    /// Entry of a list by its place: a struct of name and value.
    Entry(List, u32),
    EntryName(List, u32),
    EntryValue(List, u32),
    /// Value of a property by its name.
    Property(List, Box<str>),
    /// Value of the property of this name in the header, or else in the filterable data.
    AnyProperty(Box<str>),
    /// Value of the property of this name in the filterable data, or else in the header.
    Body(Box<str>),
    Remainder,
    CurrentTime,
    /// Part that no structured event has.
    Nothing,
}

/// Struct within a structured event (`CosNotification`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Part {
    Event,
    Header,
    FixedHeader,
    EventType,
}

impl Part {
    /// Returns the unscoped name of the struct.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Event => "StructuredEvent",
            Self::Header => "EventHeader",
            Self::FixedHeader => "FixedEventHeader",
            Self::EventType => "EventType",
        }
    }

    /// Returns the repository id of the struct.
    pub(crate) const fn id(self) -> &'static str {
        match self {
            Self::Event => "IDL:omg.org/CosNotification/StructuredEvent:1.0",
            Self::Header => "IDL:omg.org/CosNotification/EventHeader:1.0",
            Self::FixedHeader => "IDL:omg.org/CosNotification/FixedEventHeader:1.0",
            Self::EventType => "IDL:omg.org/CosNotification/EventType:1.0",
        }
    }

    fn members(self) -> &'static [(&'static str, Place)] {
        match self {
            Self::Event => &[
                ("header", Place::Struct(Self::Header)),
                ("filterable_data", Place::List(List::FilterableData)),
                ("remainder_of_body", Place::Remainder),
            ],
            Self::Header => &[
                ("fixed_header", Place::Struct(Self::FixedHeader)),
                ("variable_header", Place::List(List::VariableHeader)),
            ],
            Self::FixedHeader => &[
                ("event_type", Place::Struct(Self::EventType)),
                ("event_name", Place::EventName),
            ],
            Self::EventType => &[
                ("domain_name", Place::DomainName),
                ("type_name", Place::TypeName),
            ],
        }
    }

    /// Returns the part that a member is.
    fn member(self, step: &Step) -> Option<Place> {
        let found = match step {
            Step::Member(name) => self.members().iter().find(|(its, _)| *its == &**name),
            Step::Position(at) => self.members().get(usize::try_from(*at).ok()?),
            _ => None,
        };
        found.map(|(_, place)| place.clone())
    }
}

impl Place {
    /// Returns the part of a structured event that a path begins with, and the number of its steps that lead there.
    pub(super) fn of(root: &Root, steps: &[Step]) -> (Self, usize) {
        let mut place = Self::of_root(root);
        for (taken, step) in steps.iter().enumerate() {
            match place.next(step) {
                Some(next) => place = next,
                None => return (place, taken),
            }
        }
        (place, steps.len())
    }

    fn of_root(root: &Root) -> Self {
        let name = match root {
            Root::Event => return Self::Struct(Part::Event),
            Root::CurrentTime => return Self::CurrentTime,
            Root::Variable(name) => name,
        };
        match &**name {
            "domain_name" => Self::DomainName,
            "type_name" => Self::TypeName,
            "event_name" => Self::EventName,
            _ => {
                let member = Part::Event.member(&Step::Member(name.clone()));
                member.unwrap_or_else(|| Self::AnyProperty(name.clone()))
            }
        }
    }

    /// Returns the part that a step leads to; `None` if the step is one within an Any, or asks for a property of this
    /// part.
    fn next(&self, step: &Step) -> Option<Self> {
        match (self, step) {
            (_, Step::TypeId | Step::ReposId | Step::Length) => None,
            (Self::Struct(part), _) => Some(part.member(step).unwrap_or_else(|| part.body(step))),
            (Self::List(list), Step::Named(name)) => Some(Self::Property(*list, name.clone())),
            (Self::List(list), Step::Element(at)) => Some(Self::Entry(*list, *at)),
            (Self::Entry(list, at), _) => Some(entry(*list, *at, step)),
            (Self::List(_) | Self::DomainName | Self::TypeName | Self::EventName, _)
            | (Self::EntryName(..), _) => Some(Self::Nothing),
            _ => None,
        }
    }
}

impl Part {
    /// Returns what a name means that is no member: in the event itself, a property.
    fn body(self, step: &Step) -> Place {
        match (self, step) {
            (Self::Event, Step::Member(name) | Step::Named(name)) => Place::Body(name.clone()),
            _ => Place::Nothing,
        }
    }
}

fn entry(list: List, at: u32, step: &Step) -> Place {
    match step {
        Step::Member(name) if &**name == "name" => Place::EntryName(list, at),
        Step::Member(name) if &**name == "value" => Place::EntryValue(list, at),
        Step::Position(0) => Place::EntryName(list, at),
        Step::Position(1) => Place::EntryValue(list, at),
        _ => Place::Nothing,
    }
}
