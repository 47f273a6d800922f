//! Structs and exceptions.

use std::borrow::{Borrow, BorrowMut};

use punctual_any::{Any, TypeKind};

use super::{DynAny, DynAnyError};

/// View of a struct or exception: its operations beyond those of a DynAny. CORBA's `DynStruct`.
#[derive(Debug)]
pub struct DynStruct<D>(D);

impl DynAny {
    /// Returns a view as a struct, if the value is one.
    #[must_use]
    pub fn as_struct(&self) -> Option<DynStruct<&Self>> {
        matches!(self.kind(), TypeKind::Struct | TypeKind::Except).then_some(DynStruct(self))
    }

    /// Returns a mutable view as a struct, if the value is one.
    #[must_use]
    pub fn as_struct_mut(&mut self) -> Option<DynStruct<&mut Self>> {
        matches!(self.kind(), TypeKind::Struct | TypeKind::Except).then_some(DynStruct(self))
    }
}

impl<D: Borrow<DynAny>> DynStruct<D> {
    /// Returns the name of the current member.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if there is none.
    pub fn current_member_name(&self) -> Result<String, DynAnyError> {
        let this = self.0.borrow();
        let current = this.current.ok_or(DynAnyError::InvalidValue)?;
        let original = this.type_code.original_type();
        let name = original.member_name(current);
        Ok(name.map_err(|_| DynAnyError::InvalidValue)?.to_owned())
    }

    /// Returns the kind of the current member.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if there is none.
    pub fn current_member_kind(&self) -> Result<TypeKind, DynAnyError> {
        let this = self.0.borrow();
        let current = this.current.ok_or(DynAnyError::InvalidValue)?;
        let part = this.parts().get(current).ok_or(DynAnyError::InvalidValue)?;
        Ok(part.type_code.kind())
    }

    /// Returns all members by their names.
    ///
    /// # Errors
    /// Those of [`DynAny::to_any`].
    pub fn members(&self) -> Result<Vec<(String, Any)>, DynAnyError> {
        let this = self.0.borrow();
        let original = this.type_code.original_type();
        let parts = this.parts().iter().enumerate();
        parts
            .map(|(index, part)| {
                let name = original.member_name(index).unwrap_or_default();
                Ok((name.to_owned(), part.to_any()?))
            })
            .collect()
    }

    /// Returns the member with the given name.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&DynAny> {
        let this = self.0.borrow();
        let index = this.type_code.original_type().member_index(name)?;
        this.parts().get(index)
    }
}

impl<D: BorrowMut<DynAny>> DynStruct<D> {
    /// Sets the values of all members, in order. An empty name matches any member. The first member
    /// becomes the current one.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if the number differs, and nothing is changed;
    /// [`DynAnyError::TypeMismatch`] for another name or type.
    pub fn set_members(&mut self, members: &[(String, Any)]) -> Result<(), DynAnyError> {
        let this = self.0.borrow_mut();
        let original = this.type_code.original_type();
        let parts = this.parts_mut()?;
        if parts.len() != members.len() {
            return Err(DynAnyError::InvalidValue);
        }
        for (index, (name, any)) in members.iter().enumerate() {
            let own = original.member_name(index).unwrap_or_default();
            let is_own = name.is_empty() || own.is_empty() || name == own;
            let part = parts.get(index).ok_or(DynAnyError::InvalidValue)?;
            if !is_own || !part.type_code.equivalent(any.type_code()) {
                return Err(DynAnyError::TypeMismatch);
            }
        }
        for (part, (_, any)) in parts.iter_mut().zip(members) {
            part.from_any(any)?;
        }
        this.rewind();
        Ok(())
    }

    /// Returns a mutable reference to the member with the given name.
    #[must_use]
    pub fn member_mut(&mut self, name: &str) -> Option<&mut DynAny> {
        let this = self.0.borrow_mut();
        let index = this.type_code.original_type().member_index(name)?;
        this.parts_mut().ok()?.get_mut(index)
    }
}
