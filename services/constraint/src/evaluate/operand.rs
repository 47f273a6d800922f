//! Operands.

use std::borrow::Cow;

use punctual_any::{Any, Cursor, Scalar, TypeCode, TypeKind};
use punctual_cdr::Decimal;

use super::failure::Failure;
use super::steps::Steps;
use crate::program::Literal;

/// Repository id of `TimeBase::UtcT`, a struct that counts as its time.
pub(super) const UTC: &str = "IDL:omg.org/TimeBase/UtcT:1.0";

/// Value that operators take.
#[derive(Clone, Debug)]
pub(crate) enum Operand<'e> {
    Boolean(bool),
    Integer(i128),
    Real(f64),
    Character(char),
    Text(Cow<'e, str>),
    /// Enumerator: its type, and its number.
    Enumerator(Cow<'e, TypeCode>, u32),
}

impl<'e> Operand<'e> {
    pub(crate) fn of(literal: &'e Literal) -> Self {
        match literal {
            Literal::Boolean(value) => Self::Boolean(*value),
            Literal::Integer(number) => Self::Integer(*number),
            Literal::Real(number) => Self::Real(*number),
            Literal::Text(text) => Self::Text(Cow::Borrowed(text)),
        }
    }

    /// Reads the value at a cursor, which moves behind it.
    pub(super) fn read(cursor: &mut Cursor<'e>, steps: &mut Steps) -> Result<Self, Failure> {
        enter_anys(cursor, steps)?;
        let before = cursor.remaining();
        let value = match cursor.scalar()? {
            Some(scalar) => Self::of_scalar(scalar, || cursor.type_code()),
            None => Self::of_time(cursor)?,
        };
        steps.take_bytes(before.saturating_sub(cursor.remaining()))?;
        Ok(value)
    }

    /// Reads the value of an Any.
    pub(super) fn of_any(any: &'e Any, steps: &mut Steps) -> Result<Self, Failure> {
        let Some(scalar) = any.scalar()? else {
            return Self::read(&mut any.cursor()?, steps);
        };
        Self::of_scalar(scalar, || resolved(any.type_code())).counted(steps)
    }

    /// Reads the value of an Any that stands in an encoded event, in as many steps as that of any other, and those for its type.
    pub(super) fn within(
        event: &'e Any,
        offset: usize,
        steps: &mut Steps,
    ) -> Result<Self, Failure> {
        match event.scalar_in(offset)? {
            Some((scalar, its, of_type)) => {
                steps.take_type(of_type)?;
                let its = || Cow::Owned(its.original_type());
                Self::of_scalar(scalar, its).counted(steps)
            }
            None => Self::read(&mut cursor_in(event, offset, steps)?, steps),
        }
    }

    /// Counts the bytes of text.
    fn counted(self, steps: &mut Steps) -> Result<Self, Failure> {
        if let Self::Text(text) = &self {
            steps.take_bytes(text.len())?;
        }
        Ok(self)
    }

    fn of_scalar(scalar: Scalar<'e>, its: impl FnOnce() -> Cow<'e, TypeCode>) -> Self {
        match scalar {
            Scalar::Boolean(value) => Self::Boolean(value),
            Scalar::Integer(number) => Self::Integer(number),
            Scalar::Real(number) => Self::Real(number),
            Scalar::Fixed(number) => Self::of_fixed(number),
            Scalar::Character(character) => Self::Character(character),
            Scalar::Text(text) => Self::Text(text),
            Scalar::Enumerator(number) => Self::Enumerator(its(), number),
        }
    }

    /// Converts a fixed-point number: to an integer if it is whole, otherwise to the double next to it.
    fn of_fixed(number: Decimal) -> Self {
        let (scaled, scale) = (number.scaled(), i32::from(number.scale()));
        let power = 10i128
            .checked_pow(scale.unsigned_abs())
            .unwrap_or(i128::MAX);
        match scale {
            ..=0 if scaled.checked_mul(power).is_some() => Self::Integer(scaled * power),
            1.. if scaled % power == 0 => Self::Integer(scaled / power),
            _ => Self::Real(real(scaled) / 10f64.powi(scale)),
        }
    }

    /// Reads the time of a `TimeBase::UtcT`.
    fn of_time(cursor: &mut Cursor<'e>) -> Result<Self, Failure> {
        let is_time = cursor.kind() == TypeKind::Struct && cursor.type_code().id() == Ok(UTC);
        if !is_time || !cursor.enter_member(0)? {
            return Err(Failure::Type);
        }
        match cursor.scalar()? {
            Some(Scalar::Integer(time)) => Ok(Self::Integer(time)),
            _ => Err(Failure::Type),
        }
    }

    /// Returns the number that the operand stands for, if it does.
    pub(super) fn number(&self) -> Option<Number> {
        match self {
            Self::Boolean(value) => Some(Number::Integer((*value).into())),
            Self::Integer(number) => Some(Number::Integer(*number)),
            Self::Real(number) => Some(Number::Real(*number)),
            Self::Enumerator(_, number) => Some(Number::Integer((*number).into())),
            Self::Character(_) | Self::Text(_) => None,
        }
    }

    /// Returns the bits of the double that the operand is equal to or next to, if it stands for a number.
    pub(crate) fn bits(&self) -> Option<u64> {
        let number = self.number()?.real();
        // Both zeroes are equal.
        (!number.is_nan()).then(|| (number + 0.0).to_bits())
    }

    /// Returns the text of the operand, if it has one: that of a character is itself, that of an enumerator its label.
    pub(crate) fn text<'o>(&'o self, buffer: &'o mut [u8; 4]) -> Option<&'o str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Character(one) => Some(one.encode_utf8(buffer)),
            Self::Enumerator(its, number) => its.member_name(*number as usize).ok(),
            Self::Boolean(_) | Self::Integer(_) | Self::Real(_) => None,
        }
    }

    pub(super) fn boolean(&self) -> Result<bool, Failure> {
        match self {
            Self::Boolean(value) => Ok(*value),
            _ => Err(Failure::Type),
        }
    }
}

/// Returns a type without the aliases around it.
fn resolved(its: &TypeCode) -> Cow<'_, TypeCode> {
    match its.kind() {
        TypeKind::Alias => Cow::Owned(its.original_type()),
        _ => Cow::Borrowed(its),
    }
}

/// Number of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i128),
    Real(f64),
}

impl Number {
    pub(super) fn real(self) -> f64 {
        match self {
            Self::Integer(number) => real(number),
            Self::Real(number) => number,
        }
    }
}

/// Returns the double next to an integer.
#[expect(
    clippy::cast_precision_loss,
    reason = "integers meet doubles as doubles"
)]
const fn real(number: i128) -> f64 {
    number as f64
}

/// Returns a cursor at the value of an Any that stands in an encoded event.
pub(super) fn cursor_in<'e>(
    event: &'e Any,
    offset: usize,
    steps: &mut Steps,
) -> Result<Cursor<'e>, Failure> {
    let cursor = event.cursor_in(offset)?;
    let before = event.encoding().len().saturating_sub(offset);
    steps.take_type(before.saturating_sub(cursor.remaining()))?;
    Ok(cursor)
}

/// Moves into the value of an Any, and of an Any within it.
pub(super) fn enter_anys(cursor: &mut Cursor<'_>, steps: &mut Steps) -> Result<(), Failure> {
    while cursor.kind() == TypeKind::Any {
        let before = cursor.remaining();
        cursor.enter_any()?;
        steps.take(1)?;
        steps.take_type(before.saturating_sub(cursor.remaining()))?;
    }
    Ok(())
}
