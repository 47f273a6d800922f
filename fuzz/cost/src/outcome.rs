//! Outcomes of reading an input.

use punctual_cdr::{CdrError, Decoder};
use std::fmt::Display;

/// Outcome of reading an input: read to its end, or refused.
pub type Outcome = Result<(), Refusal>;

/// Position and reason of an error that ended the reading before the end of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Number of input bytes read before the error.
    pub at: usize,
    /// Error message of the decoder.
    pub why: String,
}

/// Expected end of the reading of a shape's input.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// The decoder reads the input to its last byte.
    Whole,
    /// The input is refused with an error: a limit is exceeded, or a rule broken.
    Refused {
        /// Expected error message of the decoder, or a part of it.
        why: &'static str,
        /// Function that returns the expected number of bytes read before the error, given the
        /// input's length.
        at: fn(usize) -> usize,
    },
}

impl End {
    /// Returns whether the reading of an input of `received` bytes has ended as expected.
    #[must_use]
    pub fn is(self, received: usize, outcome: &Outcome) -> bool {
        match (self, outcome) {
            (Self::Whole, Ok(())) => true,
            (Self::Refused { why, at }, Err(refusal)) => {
                refusal.why.contains(why) && refusal.at == at(received)
            }
            _ => false,
        }
    }
}

impl Refusal {
    pub(crate) fn new(at: usize, why: impl Display) -> Self {
        let why = why.to_string();
        Self { at, why }
    }
}

/// Reads values one after the other until the input is used up.
pub(crate) fn read_all<'m>(
    input: &mut Decoder<'m>,
    mut one: impl FnMut(&mut Decoder<'m>) -> Result<(), CdrError>,
) -> Outcome {
    while input.remaining() > 0 {
        one(input).map_err(|error| Refusal::new(input.position(), error))?;
    }
    Ok(())
}

/// Reads one value, and checks that it takes the whole input.
pub(crate) fn read_one<'m>(
    mut input: Decoder<'m>,
    one: impl FnOnce(&mut Decoder<'m>) -> Result<(), CdrError>,
) -> Outcome {
    one(&mut input).map_err(|error| Refusal::new(input.position(), error))?;
    read_whole(&input)
}

/// Checks that the decoder has read its input completely.
pub(crate) fn read_whole(input: &Decoder<'_>) -> Outcome {
    match input.remaining() {
        0 => Ok(()),
        left => {
            let why = format!("{left} octets are left over");
            Err(Refusal::new(input.position(), why))
        }
    }
}
