//! Insertion and extraction of values.

use punctual_any::{Any, TypeCode, TypeKind, Typed, Value};
use punctual_cdr::{Marshal, Unmarshal};

use super::{Content, DynAny, DynAnyError, mismatch_of};

impl DynAny {
    /// Inserts a value: into the current component, or into the value itself if it has none
    /// (`insert_long` and the other insertions, those of sequences, too).
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] for a value of another type; [`DynAnyError::InvalidValue`] if
    /// there is no current component, or the value is not valid for the type: text that is too
    /// long, for example.
    pub fn insert<T: Typed + Marshal + ?Sized>(&mut self, value: &T) -> Result<(), DynAnyError> {
        let any = Any::new(value).map_err(|_| DynAnyError::InvalidValue)?;
        let target = self.target()?;
        if !may_stand_for(any.type_code(), &target.type_code) {
            return Err(DynAnyError::TypeMismatch);
        }
        let value = any.value().map_err(|_| DynAnyError::InvalidValue)?;
        target.set_value(value)
    }

    /// Returns the value of the current component, or the value itself if it has none.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] for a value of another type; [`DynAnyError::InvalidValue`] if
    /// there is no current component.
    pub fn get<T: Typed + Unmarshal>(&mut self) -> Result<T, DynAnyError> {
        let target = self.target()?;
        let wanted = T::type_code();
        if !may_stand_for(&wanted, &target.type_code) {
            return Err(DynAnyError::TypeMismatch);
        }
        let any = Any::of_value(&wanted, &target.to_value()?).map_err(mismatch_of)?;
        any.extract().map_err(|_| DynAnyError::TypeMismatch)
    }

    /// Inserts a decomposed value, as [`DynAny::insert`] does.
    ///
    /// # Errors
    /// Those of [`DynAny::insert`].
    pub fn insert_value(&mut self, value: Value) -> Result<(), DynAnyError> {
        self.target()?.set_value(value)
    }

    /// Returns the value that insertions and extractions access: the current component of a
    /// composed value, otherwise the value itself.
    fn target(&mut self) -> Result<&mut Self, DynAnyError> {
        match self.is_composed() && self.component_count() > 0 {
            true => {
                let component = self.current_component()?;
                component.ok_or(DynAnyError::InvalidValue)
            }
            // An empty sequence, for example, has no component to insert into.
            false if self.is_composed() => Err(DynAnyError::InvalidValue),
            false => Ok(self),
        }
    }

    /// Replaces the value, after a check that it is valid for the type.
    pub(super) fn set_value(&mut self, value: Value) -> Result<(), DynAnyError> {
        // Writing the value finds any fault in it.
        Any::of_value(&self.type_code, &value).map_err(mismatch_of)?;
        self.content = Content::of(&self.type_code, value)?;
        self.rewind();
        Ok(())
    }
}

/// Returns whether values of one type may replace those of another: strings are compatible whatever
/// their bounds, as a value that is too long is refused later.
fn may_stand_for(given: &TypeCode, place: &TypeCode) -> bool {
    let (one, other) = (given.original_type().kind(), place.original_type().kind());
    let is_text =
        matches!(one, TypeKind::String) && matches!(other, TypeKind::String | TypeKind::WString);
    let is_reference = one == TypeKind::Objref && other == TypeKind::Objref;
    is_text || is_reference || given.equivalent(place)
}
