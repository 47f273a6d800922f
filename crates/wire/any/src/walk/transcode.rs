//! Transcoding of values: to another byte order, offset, code set or version.

use std::cell::Cell;

use punctual_cdr::{CdrError, Decoder, Encoder, LongDouble, Marshal, Unmarshal};
use punctual_ior::Ior;

use super::exception::begins_with_id;
use super::skip::refuse_impossible;
use super::{discriminator, marshal_id, no_such_value, pass_id, sequence_length};
use crate::kind::TypeKind;
use crate::type_code::{Index, Member, Node, Shapes, TypeCode};
use crate::value::FormalType;

/// Reads a value and writes it.
///
/// # Errors
/// Errors of the source and of the target encoding.
pub(crate) fn transcode(
    types: Shapes<'_>,
    type_code: &TypeCode,
    input: &mut Decoder<'_>,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    Transcoding::new(types, type_code).value(type_code.at(), input, out)
}

/// Transcodes the members of a struct or exception as [`transcode`] does; other data of the value
/// is not written.
pub(crate) fn members(
    types: Shapes<'_>,
    type_code: &TypeCode,
    members: &[Member],
    input: &mut Decoder<'_>,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    Transcoding::new(types, type_code).members(members, input, out)
}

struct Transcoding<'a> {
    type_code: &'a TypeCode,
    types: Shapes<'a>,
    /// Type of the previous Any, kept so that it need not be decoded again if the next one refers
    /// to it.
    last: Cell<TypeCode>,
}

impl<'a> Transcoding<'a> {
    fn new(types: Shapes<'a>, type_code: &'a TypeCode) -> Self {
        Self {
            type_code,
            types,
            last: Cell::new(TypeCode::NULL),
        }
    }

    fn value(
        &self,
        at: Index,
        input: &mut Decoder<'_>,
        out: &mut Encoder<'_>,
    ) -> Result<(), CdrError> {
        let types = self.types;
        match types.node(at) {
            Node::Primitive(kind) => match kind {
                TypeKind::Any => self.any(input, out),
                kind => primitive(*kind, input, out),
            },
            Node::Text { is_wide: false, .. } => out.put_string(&input.get_string()?),
            Node::Text { is_wide: true, .. } => out.put_wstring(&input.get_wstring()?),
            Node::Fixed { digits, .. } => {
                out.put_bytes(input.get_bytes(usize::from(digits / 2 + 1))?);
                Ok(())
            }
            Node::Enum { .. } => {
                out.put_u32(input.get_u32()?);
                Ok(())
            }
            Node::Sequence { element, bound } => {
                let length = sequence_length(types, *element, *bound, input)?;
                out.put_length(length)?;
                self.run(*element, length as u64, input, out)
            }
            Node::Array { element, length } => self.run(*element, u64::from(*length), input, out),
            Node::Alias { .. } => self.value(types.shape(at).original, input, out),
            Node::Struct { members: all, .. } => self.members(all, input, out),
            Node::Exception { name, members: all } => {
                // A value that came without its id is sent without it, perhaps back to the same
                // ORB. Not so where the id is empty, as an empty string then is the id.
                if pass_id(&name.id, input) || name.id.is_empty() {
                    marshal_id(&name.id, out)?;
                    return self.members(all, input, out);
                }
                let begin = (out.block().len(), out.padding(4));
                self.members(all, input, out)?;
                let written = out.block().as_slice().get(begin.0 + begin.1..);
                match begins_with_id(&name.id, written.unwrap_or_default(), out.order()) {
                    // With another alignment or byte order, its members would be misread.
                    true => Err(CdrError::Invalid(
                        "an exception without its id begins like one with it",
                    )),
                    false => Ok(()),
                }
            }
            Node::Union(union) => {
                let chosen = discriminator::read(types, union.discriminator, input)?;
                discriminator::write(types, union.discriminator, chosen, out)?;
                let member = union.chosen(chosen).map(|place| place as usize);
                match member.and_then(|place| union.members.get(place)) {
                    Some(member) => input.nested(|input| self.value(member.at, input, out)),
                    None => Ok(()),
                }
            }
            Node::Interface { kind, .. } => self.interface(*kind, at, input, out),
            Node::Value(_) | Node::ValueBox { .. } => self.valuetype(at, input, out),
            Node::Recursive { .. } => Err(no_such_value()),
        }
    }

    fn members(
        &self,
        members: &[Member],
        input: &mut Decoder<'_>,
        out: &mut Encoder<'_>,
    ) -> Result<(), CdrError> {
        input.nested(|input| {
            let mut members = members.iter();
            members.try_for_each(|member| self.value(member.at, input, out))
        })
    }

