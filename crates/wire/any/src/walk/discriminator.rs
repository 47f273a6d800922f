//! Discriminators of unions.

use punctual_cdr::{CdrError, Decoder, Encoder};

use crate::type_code::{Index, Node, Shapes, label};

/// Reads the discriminator of a union as a number (see [`crate::Label`]).
pub(crate) fn read(
    types: Shapes<'_>,
    at: Index,
    input: &mut Decoder<'_>,
) -> Result<i128, CdrError> {
    let node = original(types, at);
    let number = label::read(node.kind(), input)?;
    check(node, number)?;
    Ok(number)
}

/// Writes the discriminator of a union.
pub(crate) fn write(
    types: Shapes<'_>,
    at: Index,
    number: i128,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    let node = original(types, at);
    check(node, number)?;
    label::write(node.kind(), number, out)
}

/// Checks that an enumeration has the number. It is not a value of the type otherwise, though the
/// union has a default or no member for it.
fn check(node: &Node, number: i128) -> Result<(), CdrError> {
    let Node::Enum { enumerators, .. } = node else {
        return Ok(());
    };
    match usize::try_from(number) {
        Ok(place) if place < enumerators.len() => Ok(()),
        _ => Err(CdrError::UnknownEnumerator(
            u32::try_from(number).unwrap_or(u32::MAX),
        )),
    }
}

fn original(types: Shapes<'_>, at: Index) -> &Node {
    types.node(types.shape(at).original)
}
