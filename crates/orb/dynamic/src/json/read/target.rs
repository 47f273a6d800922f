//! Targets of reading JSON: values, or the octets that they have in an Any.

use std::borrow::Cow;
use std::sync::Arc;

use punctual_any::{DynamicFactory, DynamicValue, TypeCode, TypeKind, UnionValue, Value};
use punctual_cdr::{CdrError, Encoder, OpenValue, ValueFactory, ValueRef};

use super::super::kinds;
use super::paths::StartedValue;
use super::reading::{ReadFailure, Reading};
use super::text::Token;

/// Receiver of a value that is read part by part, in the order of its type.
pub(super) trait Target {
    /// Type of the result for one part of the value.
    type Made;
    /// Type of a valuetype while its members are being read.
    type Value;
    /// Type that collects the parts of a composed value while they are read.
    type Parts;

    /// True if [`Target::elements`] needs the number of elements in advance.
    const COUNTS: bool;

    /// Takes a value that has no parts, such as a number.
    fn simple(&mut self, type_code: &TypeCode, value: Value) -> Result<Self::Made, CdrError>;

    /// Takes an Any, which begins with the token `json`.
    fn any<'t>(
        &mut self,
        reading: &mut Reading<'_, 't>,
        json: Token<'t>,
    ) -> Result<Self::Made, ReadFailure>;

    /// Takes a text that is valid for its type.
    fn text(&mut self, type_code: &TypeCode, text: Cow<'_, str>) -> Result<Self::Made, CdrError>;

    /// Begins a sequence or array, whose elements follow.
    fn elements(&mut self, type_code: &TypeCode, count: usize) -> Self::Parts;

    /// Reads `count` elements all together, if the target has a better way for that; otherwise
    /// returns `None`.
    fn at_once(
        &mut self,
        reading: &mut Reading<'_, '_>,
        type_code: &TypeCode,
        count: usize,
    ) -> Result<Option<Self::Made>, ReadFailure>;

    /// Begins a struct, whose members follow.
    fn members(&mut self, count: usize) -> Self::Parts;

    fn add(&mut self, parts: &mut Self::Parts, made: Self::Made);

    /// Completes a sequence or array from the elements collected.
    fn end_elements(&mut self, parts: Self::Parts, count: usize) -> Result<Self::Made, CdrError>;

    /// Completes a struct from the members collected.
    fn end_members(&mut self, parts: Self::Parts) -> Self::Made;

    /// Begins a union; a call for its member follows if the discriminator `number` selects one.
    fn discriminator(&mut self, type_code: &TypeCode, number: i128) -> Result<(), CdrError>;

    /// Completes a union with the member that the discriminator selects, if any.
    fn end_union(&mut self, number: i128, member: Option<Self::Made>) -> Self::Made;

    /// Begins a valuetype where type `formal` is declared; calls for its members follow.
    fn begin_value(
        &mut self,
        reading: &mut Reading<'_, '_>,
        formal: &TypeCode,
        factory: &Arc<DynamicFactory>,
    ) -> Result<(Self::Value, StartedValue), CdrError>;

    /// Completes a valuetype from the members collected.
    fn end_value(
        &mut self,
        value: Self::Value,
        members: Self::Parts,
    ) -> Result<Self::Made, CdrError>;

    /// Takes another occurrence of a valuetype that was begun before.
    fn again(&mut self, formal: &TypeCode, value: StartedValue) -> Result<Self::Made, CdrError>;
}

/// Target that builds a [`Value`] from the JSON text.
pub(super) struct Tree;

/// Least number of elements that are kept as marshaled octets instead of as single values: from
/// here on the octets take less memory, despite their overhead.
const MANY: usize = 16;

/// Elements of a sequence or members of a struct, collected while they are read.
pub(super) enum Composed {
    Octets(Vec<u8>),
    Elements(Vec<Value>),
}

impl Target for Tree {
    type Made = Value;
    type Value = ValueRef;
    type Parts = Composed;

    const COUNTS: bool = true;

    fn simple(&mut self, _: &TypeCode, value: Value) -> Result<Value, CdrError> {
        Ok(value)
    }

