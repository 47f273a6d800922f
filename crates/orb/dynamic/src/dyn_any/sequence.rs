//! Sequences and arrays.

use std::borrow::{Borrow, BorrowMut};

use punctual_any::{Any, TypeKind};

use super::{DynAny, DynAnyError};

/// View of a sequence or array: its operations beyond those of a DynAny. CORBA's `DynSequence` and
/// `DynArray`.
#[derive(Debug)]
pub struct DynSequence<D>(D);

impl DynAny {
    /// Returns a view as a sequence or array, if the value is one.
    #[must_use]
    pub fn as_sequence(&self) -> Option<DynSequence<&Self>> {
        matches!(self.kind(), TypeKind::Sequence | TypeKind::Array).then_some(DynSequence(self))
    }

    /// Returns a mutable view as a sequence or array, if the value is one.
    #[must_use]
    pub fn as_sequence_mut(&mut self) -> Option<DynSequence<&mut Self>> {
        matches!(self.kind(), TypeKind::Sequence | TypeKind::Array).then_some(DynSequence(self))
    }
}

impl<D: Borrow<DynAny>> DynSequence<D> {
    /// Returns the number of elements of the sequence.
    #[must_use]
    pub fn length(&self) -> usize {
        self.0.borrow().parts().len()
    }

    /// Returns the element at the given index, or `None` beyond the end.
    #[must_use]
    pub fn element(&self, index: usize) -> Option<&DynAny> {
        self.0.borrow().parts().get(index)
    }

    /// Returns all elements.
    ///
    /// # Errors
    /// Those of [`DynAny::to_any`].
    pub fn elements(&self) -> Result<Vec<Any>, DynAnyError> {
        let parts = self.0.borrow().parts().iter();
        parts.map(DynAny::to_any).collect()
    }
}

impl<D: BorrowMut<DynAny>> DynSequence<D> {
    /// Makes the sequence longer, by initial values of its element type, or shorter. The current
    /// element stays current if it still exists; if there was none, the first new element becomes
    /// the current one.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] for a length above the bound or above 16 million elements, and
    /// for an array if the length differs from its own.
    pub fn set_length(&mut self, length: usize) -> Result<(), DynAnyError> {
        let this = self.0.borrow_mut();
        check_length(this, length)?;
        let before = this.component_count();
        let element = this.type_code.original_type().content_type();
        let element = element.map_err(|_| DynAnyError::InvalidValue)?;
        let parts = this.parts_mut()?;
        parts.truncate(length);
        while parts.len() < length {
            parts.push(DynAny::of_type(&element)?);
        }
        match this.current {
            Some(current) => this.seek(current),
            None => this.seek(before),
        };
        Ok(())
    }

    /// Replaces all elements. The first one becomes the current one.
    ///
    /// # Errors
    /// [`DynAnyError::InvalidValue`] as for [`DynSequence::set_length`];
    /// [`DynAnyError::TypeMismatch`] for an element of another type. Nothing is changed then.
    pub fn set_elements(&mut self, elements: &[Any]) -> Result<(), DynAnyError> {
        let this = self.0.borrow_mut();
        check_length(this, elements.len())?;
        let element = this.type_code.original_type().content_type();
        let element = element.map_err(|_| DynAnyError::InvalidValue)?;
        let made = elements.iter().map(|any| {
            if !element.equivalent(any.type_code()) {
                return Err(DynAnyError::TypeMismatch);
            }
            let value = any.value().map_err(|_| DynAnyError::InvalidValue)?;
            DynAny::of(&element, value)
        });
        let made = made.collect::<Result<Vec<_>, _>>()?;
        *this.parts_mut()? = made;
        this.rewind();
        Ok(())
    }

    /// Returns a mutable reference to the element at the given index, or `None` beyond the end.
    #[must_use]
    pub fn element_mut(&mut self, index: usize) -> Option<&mut DynAny> {
        self.0.borrow_mut().parts_mut().ok()?.get_mut(index)
    }
}

/// Upper bound of the number of elements of a decomposed sequence.
const MOST: usize = 1 << 24;

fn check_length(this: &DynAny, length: usize) -> Result<(), DynAnyError> {
    let original = this.type_code.original_type();
    let bound = original.length().unwrap_or(0) as usize;
    let is_allowed = match original.kind() {
        TypeKind::Array => length == bound,
        _ => length <= MOST && (bound == 0 || length <= bound),
    };
    is_allowed.then_some(()).ok_or(DynAnyError::InvalidValue)
}
