//! Unions.

use std::borrow::{Borrow, BorrowMut};

use punctual_any::{TypeCode, TypeKind, Value};

use super::{Content, DynAny, DynAnyError};
use crate::json::kinds;

/// View of a union: its operations beyond those of a DynAny. CORBA's `DynUnion`.
///
/// Its first component is the discriminator; the second is the member, if there is one.
#[derive(Debug)]
pub struct DynUnion<D>(D);

impl DynAny {
    /// Returns a view as a union, if the value is one.
    #[must_use]
    pub fn as_union(&self) -> Option<DynUnion<&Self>> {
        (self.kind() == TypeKind::Union).then_some(DynUnion(self))
    }

    /// Returns a mutable view as a union, if the value is one.
    #[must_use]
    pub fn as_union_mut(&mut self) -> Option<DynUnion<&mut Self>> {
        (self.kind() == TypeKind::Union).then_some(DynUnion(self))
    }
}

impl<D: Borrow<DynAny>> DynUnion<D> {
    fn original(&self) -> TypeCode {
        self.0.borrow().type_code.original_type()
    }

    /// Returns the discriminator.
    ///
    /// # Errors
    /// Never, as every union has one.
    pub fn discriminator(&self) -> Result<&DynAny, DynAnyError> {
        self.0
            .borrow()
            .parts()
            .first()
            .ok_or(DynAnyError::InvalidValue)
    }

    /// Returns the type kind of the union's discriminator.
    #[must_use]
    pub fn discriminator_kind(&self) -> TypeKind {
        let over = self.original().discriminator_type();
        over.map_or(TypeKind::Null, |over| over.original_type().kind())
    }

    fn number(&self) -> Result<i128, DynAnyError> {
        let value = self.discriminator()?.to_value()?;
        kinds::number(&value).ok_or(DynAnyError::InvalidValue)
    }

    /// Returns the index, in the union's type, of the active member.
    fn active(&self) -> Option<usize> {
        let number = self.number().ok()?;
        self.original().member_chosen(number).ok()?
    }

    /// Returns whether no member is active, as the discriminator selects none.
    #[must_use]
    pub fn has_no_active_member(&self) -> bool {
        self.active().is_none()
    }

    /// Returns whether the type has an explicit default member, and it is active.
    #[must_use]
    pub fn is_set_to_default_member(&self) -> bool {
        let default = self.original().default_index().ok().flatten();
        default.is_some() && self.active() == default
    }

    /// Returns the active member.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if there is none.
    pub fn member(&self) -> Result<&DynAny, DynAnyError> {
        self.0
            .borrow()
            .parts()
            .get(1)
            .ok_or(DynAnyError::InvalidValue)
    }

    /// Returns the name of the active member.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if there is none.
    pub fn member_name(&self) -> Result<String, DynAnyError> {
        let active = self.active().ok_or(DynAnyError::InvalidValue)?;
        let original = self.original();
        let name = original.member_name(active);
        Ok(name.map_err(|_| DynAnyError::InvalidValue)?.to_owned())
    }

    /// Returns the kind of the active member.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if there is none.
    pub fn member_kind(&self) -> Result<TypeKind, DynAnyError> {
        Ok(self.member()?.type_code.kind())
    }
}

impl<D: BorrowMut<DynAny>> DynUnion<D> {
    /// Sets the discriminator. The active member stays if it is still selected; another one begins
    /// with the initial value of its type. The member, if there is one, becomes the current
    /// component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] for a value of another type.
    pub fn set_discriminator(&mut self, value: &DynAny) -> Result<(), DynAnyError> {
        let over = self.original().discriminator_type();
        let over = over.map_err(|_| DynAnyError::TypeMismatch)?;
        if !over.equivalent(&value.type_code) {
            return Err(DynAnyError::TypeMismatch);
        }
        let number = kinds::number(&value.to_value()?).ok_or(DynAnyError::TypeMismatch)?;
        self.choose(number)?;
        let this = self.0.borrow_mut();
        let last = this.component_count() - 1;
        this.seek(last);
        Ok(())
    }

    /// Sets the discriminator to a value that selects the default member. The discriminator becomes
    /// the current component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if the type has no explicit default member.
    pub fn set_to_default_member(&mut self) -> Result<(), DynAnyError> {
        let default = self.original().default_index().ok().flatten();
        let default = default.ok_or(DynAnyError::TypeMismatch)?;
        self.select_unlabelled(Some(default))
    }

    /// Sets the discriminator to a value that selects no member. The discriminator becomes the
    /// current component.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] if each value selects one.
    pub fn set_to_no_active_member(&mut self) -> Result<(), DynAnyError> {
        self.select_unlabelled(None)
    }

    /// Returns the active member for writing.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] if there is none.
    pub fn member_mut(&mut self) -> Result<&mut DynAny, DynAnyError> {
        let parts = self.0.borrow_mut().parts_mut()?;
        parts.get_mut(1).ok_or(DynAnyError::InvalidValue)
    }

    /// Sets the discriminator to the first value that selects the wanted member (or no member) and
    /// is not a label of another one.
    fn select_unlabelled(&mut self, wanted: Option<usize>) -> Result<(), DynAnyError> {
        let original = self.original();
        let over = original.discriminator_type();
        let over = over.map_err(|_| DynAnyError::TypeMismatch)?.original_type();
        let labels = original.member_count().unwrap_or(0) as i128;
        // An enum has only its own values; of other types one more than there are labels is enough.
        let most = match over.kind() {
            TypeKind::Enum => over.member_count().unwrap_or(0) as i128,
            TypeKind::Boolean => 2,
            _ => labels + 1,
        };
        let is_free = |number: &i128| {
            original.member_chosen(*number) == Ok(wanted)
                && kinds::discriminator(&original, *number).is_some()
        };
        let found = (0..most).find(is_free).ok_or(DynAnyError::TypeMismatch)?;
        self.choose(found)?;
        self.0.borrow_mut().rewind();
        Ok(())
    }

    fn choose(&mut self, number: i128) -> Result<(), DynAnyError> {
        let original = self.original();
        let before = self.active();
        let chosen = original.member_chosen(number);
        let chosen = chosen.map_err(|_| DynAnyError::TypeMismatch)?;
        let same =
            |one: usize, other: usize| original.member_name(one) == original.member_name(other);
        let stays = matches!((before, chosen), (Some(one), Some(other)) if same(one, other));
        let discriminator = kinds::discriminator(&original, number);
        let discriminator: Value = discriminator.ok_or(DynAnyError::TypeMismatch)?;
        let over = original.discriminator_type();
        let over = over.map_err(|_| DynAnyError::TypeMismatch)?;
        let mut parts = vec![DynAny::of(&over, discriminator)?];
        let this = self.0.borrow_mut();
        if let Some(index) = chosen {
            let of = original.member_type(index);
            let of = of.map_err(|_| DynAnyError::TypeMismatch)?;
            let kept = this.parts_mut()?.get_mut(1).filter(|_| stays);
            parts.push(match kept {
                Some(member) => std::mem::replace(member, DynAny::of_type(&TypeCode::NULL)?),
                None => DynAny::of_type(&of)?,
            });
        }
        this.content = Content::Parts(parts);
        Ok(())
    }
}
