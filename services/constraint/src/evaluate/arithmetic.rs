//! Arithmetic.

use super::failure::Failure;
use super::operand::{Number, Operand};
use crate::program::Arithmetic;

impl Arithmetic {
    /// Computes with two numbers: exactly with integers, whose quotient is cut to a whole number, otherwise as doubles.
    pub(super) fn of<'e>(
        self,
        left: &Operand<'_>,
        right: &Operand<'_>,
    ) -> Result<Operand<'e>, Failure> {
        match left.number().zip(right.number()).ok_or(Failure::Type)? {
            (Number::Integer(left), Number::Integer(right)) => self.of_integers(left, right),
            (left, right) => self.of_reals(left.real(), right.real()),
        }
    }

    fn of_integers<'e>(self, left: i128, right: i128) -> Result<Operand<'e>, Failure> {
        let result = match self {
            Self::Add => left.checked_add(right),
            Self::Subtract => left.checked_sub(right),
            Self::Multiply => left.checked_mul(right),
            Self::Divide if right == 0 => return Err(Failure::DivisionByZero),
            Self::Divide => left.checked_div(right),
        };
        result.map(Operand::Integer).ok_or(Failure::Overflow)
    }

    fn of_reals<'e>(self, left: f64, right: f64) -> Result<Operand<'e>, Failure> {
        Ok(Operand::Real(match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide if right == 0.0 => return Err(Failure::DivisionByZero),
            Self::Divide => left / right,
        }))
    }
}

/// Returns a number with the other sign.
pub(super) fn negate<'e>(operand: &Operand<'_>) -> Result<Operand<'e>, Failure> {
    Ok(match operand.number().ok_or(Failure::Type)? {
        Number::Integer(number) => Operand::Integer(number.checked_neg().ok_or(Failure::Overflow)?),
        Number::Real(number) => Operand::Real(-number),
    })
}

/// Checks that an operand is a number.
pub(super) fn affirm(operand: &Operand<'_>) -> Result<(), Failure> {
    operand.number().map(drop).ok_or(Failure::Type)
}
