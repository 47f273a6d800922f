//! Steps into encoded values.

use std::borrow::Cow;

use punctual_any::{Cursor, Scalar, TypeCode, TypeKind};

use super::failure::Failure;
use super::found::Found;
use super::operand::{Operand, enter_anys};
use super::steps::Steps;
use crate::program::Step;

/// Returns the part of a value that steps lead to.
pub(super) fn walk<'e>(
    mut cursor: Cursor<'e>,
    path: &[Step],
    steps: &mut Steps,
) -> Result<Found<'e>, Failure> {
    for step in path {
        enter_anys(&mut cursor, steps)?;
        match step {
            Step::Length => return length(cursor),
            Step::TypeId => return type_text(&cursor, TypeCode::name),
            Step::ReposId => return type_text(&cursor, TypeCode::id),
            _ => {}
        }
        let before = cursor.remaining();
        if !enter(&mut cursor, step, steps)? {
            return Err(Failure::Absent);
        }
        steps.take_bytes(before.saturating_sub(cursor.remaining()))?;
    }
    Ok(Found::At(cursor))
}

/// Moves to a part; returns whether it is there.
fn enter(cursor: &mut Cursor<'_>, step: &Step, steps: &mut Steps) -> Result<bool, Failure> {
    match step {
        Step::Member(name) => enter_member(cursor, name, steps),
        Step::Position(_) if cursor.kind() == TypeKind::Union => Ok(false),
        Step::Position(at) => {
            steps.take(*at as usize)?;
            Ok(cursor.enter_member(*at as usize)?)
        }
        Step::Element(at) => {
            steps.take(*at as usize / 8)?;
            enter_element(cursor, *at as usize)
        }
        Step::Named(name) => enter_value_of(cursor, name, steps),
        Step::Union(number) => enter_chosen(cursor, |chosen, _| chosen == *number),
        Step::UnionNamed(name) => enter_union_named(cursor, name),
        Step::UnionDefault => {
            let default = cursor.type_code().default_index().unwrap_or(None);
            enter_chosen(cursor, |_, member| default == Some(member))
        }
        Step::Discriminator => Ok(cursor.enter_discriminator()?),
        Step::Length | Step::TypeId | Step::ReposId => Ok(false),
    }
}

/// Moves to the member with this name.
pub(super) fn enter_member(
    cursor: &mut Cursor<'_>,
    name: &str,
    steps: &mut Steps,
) -> Result<bool, Failure> {
    steps.take(cursor.member_count() / 4)?;
    if cursor.kind() == TypeKind::Union {
        return enter_chosen_named(cursor, name);
    }
    match cursor.member_named(name) {
        Some(at) => Ok(cursor.enter_member(at)?),
        None => Ok(false),
    }
}

/// Moves to the selected member of a union if it has this name. Several members may have it.
fn enter_chosen_named(cursor: &mut Cursor<'_>, name: &str) -> Result<bool, Failure> {
    let its = cursor.type_code();
    enter_chosen(cursor, |_, member| its.member_name(member) == Ok(name))
}

/// Moves to the selected member of a union if `is_wanted` accepts its discriminator and index.
fn enter_chosen(
    cursor: &mut Cursor<'_>,
    is_wanted: impl Fn(i128, usize) -> bool,
) -> Result<bool, Failure> {
    match cursor.chosen()? {
        Some((number, Some(member))) if is_wanted(number, member) => {
            Ok(cursor.enter_member(member)?)
        }
        _ => Ok(false),
    }
}

/// Moves to the selected member of a union if it has this name, or its discriminator this label or character.
fn enter_union_named(cursor: &mut Cursor<'_>, name: &str) -> Result<bool, Failure> {
    let mut discriminator = cursor.clone();
    if !discriminator.enter_discriminator()? {
        return Ok(false);
    }
    let is_label = match discriminator.scalar()? {
        Some(Scalar::Enumerator(number)) => {
            discriminator.type_code().member_name(number as usize) == Ok(name)
        }
        Some(Scalar::Character(one)) => name.chars().eq([one]),
        _ => false,
    };
    match is_label {
        true => enter_chosen(cursor, |_, _| true),
        false => enter_chosen_named(cursor, name),
    }
}

fn enter_element(cursor: &mut Cursor<'_>, at: usize) -> Result<bool, Failure> {
    match cursor.enter_elements()? {
        Some(length) if at < length => {
            cursor.pass(at)?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Moves to the value of the first entry with this name: the second member of a struct whose first one is text.
pub(super) fn enter_value_of(
    cursor: &mut Cursor<'_>,
    name: &str,
    steps: &mut Steps,
) -> Result<bool, Failure> {
    let Some(length) = cursor.enter_elements()? else {
        return Ok(false);
    };
    if cursor.kind() != TypeKind::Struct || cursor.member_count() != 2 {
        return Ok(false);
    }
    for _ in 0..length {
        let before = cursor.remaining();
        let mut entry = cursor.clone();
        entry.enter_member(0)?;
        match entry.scalar()? {
            Some(Scalar::Text(its)) if its == name => return Ok(cursor.enter_member(1)?),
            Some(Scalar::Text(_)) => cursor.pass(1)?,
            _ => return Ok(false),
        }
        steps.take_bytes(before.saturating_sub(cursor.remaining()))?;
    }
    Ok(false)
}

fn length(mut cursor: Cursor<'_>) -> Result<Found<'_>, Failure> {
    let length = cursor.enter_elements()?.ok_or(Failure::Absent)?;
    let length = i128::try_from(length).unwrap_or(i128::MAX);
    Ok(Found::Value(Operand::Integer(length)))
}

/// Returns a text of the value's type; borrowed if the type is that of the whole event.
fn type_text<'e, E>(
    cursor: &Cursor<'e>,
    text: impl Fn(&TypeCode) -> Result<&str, E>,
) -> Result<Found<'e>, Failure> {
    let found = match cursor.declared_type() {
        Cow::Borrowed(its) => text(its).ok().map(Cow::Borrowed),
        Cow::Owned(its) => text(&its).ok().map(|text| Cow::Owned(text.to_owned())),
    };
    let text = found
        .filter(|text| !text.is_empty())
        .ok_or(Failure::Absent)?;
    Ok(Found::Value(Operand::Text(text)))
}
