//! Code sets of builds without the feature `code-sets`: ISO 646 alone, which needs no table.

use super::{Row, row};
use crate::error::CdrError;
use std::borrow::Cow;

/// Meaning of the bytes from 0x80 on in a code set: none.
pub(super) struct Octets;

/// Table of the code sets.
pub(super) static ROWS: [Row; 1] = [row("ISO 646", &[0x0001_0020], Octets)];

impl Octets {
    /// Refuses a text that is not ASCII alone.
    pub(super) fn encode<'t>(&self, _text: &'t str) -> Result<Cow<'t, [u8]>, CdrError> {
        Err(CdrError::CharacterNotInCodeSet)
    }

    /// Refuses a text that is not ASCII alone.
    pub(super) fn decode<'o>(&self, _octets: &'o [u8]) -> Option<Cow<'o, str>> {
        None
    }
}
