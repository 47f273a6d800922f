//! Parts of events that have been found.

use std::borrow::Cow;

use punctual_any::Cursor;

use super::failure::Failure;
use super::operand::{Operand, enter_anys};
use super::steps::Steps;

/// Part of an event.
pub(crate) enum Found<'e> {
    /// Value without a cursor of its own.
    Value(Operand<'e>),
    /// Value in an Any.
    At(Cursor<'e>),
    /// Struct of a structured event, a list of its properties, or an entry of one: no value, but there.
    Whole,
}

impl<'e> Found<'e> {
    pub(super) fn text(text: &'e str) -> Self {
        Self::Value(Operand::Text(Cow::Borrowed(text)))
    }

    /// Reads the value.
    pub(super) fn operand(self, steps: &mut Steps) -> Result<Operand<'e>, Failure> {
        match self {
            Self::Value(operand) => Ok(operand),
            Self::At(mut cursor) => Operand::read(&mut cursor, steps),
            Self::Whole => Err(Failure::Type),
        }
    }

    /// Returns the cursor at the value, which is in no Any.
    pub(super) fn cursor(self, steps: &mut Steps) -> Result<Cursor<'e>, Failure> {
        match self {
            Self::At(mut cursor) => {
                enter_anys(&mut cursor, steps)?;
                Ok(cursor)
            }
            _ => Err(Failure::Absent),
        }
    }
}
