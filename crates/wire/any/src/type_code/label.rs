//! Encoding of a union's discriminator and labels: values of the discriminator's type. Labels stand
//! in a TypeCode, discriminators in a union.

use punctual_cdr::{CdrError, Decoder, Encoder};

use crate::kind::TypeKind;

/// Reads a value of a kind that may be a discriminator (see [`crate::Label`]).
///
/// # Errors
/// [`CdrError::BadTypeCode`] for another kind, and errors of the encoding.
pub(crate) fn read(kind: TypeKind, input: &mut Decoder<'_>) -> Result<i128, CdrError> {
    Ok(match kind {
        TypeKind::Boolean => i128::from(input.get_bool()?),
        TypeKind::Char | TypeKind::Octet => i128::from(input.get_u8()?),
        TypeKind::WChar => i128::from(u32::from(input.get_wchar()?)),
        TypeKind::Short => i128::from(input.get_i16()?),
        TypeKind::UShort => i128::from(input.get_u16()?),
        TypeKind::Long => i128::from(input.get_i32()?),
        TypeKind::ULong | TypeKind::Enum => i128::from(input.get_u32()?),
        TypeKind::LongLong => i128::from(input.get_i64()?),
        TypeKind::ULongLong => i128::from(input.get_u64()?),
        _ => {
            return Err(CdrError::BadTypeCode(
                "a union's discriminator is neither integer, character, boolean nor enum",
            ));
        }
    })
}

/// Writes a value of a kind that may be a discriminator (see [`crate::Label`]).
///
/// # Errors
/// [`CdrError::BadCharacter`] for a number that is not a `wchar`, and characters that the code set
/// lacks.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the number is one of the discriminator's type"
)]
pub(crate) fn write(kind: TypeKind, number: i128, out: &mut Encoder<'_>) -> Result<(), CdrError> {
    match kind {
        TypeKind::Boolean => out.put_bool(number != 0),
        TypeKind::Char | TypeKind::Octet => out.put_u8(number as u8),
        TypeKind::WChar => {
            let character = u32::try_from(number).ok().and_then(char::from_u32);
            out.put_wchar(character.ok_or(CdrError::BadCharacter)?)?;
        }
        TypeKind::Short | TypeKind::UShort => out.put_u16(number as u16),
        TypeKind::LongLong | TypeKind::ULongLong => out.put_u64(number as u64),
        _ => out.put_u32(number as u32),
    }
    Ok(())
}
