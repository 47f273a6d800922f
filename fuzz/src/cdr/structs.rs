//! Structs of plain data: sequences of them may have the same layout on the wire as in memory.

use super::{again, sequences};
use crate::generated::all_types::{Line, Pair, Point, Uneven};
use punctual_cdr::{CdrError, Decoder, Unmarshal};

/// Reads sequences of structs; `kind` selects the struct and the way of reading.
pub(super) fn read(kind: u8, input: &mut Decoder<'_>) -> Result<(), CdrError> {
    match kind % 8 {
        0 => again::<Vec<Point>>(input),
        1 => again::<Vec<Pair>>(input).and_then(|()| again::<Vec<Uneven>>(input)),
        2 => again::<[Point; 3]>(input).and_then(|()| again::<Line>(input)),
        3 => sequences::into::<Vec<Point>>(input),
        4 => sequences::view::<Point>(input),
        5 => sequences::view::<Pair>(input),
        6 => sequences::view::<Line>(input),
        // A run that begins at another alignment.
        _ => {
            u8::unmarshal(input)?;
            again::<Vec<Line>>(&mut input.clone())?;
            sequences::view::<Uneven>(input)
        }
    }
}
