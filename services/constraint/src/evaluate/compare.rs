//! Comparisons.

use std::cmp::Ordering;

use memchr::memmem;
use punctual_any::TypeCode;

use super::failure::Failure;
use super::operand::{Number, Operand};
use super::steps::Steps;
use crate::program::Comparison;

impl Comparison {
    /// Compares two operands. Numbers compare with numbers, booleans counting as 0 and 1; text and characters with one
    /// another, by the codes of their characters; enumerators with numbers, with enumerators of the same type, and by
    /// their labels with text.
    pub(super) fn of(
        self,
        left: &Operand<'_>,
        right: &Operand<'_>,
        steps: &mut Steps,
    ) -> Result<bool, Failure> {
        match self {
            Self::Equal => equal(left, right, steps),
            Self::Unequal => equal(left, right, steps).map(|is_equal| !is_equal),
            _ => Ok(order(left, right, steps)?.is_some_and(|order| self.holds_for(order))),
        }
    }

    const fn holds_for(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// Returns whether two operands are equal.
pub(super) fn equal(
    left: &Operand<'_>,
    right: &Operand<'_>,
    steps: &mut Steps,
) -> Result<bool, Failure> {
    let ((its, number), label) = match (left, right) {
        (Operand::Enumerator(its, number), label) | (label, Operand::Enumerator(its, number)) => {
            ((its, *number), label)
        }
        _ => return Ok(order(left, right, steps)?.is_some_and(Ordering::is_eq)),
    };
    match plain_text(label, &mut [0; 4]) {
        Some(label) => {
            steps.take_bytes(label.len())?;
            Ok(its.member_name(number as usize) == Ok(label))
        }
        None => Ok(order(left, right, steps)?.is_some_and(Ordering::is_eq)),
    }
}

/// Orders two operands; `None` where neither is less and they are not equal: NaN, and a label that an enum lacks.
fn order(
    left: &Operand<'_>,
    right: &Operand<'_>,
    steps: &mut Steps,
) -> Result<Option<Ordering>, Failure> {
    let (mut one, mut other) = ([0; 4], [0; 4]);
    let texts = (plain_text(left, &mut one), plain_text(right, &mut other));
    match (left, right, texts) {
        (.., (Some(left), Some(right))) => {
            steps.take_bytes(left.len().min(right.len()))?;
            Ok(Some(left.cmp(right)))
        }
        (Operand::Enumerator(its, number), _, (_, Some(label))) => {
            Ok(place(its, label, steps)?.map(|other| number.cmp(&other)))
        }
        (_, Operand::Enumerator(its, number), (Some(label), _)) => {
            Ok(place(its, label, steps)?.map(|other| other.cmp(number)))
        }
        (Operand::Enumerator(its, left), Operand::Enumerator(other, right), _) => {
            order_enumerators((its, *left), (other, *right), steps)
        }
        _ => order_numbers(left, right),
    }
}

/// Returns the text of a string or character.
fn plain_text<'o>(operand: &'o Operand<'_>, buffer: &'o mut [u8; 4]) -> Option<&'o str> {
    match operand {
        Operand::Enumerator(..) => None,
        operand => operand.text(buffer),
    }
}

/// Returns the number of the enumerator with this label.
fn place(its: &TypeCode, label: &str, steps: &mut Steps) -> Result<Option<u32>, Failure> {
    steps.take(its.member_count().unwrap_or(0))?;
    Ok(its
        .member_index(label)
        .and_then(|at| u32::try_from(at).ok()))
}

fn order_enumerators(
    left: (&TypeCode, u32),
    right: (&TypeCode, u32),
    steps: &mut Steps,
) -> Result<Option<Ordering>, Failure> {
    steps.take(left.0.member_count().unwrap_or(0))?;
    match left.0.equivalent(right.0) {
        true => Ok(Some(left.1.cmp(&right.1))),
        false => Err(Failure::Type),
    }
}

fn order_numbers(left: &Operand<'_>, right: &Operand<'_>) -> Result<Option<Ordering>, Failure> {
    let numbers = left.number().zip(right.number());
    Ok(match numbers.ok_or(Failure::Type)? {
        (Number::Integer(left), Number::Integer(right)) => Some(left.cmp(&right)),
        (left, right) => left.real().partial_cmp(&right.real()),
    })
}

/// Returns whether the left text is part of the right one. In time in proportion to both.
pub(super) fn contains(
    left: &Operand<'_>,
    right: &Operand<'_>,
    steps: &mut Steps,
) -> Result<bool, Failure> {
    let (mut one, mut other) = ([0; 4], [0; 4]);
    let texts = left.text(&mut one).zip(right.text(&mut other));
    let (part, whole) = texts.ok_or(Failure::Type)?;
    steps.take_bytes(part.len() + whole.len())?;
    Ok(memmem::find(whole.as_bytes(), part.as_bytes()).is_some())
}
