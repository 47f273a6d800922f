//! Dynamic management of Anys: values of any type, read and changed part by part (CORBA 3.3 part 1,
//! chapter 16).
//!
//! A [`DynAny`] owns its value; CORBA's interfaces derived from `DynAny` are *views* of one:
//! [`DynAny::as_struct`] and the like give the operations of that kind, for reading;
//! [`DynAny::as_struct_mut`] and the like also for writing.
//!
//! A composed value has components, one of which is the *current* one; [`DynAny::insert`] and
//! [`DynAny::get`] work on it. On a value that is not composed they work on the value itself.

mod basic;
mod enumerated;
mod navigate;
mod sequence;
mod structure;
mod union_;
mod value;

pub use enumerated::{DynEnum, DynFixed};
pub use sequence::DynSequence;
pub use structure::DynStruct;
pub use union_::DynUnion;
pub use value::DynValue;

use punctual_any::{Any, DynamicValue, TypeCode, TypeKind, UnionValue, Value};
use punctual_cdr::{CdrError, ValueRef};
use punctual_orb::{DispatchError, SystemException, SystemExceptionKind};
use thiserror::Error;

use crate::json::kinds;

/// Decomposed value of any IDL type: CORBA's `DynAny`.
#[derive(Debug)]
pub struct DynAny {
    type_code: TypeCode,
    content: Content,
    /// Index of the current component; `None` for none, CORBA's -1.
    current: Option<usize>,
}

#[derive(Debug)]
enum Content {
    /// Value without components, such as a number or a string.
    Leaf(Value),
    /// Members or elements; for a union the discriminator, and the member if there is one.
    Parts(Vec<DynAny>),
    /// Valuetype that is not null. Its members are decomposed on demand, as they may refer to the
    /// valuetype itself.
    Valuetype(ValueRef, Option<Vec<DynAny>>),
}

/// Reason why an operation of a DynAny failed.
#[derive(Clone, Copy, PartialEq, Eq, Error)]
pub enum DynAnyError {
    /// The given or requested type is not that of the DynAny.
    #[error("the value is of another type")]
    TypeMismatch,
    /// The value is not valid for the type, or there is no current component.
    #[error("the value is not valid here")]
    InvalidValue,
    /// Error for a type of which no DynAny can be made.
    #[error("no DynAny can be made for the type")]
    InconsistentTypeCode,
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for DynAnyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<DynAnyError> for SystemException {
    fn from(error: DynAnyError) -> Self {
        SystemExceptionKind::BadParam.because(error.to_string())
    }
}

impl From<DynAnyError> for DispatchError {
    fn from(error: DynAnyError) -> Self {
        Self::System(error.into())
    }
}

impl DynAny {
    /// Makes a DynAny of the value of an Any (`create_dyn_any`).
    ///
    /// # Errors
    /// [`DynAnyError::InconsistentTypeCode`] for a type whose values cannot be sent;
    /// [`DynAnyError::InvalidValue`] for octets that are no value of the type.
    pub fn new(any: &Any) -> Result<Self, DynAnyError> {
        check_type(any.type_code())?;
        let value = any.value().map_err(|_| DynAnyError::InvalidValue)?;
        Self::of(any.type_code(), value)
    }

    /// Makes a DynAny of the initial value of a type (`create_dyn_any_from_type_code`).
    ///
    /// # Errors
    /// [`DynAnyError::InconsistentTypeCode`].
    pub fn of_type(type_code: &TypeCode) -> Result<Self, DynAnyError> {
        check_type(type_code)?;
        let value = Value::default_of(type_code);
        Self::of(
            type_code,
            value.map_err(|_| DynAnyError::InconsistentTypeCode)?,
        )
    }

    /// Makes a DynAny of a value that is known to be of the type.
    fn of(type_code: &TypeCode, value: Value) -> Result<Self, DynAnyError> {
        let content = Content::of(type_code, value)?;
        let mut this = Self {
            type_code: type_code.clone(),
            content,
            current: None,
        };
        this.rewind();
        Ok(this)
    }

    /// Returns the type code of the value.
    #[must_use]
    pub fn type_code(&self) -> &TypeCode {
        &self.type_code
    }

    /// Returns the kind of the type, with aliases resolved.
    fn kind(&self) -> TypeKind {
        self.type_code.original_type().kind()
    }

    /// Copies the value of another DynAny; the first component becomes the current one.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] unless both types are equivalent.
    pub fn assign(&mut self, other: &Self) -> Result<(), DynAnyError> {
        if !self.type_code.equivalent(&other.type_code) {
            return Err(DynAnyError::TypeMismatch);
        }
        self.from_any(&other.to_any()?)
    }

    /// Copies the value of an Any.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] unless both types are equivalent;
    /// [`DynAnyError::InvalidValue`].
    pub fn from_any(&mut self, any: &Any) -> Result<(), DynAnyError> {
        if !self.type_code.equivalent(any.type_code()) {
            return Err(DynAnyError::TypeMismatch);
        }
        let value = any.value().map_err(|_| DynAnyError::InvalidValue)?;
        *self = Self::of(&self.type_code, value)?;
        Ok(())
    }

