//! Values without parts, as a cursor reads them.

use std::borrow::Cow;

use punctual_cdr::{CdrError, Decimal, Decoder, LongDouble, Unmarshal};

use super::Cursor;
use crate::any::Any;
use crate::kind::TypeKind;
use crate::type_code::{Node, TypeCode};
use crate::walk::leaf::{enumerator, text};

/// Value without parts. Text is borrowed from the encoding wherever its form allows.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'d> {
    /// Boolean value.
    Boolean(bool),
    /// Integer of any size, or an octet.
    Integer(i128),
    /// Floating-point number; a `long double` is rounded to the nearest `f64`.
    Real(f64),
    /// Fixed-point number.
    Fixed(Decimal),
    /// Character, narrow or wide.
    Character(char),
    /// Narrow or wide string.
    Text(Cow<'d, str>),
    /// Number of an enumerator, counted from 0; it is one of the type's.
    Enumerator(u32),
}

impl Any {
    /// Reads the value, if it is one without parts; returns `None` for all other kinds, Anys among them. Faster than a
    /// cursor.
    ///
    /// # Errors
    /// As [`Cursor::scalar`]; [`CdrError::BadTypeCode`].
    pub fn scalar(&self) -> Result<Option<Scalar<'_>>, CdrError> {
        match self.body() {
            Some(body) => Scalar::read(self.type_code(), &mut body.decoder()),
            None => Ok(None),
        }
    }
}

impl<'d> Scalar<'d> {
    /// Reads a value of this type, if it is one without parts.
    ///
    /// # Errors
    /// Errors of the encoding; [`CdrError::BadTypeCode`].
    pub(crate) fn read(
        type_code: &TypeCode,
        input: &mut Decoder<'d>,
    ) -> Result<Option<Self>, CdrError> {
        let types = type_code.arena().shapes()?;
        read(types.node(types.shape(type_code.at()).original), input)
    }
}

impl<'d> Cursor<'d> {
    /// Reads the value that stands here, if it is one without parts; returns `None` for all other
    /// kinds. The cursor is behind the value then.
    ///
    /// Allocates for text that has to be converted: wide strings, and code sets other than UTF-8.
    ///
    /// # Errors
    /// Errors of the encoding, among them text beyond its bound, and a number that no enumerator has.
    pub fn scalar(&mut self) -> Result<Option<Scalar<'d>>, CdrError> {
        read(self.type_code.arena().node(self.at), &mut self.input)
    }
}

fn read<'d>(node: &Node, input: &mut Decoder<'d>) -> Result<Option<Scalar<'d>>, CdrError> {
    Ok(Some(match node {
        Node::Primitive(kind) => return primitive(*kind, input),
        Node::Text { is_wide, bound } => Scalar::Text(text(*is_wide, *bound, input)?),
        Node::Fixed { digits, scale } => {
            Scalar::Fixed(Decimal::unmarshal_as(*digits, *scale, input)?)
        }
        Node::Enum { enumerators, .. } => Scalar::Enumerator(enumerator(enumerators.len(), input)?),
        _ => return Ok(None),
    }))
}

fn primitive<'d>(kind: TypeKind, input: &mut Decoder<'d>) -> Result<Option<Scalar<'d>>, CdrError> {
    Ok(Some(match kind {
        TypeKind::Boolean => Scalar::Boolean(input.get_bool()?),
        TypeKind::Char => Scalar::Character(input.get_char()?.into()),
        TypeKind::WChar => Scalar::Character(input.get_wchar()?),
        TypeKind::Float => Scalar::Real(input.get_f32()?.into()),
        TypeKind::Double => Scalar::Real(input.get_f64()?),
        TypeKind::LongDouble => Scalar::Real(LongDouble::unmarshal(input)?.to_f64()),
        _ => return integer(kind, input),
    }))
}

fn integer<'d>(kind: TypeKind, input: &mut Decoder<'d>) -> Result<Option<Scalar<'d>>, CdrError> {
    let number = match kind {
        TypeKind::Octet => input.get_u8()?.into(),
        TypeKind::Short => input.get_i16()?.into(),
        TypeKind::UShort => input.get_u16()?.into(),
        TypeKind::Long => input.get_i32()?.into(),
        TypeKind::ULong => input.get_u32()?.into(),
        TypeKind::LongLong => input.get_i64()?.into(),
        TypeKind::ULongLong => input.get_u64()?.into(),
        _ => return Ok(None),
    };
    Ok(Some(Scalar::Integer(number)))
}
