//! Parts of an event that paths lead to.

use std::borrow::Cow;

use punctual_any::{Cursor, TypeKind};

use super::failure::Failure;
use super::found::Found;
use super::operand::{Operand, UTC, cursor_in};
use super::steps::Steps;
use super::variable::of_unstructured;
use super::walk::walk;
use crate::budget::Budget;
use crate::event::{Event, FieldValue, List};
use crate::program::{Part, Path, Place, Step};

/// Reads the value at a path, however many steps it takes: in time proportional to the event.
pub(crate) fn read<'e>(event: &'e dyn Event, path: &'e Path) -> Result<Operand<'e>, Failure> {
    let mut steps = Steps::new(Budget::new(u32::MAX));
    load(event, path, &mut steps)
}

/// Reads the value that a path leads to.
pub(super) fn load<'e>(
    event: &'e dyn Event,
    path: &'e Path,
    steps: &mut Steps,
) -> Result<Operand<'e>, Failure> {
    if !path.rest().is_empty() || path.place == Place::CurrentTime || event.root().is_some() {
        return reach(event, path, steps)?.operand(steps);
    }
    steps.take(1)?;
    match text_at(event, &path.place) {
        Some(text) => Ok(Operand::Text(Cow::Borrowed(text))),
        None => match field_at(event, &path.place, steps)? {
            Some(FieldValue::Any(any)) => Operand::of_any(any, steps),
            Some(FieldValue::Within(event, offset)) => Operand::within(event, offset, steps),
            None => reach(event, path, steps)?.operand(steps),
        },
    }
}

/// Returns the part of an event that a path leads to.
pub(super) fn reach<'e>(
    event: &'e dyn Event,
    path: &'e Path,
    steps: &mut Steps,
) -> Result<Found<'e>, Failure> {
    steps.take(1)?;
    if path.place == Place::CurrentTime {
        return time(event, path.rest());
    }
    match event.root() {
        Some(root) => of_unstructured(root, path, steps),
        None => of_structured(event, path, steps),
    }
}

/// Returns the time of the evaluation, a `TimeBase::UtcT` of which only the time is known.
fn time<'e>(event: &'e dyn Event, rest: &[Step]) -> Result<Found<'e>, Failure> {
    let time = event.current_time().ok_or(Failure::Absent)?;
    match rest {
        [] | [Step::Position(0)] => Ok(Found::Value(Operand::Integer(time.into()))),
        [Step::Member(name)] if &**name == "time" => {
            Ok(Found::Value(Operand::Integer(time.into())))
        }
        [Step::TypeId] => Ok(Found::text("UtcT")),
        [Step::ReposId] => Ok(Found::text(UTC)),
        _ => Err(Failure::Absent),
    }
}

fn of_structured<'e>(
    event: &'e dyn Event,
    path: &'e Path,
    steps: &mut Steps,
) -> Result<Found<'e>, Failure> {
    if let Some(value) = field_at(event, &path.place, steps)? {
        let cursor = match value {
            FieldValue::Any(any) => any.cursor()?,
            FieldValue::Within(event, offset) => cursor_in(event, offset, steps)?,
        };
        return walk(cursor, path.rest(), steps);
    }
    if path.rest().is_empty()
        && let Some(text) = text_at(event, &path.place)
    {
        return Ok(Found::text(text));
    }
    match (&path.place, path.rest()) {
        (Place::Struct(part), rest) => of_struct(*part, rest),
        (Place::List(list), rest) => of_list(event, *list, rest),
        (Place::Entry(list, at), rest) => {
            event
                .property_at(*list, *at as usize)
                .ok_or(Failure::Absent)?;
            of_type(rest, "Property", "IDL:omg.org/CosNotification/Property:1.0")
        }
        _ => Err(Failure::Absent),
    }
}

/// Returns the text at a place, if the place is one of text, and there.
fn text_at<'e>(event: &'e dyn Event, place: &Place) -> Option<&'e str> {
    match place {
        Place::DomainName => Some(event.domain_name()),
        Place::TypeName => Some(event.type_name()),
        Place::EventName => Some(event.event_name()),
        Place::EntryName(list, at) => {
            let entry = event.property_at(*list, *at as usize);
            entry.map(|(name, _)| name)
        }
        _ => None,
    }
}

/// Returns the value at a place, if the place is one of an Any.
fn field_at<'e>(
    event: &'e dyn Event,
    place: &Place,
    steps: &mut Steps,
) -> Result<Option<FieldValue<'e>>, Failure> {
    let mut named = |list, name: &str| {
        steps.take(event.property_count(list) / 8)?;
        Ok::<_, Failure>(event.property(list, name))
    };
    let found = match place {
        Place::Property(list, name) => named(*list, name)?,
        Place::AnyProperty(name) => match named(List::VariableHeader, name)? {
            None => named(List::FilterableData, name)?,
            found => found,
        },
        Place::Body(name) => match named(List::FilterableData, name)? {
            None => named(List::VariableHeader, name)?,
            found => found,
        },
        Place::EntryValue(list, at) => event
            .property_at(*list, *at as usize)
            .map(|(_, value)| value),
        Place::Remainder => event.remainder_of_body(),
        _ => return Ok(None),
    };
    found.map(Some).ok_or(Failure::Absent)
}

fn of_struct<'e>(part: Part, rest: &[Step]) -> Result<Found<'e>, Failure> {
    of_type(rest, part.name(), part.id())
}

fn of_list<'e>(event: &dyn Event, list: List, rest: &[Step]) -> Result<Found<'e>, Failure> {
    let (name, id) = match list {
        List::VariableHeader => (
            "OptionalHeaderFields",
            "IDL:omg.org/CosNotification/OptionalHeaderFields:1.0",
        ),
        List::FilterableData => (
            "FilterableEventBody",
            "IDL:omg.org/CosNotification/FilterableEventBody:1.0",
        ),
    };
    match rest {
        [Step::Length] => {
            let count = i128::try_from(event.property_count(list)).unwrap_or(i128::MAX);
            Ok(Found::Value(Operand::Integer(count)))
        }
        _ => of_type(rest, name, id),
    }
}

/// Returns what a step means that asks for the type of a part of a structured event.
fn of_type<'e>(rest: &[Step], name: &'static str, id: &'static str) -> Result<Found<'e>, Failure> {
    match rest {
        [] => Ok(Found::Whole),
        [Step::TypeId] => Ok(Found::text(name)),
        [Step::ReposId] => Ok(Found::text(id)),
        _ => Err(Failure::Absent),
    }
}

/// Returns whether the default member of a union is selected.
pub(super) fn is_default(cursor: &Cursor<'_>) -> Result<bool, Failure> {
    if cursor.kind() != TypeKind::Union {
        return Err(Failure::Absent);
    }
    let default = cursor.type_code().default_index().unwrap_or(None);
    let chosen = cursor.chosen()?.and_then(|(_, member)| member);
    Ok(chosen.is_some() && chosen == default)
}
