//! Decodes a value whose type is known at run time into its parts.

use std::sync::Arc;

use punctual_cdr::{CdrError, Decoder, Unmarshal};
use punctual_ior::Ior;

use super::leaf::leaf;
use super::skip::{Passing, pass, refuse_impossible};
use super::{check_bound, discriminator, no_such_value, pass_id};
use crate::any::{Any, Body};
use crate::kind::TypeKind;
use crate::type_code::{Index, Member, Node, Shapes, TypeCode};
use crate::value::{Elements, FormalType, UnionValue, Value};

/// Memory of one decoded element, in bytes: the limit on messages, divided by it, bounds the number
/// of values, since small elements grow when decoded.
const BYTES_PER_VALUE: usize = 16;

/// Number of values that each byte of the input may be decoded into, in addition to a fixed number
/// in any case: a struct within a struct takes no bytes, as deep as values may nest.
const VALUES_PER_BYTE: usize = 4;
const MIN_VALUES: usize = 1024;

/// Memory of a decoded element, and that of a copied encoding: when the former takes less, elements
/// are decoded at once.
const OCTETS_OF_VALUE: u64 = size_of::<Value>() as u64;
const OCTETS_OF_BODY: u64 = 256;

/// Reads a value. Elements stay encoded: in `body`, if the input reads that, otherwise in a copy.
///
/// # Errors
/// Errors of the encoding; [`CdrError::LengthOverLimit`] if it would decode into too many values.
pub(crate) fn read(
    types: Shapes<'_>,
    type_code: &TypeCode,
    body: Option<&Arc<Body>>,
    input: &mut Decoder<'_>,
) -> Result<Value, CdrError> {
    let mut reading = Reading::new(type_code, body, Passing::Checking, input);
    let left = reading.left;
    reading.account(1)?;
    let value = reading.value(types, type_code.at(), input)?;
    input.note_parts_of_values(left - reading.left);
    Ok(value)
}

/// Treatment of each element of a sequence or array after it has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementUse {
    /// All elements are kept, so that their memory adds up.
    Kept,
    /// Each element is dropped once it has been examined.
    Dropped,
}

/// Reads elements of a checked encoding, one after the other, until `look` fails.
///
/// # Errors
/// That of `look`, and those of [`read`]: for elements that are kept,
/// [`CdrError::LengthOverLimit`].
pub(crate) fn read_each<E: From<CdrError>>(
    element: &TypeCode,
    (length, element_use): (usize, ElementUse),
    body: &Arc<Body>,
    input: &mut Decoder<'_>,
    mut look: impl FnMut(Value) -> Result<(), E>,
) -> Result<(), E> {
    let types = element.arena().shapes()?;
    let mut reading = Reading::new(element, Some(body), Passing::Over, input);
    let left = reading.left;
    for _ in 0..length {
        if element_use == ElementUse::Dropped {
            reading.left = left;
        }
        reading.account(1)?;
        let value = input.nested(|input| reading.value(types, element.at(), input))?;
        look(value)?;
    }
    Ok(())
}

struct Reading<'a> {
    type_code: &'a TypeCode,
    /// Body of the Any whose encoding the input reads; `None` for any other input.
    body: Option<&'a Arc<Body>>,
    /// Mode in which bytes that stay encoded are skipped.
    passing: Passing,
    /// Number of values that may be made in all; `left` is the number that may still be made.
    most: usize,
    left: usize,
}

impl<'a> Reading<'a> {
    fn new(
        type_code: &'a TypeCode,
        body: Option<&'a Arc<Body>>,
        passing: Passing,
        input: &Decoder<'_>,
    ) -> Self {
        let octets = input.position().saturating_add(input.remaining());
        let most = octets
            .saturating_mul(VALUES_PER_BYTE)
            .saturating_add(MIN_VALUES)
            .min(input.coding().limits.message / BYTES_PER_VALUE);
        Self {
            type_code,
            body,
            passing,
            most,
            // All values of a message live as long as one of them does, so the parts of their
            // states count together.
            left: most.saturating_sub(input.parts_of_values()),
        }
    }

