//! Operands.

use std::borrow::Cow;

use punctual_any::{Cursor, Scalar, TypeCode, TypeKind};
use punctual_cdr::Decimal;

use super::Failure;
use super::steps::Steps;
use crate::program::Literal;

/// Repository id of `TimeBase::UtcT`, a struct that counts as its time.
const UTC: &str = "IDL:omg.org/TimeBase/UtcT:1.0";

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
    pub(super) fn of(literal: &'e Literal) -> Self {
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
            Some(scalar) => Self::of_scalar(scalar, cursor),
            None => Self::of_time(cursor)?,
        };
        steps.take_bytes(before.saturating_sub(cursor.remaining()))?;
        Ok(value)
    }

    fn of_scalar(scalar: Scalar<'e>, cursor: &Cursor<'e>) -> Self {
        match scalar {
            Scalar::Boolean(value) => Self::Boolean(value),
            Scalar::Integer(number) => Self::Integer(number),
            Scalar::Real(number) => Self::Real(number),
            Scalar::Fixed(number) => Self::of_fixed(number),
            Scalar::Character(character) => Self::Character(character),
            Scalar::Text(text) => Self::Text(text),
            Scalar::Enumerator(number) => Self::Enumerator(cursor.type_code(), number),
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

    pub(super) fn boolean(&self) -> Result<bool, Failure> {
        match self {
            Self::Boolean(value) => Ok(*value),
            _ => Err(Failure::Type),
        }
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

/// Moves into the value of an Any, and of an Any within it.
pub(super) fn enter_anys(cursor: &mut Cursor<'_>, steps: &mut Steps) -> Result<(), Failure> {
    while cursor.kind() == TypeKind::Any {
        let before = cursor.remaining();
        cursor.enter_any()?;
        steps.take_bytes(before.saturating_sub(cursor.remaining()))?;
    }
    Ok(())
}
