//! Components of a DynAny, and navigation to the current one.

use punctual_any::{DynamicValue, TypeKind};

use super::{Content, DynAny, DynAnyError};

impl DynAny {
    /// Returns the number of components: members, elements, 1 or 2 for a union; 0 for a value that
    /// is not composed, and for a valuetype that is null.
    #[must_use]
    pub fn component_count(&self) -> usize {
        match &self.content {
            Content::Leaf(_) => 0,
            Content::Parts(parts) | Content::Valuetype(_, Some(parts)) => parts.len(),
            Content::Valuetype(value, None) => {
                DynamicValue::of(value).map_or(0, |(_, members)| members.len())
            }
        }
    }

    /// Makes the component with this index the current one. If there is none with the index, no
    /// component is current afterwards, and this returns `false`.
    pub fn seek(&mut self, index: usize) -> bool {
        let is_there = index < self.component_count();
        self.current = is_there.then_some(index);
        is_there
    }

    /// Makes the first component of the DynAny the current one.
    pub fn rewind(&mut self) {
        self.seek(0);
    }

    /// Makes the next component the current one, or the first if there is no current one. After the
    /// last one, returns `false`, and no component is current.
    #[expect(clippy::should_implement_trait, reason = "it is CORBA's name for it")]
    pub fn next(&mut self) -> bool {
        self.seek(self.current.map_or(0, |current| current + 1))
    }

    /// Returns the index of the current component; `None` if there is no current one.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        self.current
    }

    /// Returns the current component, for reading or writing; `None` if there is none.
    ///
    /// # Errors
    /// [`DynAnyError::TypeMismatch`] for a type that has no components.
    pub fn current_component(&mut self) -> Result<Option<&mut Self>, DynAnyError> {
        if !self.is_composed() {
            return Err(DynAnyError::TypeMismatch);
        }
        let Some(current) = self.current else {
            return Ok(None);
        };
        Ok(self.parts_mut()?.get_mut(current))
    }

    /// Returns whether values of this type have components in general, even if this value has none.
    pub(super) fn is_composed(&self) -> bool {
        matches!(
            self.kind(),
            TypeKind::Struct
                | TypeKind::Except
                | TypeKind::Union
                | TypeKind::Sequence
                | TypeKind::Array
                | TypeKind::Value
                | TypeKind::ValueBox
                | TypeKind::Event
        )
    }

    /// Returns the components; those of a valuetype are decomposed on demand.
    pub(super) fn parts_mut(&mut self) -> Result<&mut Vec<Self>, DynAnyError> {
        match &mut self.content {
            Content::Leaf(_) => Err(DynAnyError::InvalidValue),
            Content::Parts(parts) => Ok(parts),
            Content::Valuetype(value, parts) => {
                if parts.is_none() {
                    let (own, members) =
                        DynamicValue::of(value).ok_or(DynAnyError::InvalidValue)?;
                    let types = DynamicValue::members_of(&own);
                    let types = types.map_err(|_| DynAnyError::InvalidValue)?;
                    let pairs = types.iter().zip(members);
                    let taken: Result<_, _> = pairs
                        .map(|((_, type_code), value)| Self::of(type_code, value))
                        .collect();
                    *parts = Some(taken?);
                }
                parts.as_mut().ok_or(DynAnyError::InvalidValue)
            }
        }
    }

    /// Returns the components of the DynAny that have been decomposed.
    pub(super) fn parts(&self) -> &[Self] {
        match &self.content {
            Content::Parts(parts) | Content::Valuetype(_, Some(parts)) => parts,
            _ => &[],
        }
    }
}
