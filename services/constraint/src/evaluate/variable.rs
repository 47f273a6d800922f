//! Paths into events that are a single Any.

use punctual_any::{Any, Cursor};

use super::failure::Failure;
use super::found::Found;
use super::operand::enter_anys;
use super::steps::Steps;
use super::walk::{enter_member, enter_value_of, walk};
use crate::program::{Path, Root};

/// Lists in which a variable is looked up, in this order, if the Any holds a structured event.
const LISTS: [&[&str]; 2] = [&["header", "variable_header"], &["filterable_data"]];

/// Members of a structured event that have names of their own as variables.
const FIXED: [&[&str]; 3] = [
    &["header", "fixed_header", "event_type", "domain_name"],
    &["header", "fixed_header", "event_type", "type_name"],
    &["header", "fixed_header", "event_name"],
];

/// Returns the part that a path leads to in an event that is a single Any.
pub(super) fn of_unstructured<'e>(
    root: &'e Any,
    path: &'e Path,
    steps: &mut Steps,
) -> Result<Found<'e>, Failure> {
    let mut cursor = root.cursor()?;
    if let Root::Variable(name) = &path.root {
        cursor = variable(cursor, name, steps)?;
    }
    walk(cursor, &path.steps, steps)
}

/// Returns the value of a variable: a member of a structured event's header, a property of it, or else the member of
/// this name (§2.4).
fn variable<'e>(
    mut cursor: Cursor<'e>,
    name: &str,
    steps: &mut Steps,
) -> Result<Cursor<'e>, Failure> {
    enter_anys(&mut cursor, steps)?;
    if cursor.member_named("header").is_some()
        && let Some(found) = of_structured_event(&cursor, name, steps)?
    {
        return Ok(found);
    }
    match enter_member(&mut cursor, name, steps)? {
        true => Ok(cursor),
        false => Err(Failure::Absent),
    }
}

fn of_structured_event<'e>(
    cursor: &Cursor<'e>,
    name: &str,
    steps: &mut Steps,
) -> Result<Option<Cursor<'e>>, Failure> {
    if let Some(fixed) = FIXED.iter().find(|path| path.last() == Some(&name)) {
        return follow(cursor, fixed, steps);
    }
    for list in LISTS {
        let Some(mut list) = follow(cursor, list, steps)? else {
            continue;
        };
        if enter_value_of(&mut list, name, steps)? {
            return Ok(Some(list));
        }
    }
    Ok(None)
}

/// Returns a cursor at a member of a member.
fn follow<'e>(
    cursor: &Cursor<'e>,
    names: &[&str],
    steps: &mut Steps,
) -> Result<Option<Cursor<'e>>, Failure> {
    let mut cursor = cursor.clone();
    for name in names {
        let before = cursor.remaining();
        if !enter_member(&mut cursor, name, steps)? {
            return Ok(None);
        }
        steps.take_bytes(before.saturating_sub(cursor.remaining()))?;
    }
    Ok(Some(cursor))
}
