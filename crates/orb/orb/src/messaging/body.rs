//! Body of a message.

use punctual_cdr::{CdrError, Encoder, GiopVersion};

/// Writes arguments or results after a header: aligned to 8 in GIOP 1.2, and only if there are any
/// (CORBA 3.3 part 2, §9.4.2.2).
pub(crate) fn body(
    out: &mut Encoder<'_>,
    version: GiopVersion,
    write: impl FnOnce(&mut Encoder<'_>) -> Result<(), CdrError>,
) -> Result<(), CdrError> {
    if version < GiopVersion::V1_2 {
        return write(out);
    }
    let unaligned = out.position();
    out.align(8);
    let begin = out.position();
    write(out)?;
    if out.position() == begin {
        out.block_mut().truncate(unaligned);
    }
    Ok(())
}