    fn any<'t>(
        &mut self,
        reading: &mut Reading<'_, 't>,
        json: Token<'t>,
    ) -> Result<Value, ReadFailure> {
        let any = reading.any(json)?;
        Ok(Value::Any(Box::new(any)))
    }

    fn text(&mut self, _: &TypeCode, text: Cow<'_, str>) -> Result<Value, CdrError> {
        Ok(Value::String(text.into_owned()))
    }

    fn elements(&mut self, type_code: &TypeCode, count: usize) -> Composed {
        if kinds::is_octets(type_code) {
            Composed::Octets(Vec::with_capacity(count))
        } else {
            self.members(count)
        }
    }

    fn at_once(
        &mut self,
        reading: &mut Reading<'_, '_>,
        type_code: &TypeCode,
        count: usize,
    ) -> Result<Option<Value>, ReadFailure> {
        if count < MANY {
            return Ok(None);
        }
        reading.many(type_code)
    }

    fn members(&mut self, count: usize) -> Composed {
        Composed::Elements(Vec::with_capacity(count))
    }

    fn add(&mut self, parts: &mut Composed, made: Value) {
        match (parts, made) {
            (Composed::Octets(octets), Value::Octet(octet)) => octets.push(octet),
            (Composed::Octets(_), _) => {}
            (Composed::Elements(values), made) => values.push(made),
        }
    }

    fn end_elements(&mut self, parts: Composed, _: usize) -> Result<Value, CdrError> {
        Ok(match parts {
            Composed::Octets(octets) => Value::Octets(octets),
            Composed::Elements(values) => Value::Sequence(values.into()),
        })
    }

    fn end_members(&mut self, parts: Composed) -> Value {
        match parts {
            Composed::Octets(octets) => Value::Octets(octets),
            Composed::Elements(values) => Value::Struct(values),
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

    fn begin_value(
        &mut self,
        reading: &mut Reading<'_, '_>,
        _: &TypeCode,
        factory: &Arc<DynamicFactory>,
    ) -> Result<(ValueRef, StartedValue), CdrError> {
        let value = DynamicValue::begin(factory, reading.graph.as_ref());
        reading.graph.get_or_insert_with(|| value.clone());
        Ok((value.clone(), StartedValue::Value(value)))
    }

    fn end_value(&mut self, value: ValueRef, members: Composed) -> Result<Value, CdrError> {
        if let Composed::Elements(members) = members {
            DynamicValue::assign(&value, members)?;
        }
        Ok(Value::Valuetype(Some(value)))
    }

    fn again(&mut self, _: &TypeCode, value: StartedValue) -> Result<Value, CdrError> {
        match value {
            StartedValue::Value(value) => Ok(Value::Valuetype(Some(value))),
            StartedValue::Octets(_) => Err(CdrError::Invalid(
                "a value in an Any is referred to from outside of the Any",
            )),
        }
    }
}

/// Target that marshals into octets, and keeps no values.
pub(super) struct Octets<'o, 'e>(pub(super) &'o mut Encoder<'e>);

impl Target for Octets<'_, '_> {
    type Made = ();
    type Value = OpenValue;
    /// Position of a sequence's length field, which is filled in at the end; `None` for arrays and
    /// members.
    type Parts = Option<usize>;

    const COUNTS: bool = false;

    fn simple(&mut self, type_code: &TypeCode, value: Value) -> Result<(), CdrError> {
        value.marshal(type_code, self.0)
    }

    fn any<'t>(
        &mut self,
        reading: &mut Reading<'_, 't>,
        json: Token<'t>,
    ) -> Result<(), ReadFailure> {
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

    fn at_once(
        &mut self,
        _: &mut Reading<'_, '_>,
        _: &TypeCode,
        _: usize,
    ) -> Result<Option<()>, ReadFailure> {
        Ok(None)
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
    fn begin_value(
        &mut self,
        _: &mut Reading<'_, '_>,
        formal: &TypeCode,
        factory: &Arc<DynamicFactory>,
    ) -> Result<(OpenValue, StartedValue), CdrError> {
        self.put_value_flag(formal);
        let factory: Arc<dyn ValueFactory> = factory.clone();
        let value = self.0.open_value(&factory)?;
        Ok((value, StartedValue::Octets(value)))
    }

    fn end_value(&mut self, value: OpenValue, _: Option<usize>) -> Result<(), CdrError> {
        self.0.close_value(value)
    }

    fn again(&mut self, formal: &TypeCode, value: StartedValue) -> Result<(), CdrError> {
        match value {
            StartedValue::Value(value) => self.simple(formal, Value::Valuetype(Some(value))),
            StartedValue::Octets(value) => {
                self.put_value_flag(formal);
                self.0.put_value_again(value)
            }
        }
    }
}

impl Octets<'_, '_> {
    /// Writes the flag that precedes a value whose declared type also permits an object reference
    /// (CORBA 3.3 part 2, §9.3.7).
    fn put_value_flag(&mut self, formal: &TypeCode) {
        if formal.kind() == TypeKind::AbstractInterface {
            self.0.put_bool(false);
        }
    }
}
