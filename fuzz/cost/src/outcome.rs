//! How reading an input ends.

use punctual_cdr::{CdrError, Decoder};
use std::fmt::Display;

/// What became of an input: it was read to its end, or not.
pub type Outcome = Result<(), Refusal>;

/// Where and why reading ended before the input did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// How many octets had been read.
    pub at: usize,
    /// The decoder's error.
    pub why: String,
}

/// How reading a shape is to end.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// With the last octet.
    Whole,
    /// With an error, since a limit or a rule wants that.
    Refused {
        /// What the error says, or a part of it.
        why: &'static str,
        /// How many octets are read before, of so many.
        at: fn(usize) -> usize,
    },
}

impl End {
    /// Whether reading so many octets has ended like this.
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

/// Reads one thing after the other until nothing is left.
pub(crate) fn read_all<'m>(
    input: &mut Decoder<'m>,
    mut one: impl FnMut(&mut Decoder<'m>) -> Result<(), CdrError>,
) -> Outcome {
    while input.remaining() > 0 {
        one(input).map_err(|error| Refusal::new(input.position(), error))?;
    }
    Ok(())
}

/// Reads one thing that takes all there is.
pub(crate) fn read_one<'m>(
    mut input: Decoder<'m>,
    one: impl FnOnce(&mut Decoder<'m>) -> Result<(), CdrError>,
) -> Outcome {
    one(&mut input).map_err(|error| Refusal::new(input.position(), error))?;
    read_whole(&input)
}

/// Nothing is left.
pub(crate) fn read_whole(input: &Decoder<'_>) -> Outcome {
    match input.remaining() {
        0 => Ok(()),
        left => {
            let why = format!("{left} octets are left over");
            Err(Refusal::new(input.position(), why))
        }
    }
}
