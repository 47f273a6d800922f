//! Valuetypes and boxed values.

use std::borrow::{Borrow, BorrowMut};

use punctual_any::{Any, DynamicValue, TypeCode, TypeKind, Value};

use super::{Content, DynAny, DynAnyError};

/// View of a valuetype or boxed value: its operations beyond those of a DynAny. CORBA's `DynValue`
/// and `DynValueBox`.
///
/// Its components are the members, those of its bases first; a boxed value has one.
#[derive(Debug)]
pub struct DynValue<D>(D);

impl DynAny {
    /// Returns a view as a valuetype, if the value is one.
    #[must_use]
    pub fn as_value(&self) -> Option<DynValue<&Self>> {
        self.is_valuetype().then_some(DynValue(self))
    }

    /// Returns a mutable view as a valuetype, if the value is one.
    #[must_use]
    pub fn as_value_mut(&mut self) -> Option<DynValue<&mut Self>> {
        self.is_valuetype().then_some(DynValue(self))
    }

    fn is_valuetype(&self) -> bool {
        matches!(
            self.kind(),
            TypeKind::Value | TypeKind::ValueBox | TypeKind::Event
        )
    }
}

impl<D: Borrow<DynAny>> DynValue<D> {
    /// Returns whether the valuetype value is null.
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self.0.borrow().content, Content::Leaf(_))
    }

    /// Returns the type of the value, which may be derived from the declared type; `None` if it is
    /// null.
    #[must_use]
    pub fn own_type(&self) -> Option<TypeCode> {
        match &self.0.borrow().content {
            Content::Valuetype(value, _) => DynamicValue::of(value).map(|(own, _)| own),
            _ => None,
        }
    }

    /// Returns the name of the current member.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if there is none.
    pub fn current_member_name(&self) -> Result<String, DynAnyError> {
        let current = self.0.borrow().current;
        let own = self.own_type().ok_or(DynAnyError::InvalidValue)?;
        let members = DynamicValue::members_of(&own);
        let members = members.map_err(|_| DynAnyError::InvalidValue)?;
        let member = current.and_then(|current| members.into_iter().nth(current));
        member
            .map(|(name, _)| name)
            .ok_or(DynAnyError::InvalidValue)
    }
}

impl<D: BorrowMut<DynAny>> DynValue<D> {
    /// Sets the valuetype value to null.
    pub fn set_to_null(&mut self) {
        let this = self.0.borrow_mut();
        this.content = Content::Leaf(Value::Valuetype(None));
        this.current = None;
    }

    /// Replaces null by a value whose members have the initial values of their types. A value that
    /// is not null stays unchanged.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] for a type without state of its own: abstract and custom ones.
    pub fn set_to_value(&mut self) -> Result<(), DynAnyError> {
        if !self.is_null() {
            return Ok(());
        }
        let this = self.0.borrow_mut();
        let members = DynamicValue::members_of(&this.type_code);
        let members = members.map_err(|_| DynAnyError::TypeMismatch)?;
        let values: Result<Vec<Value>, _> = members
            .iter()
            .map(|(_, of)| Value::default_of(of))
            .collect();
        let values = values.map_err(|_| DynAnyError::TypeMismatch)?;
        let value = DynamicValue::create(&this.type_code, values);
        let value = value.map_err(|_| DynAnyError::TypeMismatch)?;
        this.content = Content::Valuetype(value, None);
        this.rewind();
        Ok(())
    }

    /// Returns all members by their names.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if it is null; those of [`DynAny::to_any`].
    pub fn members(&mut self) -> Result<Vec<(String, Any)>, DynAnyError> {
        let own = self.own_type().ok_or(DynAnyError::InvalidValue)?;
        let names = DynamicValue::members_of(&own);
        let names = names.map_err(|_| DynAnyError::InvalidValue)?;
        let parts = self.0.borrow_mut().parts_mut()?.iter();
        names
            .into_iter()
            .zip(parts)
            .map(|((name, _), part)| Ok((name, part.to_any()?)))
            .collect()
    }

    /// Sets the values of all members, in order; null becomes a value. An empty name matches any
    /// member.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if the number differs; [`DynAnyError::TypeMismatch`] for
    /// another name or type. Nothing is changed then.
    pub fn set_members(&mut self, members: &[(String, Any)]) -> Result<(), DynAnyError> {
        let own = self.own_type();
        let own = own.unwrap_or_else(|| self.0.borrow().type_code.clone());
        let names = DynamicValue::members_of(&own);
        let names = names.map_err(|_| DynAnyError::TypeMismatch)?;
        if names.len() != members.len() {
            return Err(DynAnyError::InvalidValue);
        }
        for ((name, of), (given, any)) in names.iter().zip(members) {
            let is_own = given.is_empty() || name.is_empty() || given == name;
            if !is_own || !of.equivalent(any.type_code()) {
                return Err(DynAnyError::TypeMismatch);
            }
        }
        self.set_to_value()?;
        let this = self.0.borrow_mut();
        for (part, (_, any)) in this.parts_mut()?.iter_mut().zip(members) {
            part.from_any(any)?;
        }
        this.rewind();
        Ok(())
    }
}
