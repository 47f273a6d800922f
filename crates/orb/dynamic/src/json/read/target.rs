//! What JSON is read into: values, or the octets that they have in an Any.

use std::borrow::Cow;

use punctual_any::{TypeCode, TypeKind, UnionValue, Value};
use punctual_cdr::{CdrError, Encoder};

use super::super::kinds;
use super::text::Seen;
use super::{Failed, Reading};

/// Where a value goes that is read part by part, in the order that its type has.
pub(super) trait Target {
    /// What is left to keep of a part.
    type Made;
    /// Parts that belong together, while they are read.
    type Parts;

    /// Whether [`Target::elements`] wants to know how many they are.
    const COUNTS: bool;

    /// A value without parts.
    fn simple(&mut self, type_code: &TypeCode, value: Value) -> Result<Self::Made, CdrError>;

    /// An Any, of which `json` was seen.
    fn any<'t>(
        &mut self,
        reading: &mut Reading<'_, 't>,
        json: Seen<'t>,
    ) -> Result<Self::Made, Failed>;

    /// A text that its type admits.
    fn text(&mut self, type_code: &TypeCode, text: Cow<'_, str>) -> Result<Self::Made, CdrError>;

    /// Begins a sequence or array.
    fn elements(&mut self, type_code: &TypeCode, count: usize) -> Self::Parts;

    /// Begins the members of a struct.
    fn members(&mut self, count: usize) -> Self::Parts;

    fn add(&mut self, parts: &mut Self::Parts, made: Self::Made);

    /// A sequence or array that is complete.
    fn end_elements(&mut self, parts: Self::Parts, count: usize) -> Result<Self::Made, CdrError>;

    /// A struct that is complete.
    fn end_members(&mut self, parts: Self::Parts) -> Self::Made;

    /// Begins a union: its member follows, if this chooses one.
    fn discriminator(&mut self, type_code: &TypeCode, number: i128) -> Result<(), CdrError>;

    /// A union that is complete.
    fn end_union(&mut self, number: i128, member: Option<Self::Made>) -> Self::Made;
}

/// Into a [`Value`].
pub(super) struct Tree;

/// Elements, or members.
pub(super) enum Branch {
    Octets(Vec<u8>),
    Elements(Vec<Value>),
}

impl Target for Tree {
    type Made = Value;
    type Parts = Branch;

    const COUNTS: bool = true;

    fn simple(&mut self, _: &TypeCode, value: Value) -> Result<Value, CdrError> {
        Ok(value)
    }

    fn any<'t>(&mut self, reading: &mut Reading<'_, 't>, json: Seen<'t>) -> Result<Value, Failed> {
        let any = reading.any(json)?;
        Ok(Value::Any(Box::new(any)))
    }

    fn text(&mut self, _: &TypeCode, text: Cow<'_, str>) -> Result<Value, CdrError> {
        Ok(Value::String(text.into_owned()))
    }

    fn elements(&mut self, type_code: &TypeCode, count: usize) -> Branch {
        if kinds::is_octets(type_code) {
            Branch::Octets(Vec::with_capacity(count))
        } else {
            self.members(count)
        }
    }

    fn members(&mut self, count: usize) -> Branch {
        Branch::Elements(Vec::with_capacity(count))
    }

    fn add(&mut self, parts: &mut Branch, made: Value) {
        match (parts, made) {
            (Branch::Octets(octets), Value::Octet(octet)) => octets.push(octet),
            (Branch::Octets(_), _) => {}
            (Branch::Elements(values), made) => values.push(made),
        }
    }

    fn end_elements(&mut self, parts: Branch, _: usize) -> Result<Value, CdrError> {
        Ok(match parts {
            Branch::Octets(octets) => Value::Octets(octets),
            Branch::Elements(values) => Value::Sequence(values),
        })
    }

    fn end_members(&mut self, parts: Branch) -> Value {
        match parts {
            Branch::Octets(octets) => Value::Octets(octets),
            Branch::Elements(values) => Value::Struct(values),
        }
    }

    fn discriminator(&mut self, _: &TypeCode, _: i128) -> Result<(), CdrError> {
        Ok(())
    }

    fn end_union(&mut self, number: i128, member: Option<Value>) -> Value {
        Value::Union(Box::new(UnionValue {
            discriminator: number,
            member,
        }))
    }
}

/// Into octets: nothing is kept but they.
pub(super) struct Octets<'o, 'e>(pub(super) &'o mut Encoder<'e>);

impl Target for Octets<'_, '_> {
    type Made = ();
    /// Where in the block the number of elements belongs, if it is written.
    type Parts = Option<usize>;

    const COUNTS: bool = false;

    fn simple(&mut self, type_code: &TypeCode, value: Value) -> Result<(), CdrError> {
        value.marshal(type_code, self.0)
    }

    fn any<'t>(&mut self, reading: &mut Reading<'_, 't>, json: Seen<'t>) -> Result<(), Failed> {
        reading.put_any(json, self)
    }

    fn text(&mut self, type_code: &TypeCode, text: Cow<'_, str>) -> Result<(), CdrError> {
        match type_code.kind() {
            TypeKind::WString => self.0.put_wstring(&text),
            _ => self.0.put_string(&text),
        }
    }

    fn elements(&mut self, type_code: &TypeCode, _: usize) -> Option<usize> {
        (type_code.kind() == TypeKind::Sequence).then(|| {
            self.0.put_u32(0);
            self.0.position() - size_of::<u32>()
        })
    }

    fn members(&mut self, _: usize) -> Option<usize> {
        None
    }

    fn add(&mut self, _: &mut Option<usize>, (): ()) {}

    fn end_elements(&mut self, parts: Option<usize>, count: usize) -> Result<(), CdrError> {
        if let Some(place) = parts {
            let limit = self.0.coding().limits.sequence;
            let length = u32::try_from(count).unwrap_or(u32::MAX);
            if count > limit || length == u32::MAX {
                let limit = u32::try_from(limit).unwrap_or(u32::MAX);
                return Err(CdrError::LengthOverLimit { length, limit });
            }
            self.0.patch_u32(place, length);
        }
        Ok(())
    }

    fn end_members(&mut self, _: Option<usize>) {}

    fn discriminator(&mut self, type_code: &TypeCode, number: i128) -> Result<(), CdrError> {
        let of = type_code.discriminator_type();
        let pair = of.ok().zip(kinds::discriminator(type_code, number));
        let (of, value) = pair.ok_or(CdrError::UnknownDiscriminator)?;
        value.marshal(&of, self.0)
    }

    fn end_union(&mut self, _: i128, _: Option<()>) {}
}