    /// Transcodes the elements of a sequence or array to the encoding of the output.
    fn run(
        &self,
        element: Index,
        length: u64,
        input: &mut Decoder<'_>,
        out: &mut Encoder<'_>,
    ) -> Result<(), CdrError> {
        let types = self.types;
        let shape = types.shape(element);
        if length == 0 || shape.sizes == Some([0; 8]) {
            return Ok(());
        }
        refuse_impossible(shape.min_size, length, input)?;
        if let Node::Primitive(kind) = types.node(shape.original)
            && let Ok(length) = usize::try_from(length)
            && numbers(*kind, length, input, out)?
        {
            return Ok(());
        }
        input.nested(|input| (0..length).try_for_each(|_| self.value(element, input, out)))
    }

    fn any(&self, input: &mut Decoder<'_>, out: &mut Encoder<'_>) -> Result<(), CdrError> {
        let (type_code, is_self_contained) = TypeCode::pass(input)?;
        let begin = out.position();
        type_code.marshal(out)?;
        if !is_self_contained {
            // A few bytes expand to the whole type.
            input.read_again(out.position().saturating_sub(begin))?;
        }
        let types = type_code.arena().shapes()?;
        input.nested(|input| transcode(types, &type_code, input, out))?;
        self.last.set(type_code);
        Ok(())
    }

    fn interface(
        &self,
        kind: TypeKind,
        at: Index,
        input: &mut Decoder<'_>,
        out: &mut Encoder<'_>,
    ) -> Result<(), CdrError> {
        match kind {
            TypeKind::Objref | TypeKind::Component => {}
            TypeKind::AbstractInterface => {
                let is_object = input.get_bool()?;
                out.put_bool(is_object);
                if !is_object {
                    return self.valuetype(at, input, out);
                }
            }
            _ => return Err(no_such_value()),
        }
        Ior::unmarshal(input)?.marshal(out)
    }

    fn valuetype(
        &self,
        at: Index,
        input: &mut Decoder<'_>,
        out: &mut Encoder<'_>,
    ) -> Result<(), CdrError> {
        let formal = FormalType::new(&self.type_code.part(at));
        let value = input.get_value(&formal)?;
        out.put_value(value.as_ref())
    }
}

/// Transcodes a run of numbers as a whole. Returns `false` if the kind is not numeric.
fn numbers(
    kind: TypeKind,
    length: usize,
    input: &mut Decoder<'_>,
    out: &mut Encoder<'_>,
) -> Result<bool, CdrError> {
    match kind {
        TypeKind::Octet => out.put_bytes(&u8::unmarshal_view(input, length)?),
        TypeKind::Short | TypeKind::UShort => copy::<u16>(length, input, out)?,
        TypeKind::Long | TypeKind::ULong | TypeKind::Float => copy::<u32>(length, input, out)?,
        TypeKind::LongLong | TypeKind::ULongLong | TypeKind::Double => {
            copy::<u64>(length, input, out)?;
        }
        _ => return Ok(false),
    }
    return Ok(true);

    fn copy<T: Marshal + Unmarshal + 'static>(
        length: usize,
        input: &mut Decoder<'_>,
        out: &mut Encoder<'_>,
    ) -> Result<(), CdrError> {
        T::marshal_slice(&T::unmarshal_view(input, length)?, out)
    }
}

fn primitive(
    kind: TypeKind,
    input: &mut Decoder<'_>,
    out: &mut Encoder<'_>,
) -> Result<(), CdrError> {
    match kind {
        TypeKind::Null | TypeKind::Void => {}
        TypeKind::Boolean => out.put_bool(input.get_bool()?),
        TypeKind::Octet => out.put_u8(input.get_u8()?),
        TypeKind::Char => out.put_char(input.get_char()?)?,
        TypeKind::WChar => out.put_wchar(input.get_wchar()?)?,
        TypeKind::Short | TypeKind::UShort => out.put_u16(input.get_u16()?),
        TypeKind::Long | TypeKind::ULong | TypeKind::Float => out.put_u32(input.get_u32()?),
        TypeKind::LongLong | TypeKind::ULongLong | TypeKind::Double => {
            out.put_u64(input.get_u64()?);
        }
        TypeKind::LongDouble => LongDouble::unmarshal(input)?.marshal(out)?,
        TypeKind::Principal => out.put_octets(input.get_octets()?)?,
        TypeKind::TypeCode => TypeCode::unmarshal(input)?.marshal(out)?,
        _ => {}
    }
    Ok(())
}
