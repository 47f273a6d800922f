//! The operator `in`.

use punctual_any::{Cursor, TypeKind};

use super::compare::equal;
use super::failure::Failure;
use super::operand::Operand;
use super::steps::Steps;

/// Returns whether an element of a sequence or array is equal to a value. Elements of other types are not.
pub(super) fn is_in(
    value: &Operand<'_>,
    mut list: Cursor<'_>,
    steps: &mut Steps,
) -> Result<bool, Failure> {
    let length = list.enter_elements()?.ok_or(Failure::Absent)?;
    for _ in 0..length {
        let element = element(&mut list, steps)?;
        match equal(value, &element, steps) {
            Ok(true) => return Ok(true),
            Ok(false) | Err(Failure::Type) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(false)
}

/// Reads the element at a cursor, which moves to the next one.
fn element<'e>(list: &mut Cursor<'e>, steps: &mut Steps) -> Result<Operand<'e>, Failure> {
    if !matches!(list.kind(), TypeKind::Any | TypeKind::Struct) {
        return Operand::read(list, steps);
    }
    let mut here = list.clone();
    list.pass(1)?;
    Operand::read(&mut here, steps)
}