    fn value(
        &mut self,
        types: Shapes<'_>,
        at: Index,
        input: &mut Decoder<'_>,
    ) -> Result<Value, CdrError> {
        Ok(match types.node(at) {
            Node::Primitive(_) | Node::Text { .. } | Node::Fixed { .. } | Node::Enum { .. } => {
                leaf(types.node(at), input)?
            }
            Node::Sequence { element, bound } => {
                let least = types.shape(*element).min_size;
                let least = usize::try_from(least).unwrap_or(usize::MAX);
                if self.may_be_kept_apart(types, *element)
                    && is_worth_it(types, *element, input.ahead().get_length(least)?)
                {
                    return self.kept_apart(at, input);
                }
                let length = input.get_length(least)?;
                check_bound(length, *bound)?;
                self.elements(types, *element, length, input)?
            }
            Node::Array { element, length } => {
                let (element, length) = (*element, *length);
                refuse_impossible(types.shape(element).min_size, length.into(), input)?;
                if self.may_be_kept_apart(types, element)
                    && is_worth_it(types, element, length as usize)
                {
                    return self.kept_apart(at, input);
                }
                self.elements(types, element, length as usize, input)?
            }
            Node::Alias { .. } => return self.value(types, types.shape(at).original, input),
            Node::Struct { members, .. } => Value::Struct(self.members(types, members, input)?),
            Node::Exception { name, members } => {
                pass_id(&name.id, input);
                Value::Struct(self.members(types, members, input)?)
            }
            Node::Union(union) => {
                let chosen = discriminator::read(types, union.discriminator, input)?;
                let member = union.chosen(chosen).map(|place| place as usize);
                let member = member.and_then(|place| union.members.get(place));
                let member =
                    member.map(|member| input.nested(|input| self.value(types, member.at, input)));
                Value::Union(Box::new(UnionValue {
                    discriminator: chosen,
                    member: member.transpose()?,
                }))
            }
            Node::Interface { kind, .. } => self.interface(*kind, at, input)?,
            Node::Value(_) | Node::ValueBox { .. } => self.valuetype(at, input)?,
            Node::Recursive { .. } => return Err(no_such_value()),
        })
    }

    fn elements(
        &mut self,
        types: Shapes<'_>,
        element: Index,
        length: usize,
        input: &mut Decoder<'_>,
    ) -> Result<Value, CdrError> {
        if types.is_octet(element) {
            return u8::unmarshal_vec(input, length).map(Value::Octets);
        }
        if let Some(body) = self.body.filter(|_| length > 0 && is_kept(types, element)) {
            let at = input.position();
            if pass(types, self.type_code, element, length, self.passing, input)? {
                let element = self.type_code.part(element);
                return Ok(Value::Sequence(Elements::of_octets(
                    element, body, at, length,
                )));
            }
        }
        self.account(length)?;
        let mut elements = Vec::with_capacity(length.min(input.remaining()));
        input.nested(|input| {
            for _ in 0..length {
                elements.push(self.value(types, element, input)?);
            }
            Ok(())
        })?;
        Ok(Value::Sequence(elements.into()))
    }

    /// Returns whether elements may stay encoded if that takes a copy of the bytes.
    fn may_be_kept_apart(&self, types: Shapes<'_>, element: Index) -> bool {
        self.body.is_none() && is_kept(types, element)
    }

    fn kept_apart(&self, at: Index, input: &mut Decoder<'_>) -> Result<Value, CdrError> {
        let mut any = Any::default();
        any.unmarshal_as(&self.type_code.part(at), input)?;
        any.value()
    }

    fn members(
        &mut self,
        types: Shapes<'_>,
        members: &[Member],
        input: &mut Decoder<'_>,
    ) -> Result<Vec<Value>, CdrError> {
        self.account(members.len())?;
        input.nested(|input| {
            // Collecting would allocate room for at least four.
            let mut values = Vec::with_capacity(members.len());
            for member in members {
                values.push(self.value(types, member.at, input)?);
            }
            Ok(values)
        })
    }

    fn account(&mut self, count: usize) -> Result<(), CdrError> {
        let left = self.left.checked_sub(count);
        self.left = left.ok_or(CdrError::LengthOverLimit {
            length: u32::try_from(count).unwrap_or(u32::MAX),
            limit: u32::try_from(self.most).unwrap_or(u32::MAX),
        })?;
        Ok(())
    }

    fn interface(
        &mut self,
        kind: TypeKind,
        at: Index,
        input: &mut Decoder<'_>,
    ) -> Result<Value, CdrError> {
        match kind {
            TypeKind::Objref | TypeKind::Component => {}
            TypeKind::AbstractInterface => {
                if !input.get_bool()? {
                    return self.valuetype(at, input);
                }
            }
            _ => return Err(no_such_value()),
        }
        let reference = Ior::unmarshal(input)?;
        Ok(Value::Object(
            (!reference.is_nil()).then(|| Box::new(reference)),
        ))
    }

    fn valuetype(&mut self, at: Index, input: &mut Decoder<'_>) -> Result<Value, CdrError> {
        let formal = FormalType::new(&self.type_code.part(at));
        Ok(Value::Valuetype(input.get_value(&formal)?))
    }
}

/// Returns whether elements stay encoded. Valuetypes may be shared with other values, and octets
/// take no more room when decoded.
fn is_kept(types: Shapes<'_>, element: Index) -> bool {
    !types.shape(element).holds.has_values() && !types.is_octet(element)
}

/// Returns whether decoded values would take more memory than a copy of the encoding.
fn is_worth_it(types: Shapes<'_>, element: Index, length: usize) -> bool {
    let values = (length as u64).saturating_mul(types.shape(element).parts.into());
    values.saturating_mul(OCTETS_OF_VALUE) > OCTETS_OF_BODY
}
