//! Enums and fixed-point numbers.

use std::borrow::{Borrow, BorrowMut};

use punctual_any::{TypeKind, Value};
use punctual_cdr::{Decimal, FixedError};

use super::{DynAny, DynAnyError};

/// View of an enum: its operations beyond those of a DynAny. CORBA's `DynEnum`.
#[derive(Debug)]
pub struct DynEnum<D>(D);

/// View of a fixed-point number: its operations beyond those of a DynAny. CORBA's `DynFixed`.
#[derive(Debug)]
pub struct DynFixed<D>(D);

impl DynAny {
    /// Returns a view as an enum, if the value is one.
    #[must_use]
    pub fn as_enum(&self) -> Option<DynEnum<&Self>> {
        (self.kind() == TypeKind::Enum).then_some(DynEnum(self))
    }

    /// Returns a mutable view as an enum, if the value is one.
    #[must_use]
    pub fn as_enum_mut(&mut self) -> Option<DynEnum<&mut Self>> {
        (self.kind() == TypeKind::Enum).then_some(DynEnum(self))
    }

    /// Returns a view as a fixed-point number, if the value is one.
    #[must_use]
    pub fn as_fixed(&self) -> Option<DynFixed<&Self>> {
        (self.kind() == TypeKind::Fixed).then_some(DynFixed(self))
    }

    /// Returns a mutable view as a fixed-point number, if the value is one.
    #[must_use]
    pub fn as_fixed_mut(&mut self) -> Option<DynFixed<&mut Self>> {
        (self.kind() == TypeKind::Fixed).then_some(DynFixed(self))
    }
}

impl<D: Borrow<DynAny>> DynEnum<D> {
    /// Returns the number of the current enumerator.
    ///
    /// # Errors
    /// Never, as every enum has one.
    pub fn as_ulong(&self) -> Result<u32, DynAnyError> {
        match self.0.borrow().to_value()? {
            Value::Enum(number) => Ok(number),
            _ => Err(DynAnyError::TypeMismatch),
        }
    }

    /// Returns the name of the current enumerator; empty if the TypeCode is compact.
    ///
    /// # Errors
    /// Never, as every enum has one.
    pub fn as_string(&self) -> Result<String, DynAnyError> {
        let number = self.as_ulong()? as usize;
        let original = self.0.borrow().type_code.original_type();
        let name = original.member_name(number);
        Ok(name.map_err(|_| DynAnyError::InvalidValue)?.to_owned())
    }
}

impl<D: BorrowMut<DynAny>> DynEnum<D> {
    /// Sets the enumerator by its number.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if there is no such enumerator.
    pub fn set_as_ulong(&mut self, number: u32) -> Result<(), DynAnyError> {
        self.0.borrow_mut().set_value(Value::Enum(number))
    }

    /// Sets the enumerator by its name.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if there is no such enumerator.
    pub fn set_as_string(&mut self, name: &str) -> Result<(), DynAnyError> {
        let original = self.0.borrow().type_code.original_type();
        let number = original.member_index(name);
        let number = number.and_then(|number| u32::try_from(number).ok());
        self.set_as_ulong(number.ok_or(DynAnyError::InvalidValue)?)
    }
}

impl<D: Borrow<DynAny>> DynFixed<D> {
    /// Returns the value as a number.
    ///
    /// # Errors
    /// Never, as every fixed-point value has one.
    pub fn value(&self) -> Result<Decimal, DynAnyError> {
        match self.0.borrow().to_value()? {
            Value::Fixed(number) => Ok(number),
            _ => Err(DynAnyError::TypeMismatch),
        }
    }
}

impl<D: BorrowMut<DynAny>> DynFixed<D> {
    /// Sets the number from a text in IDL's notation. Digits after the decimal point that exceed
    /// the type's scale are cut off; returns `false` if any were.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] for text that is no number; [`DynAnyError::InvalidValue`] for
    /// too many digits before the decimal point.
    pub fn set_value(&mut self, text: &str) -> Result<bool, DynAnyError> {
        let number: Decimal = text.parse().map_err(|error| match error {
            FixedError::NotANumber => DynAnyError::TypeMismatch,
            _ => DynAnyError::InvalidValue,
        })?;
        let this = self.0.borrow_mut();
        let scale = this.type_code.original_type().fixed_scale().unwrap_or(0);
        let cut = number.truncate(scale);
        let cut = cut.map_err(|_| DynAnyError::InvalidValue)?;
        this.set_value(Value::Fixed(cut))?;
        Ok(cut == number)
    }
}
