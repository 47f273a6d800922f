//! Traversal of values by their TypeCodes: skipping, transcoding and decoding.
//!
//! Everything depends on the bytes of a peer, and obeys the decoder's limits. Composed values nest
//! to the limit on nesting, also where their types are not recursive: a type may be chained as long
//! as a message allows.

pub(crate) mod discriminator;
mod exception;
pub(crate) mod leaf;
mod read;
mod skip;
mod transcode;
mod write;

pub(crate) use exception::{marshal_id, pass_id};
pub(crate) use read::{ElementUse, read, read_each};
pub(crate) use skip::{Skipped, skip, skip_any, skip_run};
pub(crate) use transcode::{members, transcode};
pub(crate) use write::{write, write_without_id};

use punctual_cdr::{CdrError, Decoder};

use crate::type_code::{Index, Shapes};

/// Returns the offset modulo 8 at which the next value begins.
pub(crate) fn phase(input: &Decoder<'_>) -> usize {
    input.padding(8).wrapping_neg() & 7
}

/// Refuses a length beyond the bound of a type; 0 means no bound.
pub(crate) fn check_bound(length: usize, bound: u32) -> Result<(), CdrError> {
    if bound == 0 {
        return Ok(());
    }
    punctual_cdr::check_bound(length, bound)
}

/// Reads the length of a sequence, which has no more elements than its bound and the bytes left permit.
pub(crate) fn sequence_length(
    types: Shapes<'_>,
    element: Index,
    bound: u32,
    input: &mut Decoder<'_>,
) -> Result<usize, CdrError> {
    let least = types.shape(element).min_size;
    let length = input.get_length(usize::try_from(least).unwrap_or(usize::MAX))?;
    check_bound(length, bound)?;
    Ok(length)
}

/// Makes the error for types that have no values in messages.
fn no_such_value() -> CdrError {
    CdrError::BadTypeCode("values of this type cannot be marshaled")
}
