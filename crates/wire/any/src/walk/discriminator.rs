//! Discriminators of unions.

use punctual_cdr::{CdrError, Decoder, Encoder};

use crate::kind::TypeKind;
use crate::type_code::{Index, Shapes, label};

/// Reads a discriminator as a number (see [`crate::Label`]).
pub(crate) fn read(
    types: Shapes<'_>,
    at: Index,
    input: &mut Decoder<'_>,
) -> Result<i128, CdrError> {
    label::read(kind(types, at), input)
}

/// Writes a discriminator.
pub(crate) fn write(
    types: Shapes<'_>,
    at: Index,
    number: i128,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    label::write(kind(types, at), number, out)
}

fn kind(types: Shapes<'_>, at: Index) -> TypeKind {
    types.node(types.shape(at).original).kind()
}
