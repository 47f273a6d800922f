//! Values by their TypeCodes: passing over them, writing them as another encoding has them, taking them apart.
//!
//! All of it goes by what the octets say, a peer's word, and obeys the decoder's limits. Composed values nest
//! to the limit on nesting, also where their types do not recur: a type may be chained as long as a message
//! allows.

mod discriminator;
mod exception;
mod read;
mod skip;
mod transcode;
mod write;

pub(crate) use exception::{marshal_id, pass_id};
pub(crate) use read::{Fate, read, read_each};
pub(crate) use skip::skip;
pub(crate) use transcode::{members, transcode};
pub(crate) use write::{write, write_without_id};

use punctual_cdr::{CdrError, Decoder};

/// The place within 8 octets at which the next value begins.
pub(crate) fn phase(input: &Decoder<'_>) -> usize {
    input.padding(8).wrapping_neg() & 7
}

/// Refuses more than the bound of a type, 0 for none, allows.
fn check_bound(length: usize, bound: u32) -> Result<(), CdrError> {
    if bound == 0 {
        return Ok(());
    }
    punctual_cdr::check_bound(length, bound)
}

/// Values that a message has none of.
fn no_such_value() -> CdrError {
    CdrError::BadTypeCode("values of this type do not travel")
}