    /// Returns an Any with the value.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] for values that cannot be sent, such as text with a NUL.
    pub fn to_any(&self) -> Result<Any, DynAnyError> {
        Any::of_value(&self.type_code, &self.to_value()?).map_err(mismatch_of)
    }

    /// Returns the value itself.
    ///
    /// # Errors
    /// Those of [`DynAny::to_any`].
    pub fn to_value(&self) -> Result<Value, DynAnyError> {
        let parts = match &self.content {
            Content::Leaf(value) => return Ok(value.clone()),
            Content::Valuetype(value, None) => return Ok(Value::Valuetype(Some(value.clone()))),
            Content::Valuetype(_, Some(parts)) | Content::Parts(parts) => parts,
        };
        let values: Result<Vec<Value>, DynAnyError> = parts.iter().map(Self::to_value).collect();
        let values = values?;
        if let Content::Valuetype(value, _) = &self.content {
            // The value keeps its identity, as others may refer to it.
            let assigned = DynamicValue::assign(value, values);
            assigned.map_err(|_| DynAnyError::InvalidValue)?;
            return Ok(Value::Valuetype(Some(value.clone())));
        }
        Ok(match self.kind() {
            TypeKind::Union => {
                let mut values = values.into_iter();
                let discriminator = values.next().and_then(|value| kinds::number(&value));
                Value::Union(Box::new(UnionValue {
                    discriminator: discriminator.ok_or(DynAnyError::InvalidValue)?,
                    member: values.next(),
                }))
            }
            TypeKind::Sequence | TypeKind::Array
                if kinds::is_octets(&self.type_code.original_type()) =>
            {
                let octets = values.iter().map(|value| match value {
                    Value::Octet(octet) => Ok(*octet),
                    _ => Err(DynAnyError::InvalidValue),
                });
                Value::Octets(octets.collect::<Result<_, _>>()?)
            }
            TypeKind::Sequence | TypeKind::Array => Value::Sequence(values.into()),
            _ => Value::Struct(values),
        })
    }

    /// Returns a copy that shares nothing with this value.
    ///
    /// # Errors
    /// Those of [`DynAny::to_any`].
    pub fn copy(&self) -> Result<Self, DynAnyError> {
        Self::new(&self.to_any()?)
    }
}

/// Compares as CORBA's `equal`: equivalent types and the same value. The current component does not
/// count.
impl PartialEq for DynAny {
    fn eq(&self, other: &Self) -> bool {
        matches!((self.to_any(), other.to_any()), (Ok(one), Ok(another)) if one == another)
    }
}

impl Content {
    fn of(type_code: &TypeCode, value: Value) -> Result<Self, DynAnyError> {
        let original = type_code.original_type();
        let wrong = |_| DynAnyError::InvalidValue;
        let parts = match value {
            Value::Struct(values) => values
                .into_iter()
                .enumerate()
                .map(|(index, value)| {
                    DynAny::of(&original.member_type(index).map_err(wrong)?, value)
                })
                .collect::<Result<_, _>>()?,
            Value::Sequence(values) => {
                let values = values.into_vec().map_err(|_| DynAnyError::InvalidValue)?;
                elements(&original, values)?
            }
            Value::Octets(octets) if kinds::is_octets(&original) => {
                let octets = octets.into_iter().map(Value::Octet);
                elements(&original, octets.collect())?
            }
            Value::Union(union) => union_parts(&original, *union)?,
            Value::Valuetype(Some(value)) => return Ok(Self::Valuetype(value, None)),
            leaf => return Ok(Self::Leaf(leaf)),
        };
        Ok(Self::Parts(parts))
    }
}

fn elements(type_code: &TypeCode, values: Vec<Value>) -> Result<Vec<DynAny>, DynAnyError> {
    let element = type_code
        .content_type()
        .map_err(|_| DynAnyError::InvalidValue)?;
    let values = values.into_iter();
    values.map(|value| DynAny::of(&element, value)).collect()
}

fn union_parts(type_code: &TypeCode, union: UnionValue) -> Result<Vec<DynAny>, DynAnyError> {
    let wrong = |_| DynAnyError::InvalidValue;
    let over = type_code.discriminator_type().map_err(wrong)?;
    let number = union.discriminator;
    let discriminator = kinds::discriminator(type_code, number);
    let mut parts = vec![DynAny::of(
        &over,
        discriminator.ok_or(DynAnyError::InvalidValue)?,
    )?];
    let chosen = type_code.member_chosen(number).map_err(wrong)?;
    if let (Some(index), Some(value)) = (chosen, union.member) {
        let member = type_code.member_type(index).map_err(wrong)?;
        parts.push(DynAny::of(&member, value)?);
    }
    Ok(parts)
}

fn check_type(type_code: &TypeCode) -> Result<(), DynAnyError> {
    let is_local = matches!(
        type_code.original_type().kind(),
        TypeKind::Native | TypeKind::LocalInterface | TypeKind::Home
    );
    if is_local || type_code.check().is_err() {
        return Err(DynAnyError::InconsistentTypeCode);
    }
    Ok(())
}

/// Returns the error for a value that is not valid for a type.
fn mismatch_of(error: CdrError) -> DynAnyError {
    match error {
        CdrError::Invalid(_) => DynAnyError::TypeMismatch,
        _ => DynAnyError::InvalidValue,
    }
}
