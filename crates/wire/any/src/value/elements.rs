//! Access to the elements of a sequence or array, decoded or still encoded.

use std::fmt;
use std::sync::Arc;

use punctual_cdr::{CdrError, Graph, HoldsValues};

use super::{Elements, Form, Octets, Value};
use crate::any::Body;
use crate::type_code::TypeCode;
use crate::walk::{self, ElementUse};

impl Elements {
    /// Makes elements that are decoded on demand from an encoding checked before.
    pub(crate) fn of_octets(element: TypeCode, body: &Arc<Body>, at: usize, length: usize) -> Self {
        Self(Form::Octets(Box::new(Octets {
            element,
            body: Arc::clone(body),
            at,
            length,
        })))
    }

    /// Returns the number of elements in the sequence or array.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Values(values) => values.len(),
            Form::Octets(octets) => octets.length,
        }
    }

    /// Returns whether the sequence or array has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `look` with each element, in order, until it fails. At most two are decoded at a time.
    ///
    /// # Errors
    /// That of `look`; the encoding has been checked.
    pub fn each<E: From<CdrError>>(
        &self,
        mut look: impl FnMut(&Value) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.0 {
            Form::Values(values) => values.iter().try_for_each(look),
            Form::Octets(octets) => {
                // Kept, so that a long type that the next element shares is not decoded again.
                let mut last = Value::Null;
                octets.each(ElementUse::Dropped, |value| {
                    look(&value)?;
                    last = value;
                    Ok(())
                })
            }
        }
    }

    /// Decodes all elements.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`] if they are more values than four for each byte of the Any
    /// that holds them.
    pub fn to_vec(&self) -> Result<Vec<Value>, CdrError> {
        match &self.0 {
            Form::Values(values) => Ok(values.clone()),
            Form::Octets(octets) => octets.to_vec(),
        }
    }

    /// Decodes all elements, without copying those already decoded.
    ///
    /// # Errors
    /// As [`Elements::to_vec`].
    pub fn into_vec(self) -> Result<Vec<Value>, CdrError> {
        match self.0 {
            Form::Values(values) => Ok(values),
            Form::Octets(octets) => octets.to_vec(),
        }
    }
}

impl Octets {
    fn each<E: From<CdrError>>(
        &self,
        element_use: ElementUse,
        look: impl FnMut(Value) -> Result<(), E>,
    ) -> Result<(), E> {
        let (element, body) = (&self.element, &self.body);
        body.read(self.at, |input| {
            walk::read_each(element, (self.length, element_use), body, input, look)
        })
    }

    /// Decodes the element that begins at `at` and moves `at` to its end: nothing in it depends on
    /// earlier elements.
    fn next(&self, at: &mut usize) -> Result<Value, CdrError> {
        let (element, body) = (&self.element, &self.body);
        let mut next = Value::Null;
        body.read(*at, |input| {
            walk::read_each(element, (1, ElementUse::Dropped), body, input, |value| {
                next = value;
                Ok::<(), CdrError>(())
            })?;
            *at = input.position();
            Ok(next)
        })
    }

    fn to_vec(&self) -> Result<Vec<Value>, CdrError> {
        let mut values = Vec::with_capacity(self.length);
        self.each(ElementUse::Kept, |value| {
            values.push(value);
            Ok::<(), CdrError>(())
        })?;
        Ok(values)
    }
}

impl Default for Elements {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl From<Vec<Value>> for Elements {
    fn from(values: Vec<Value>) -> Self {
        Self(Form::Values(values))
    }
}

impl FromIterator<Value> for Elements {
    fn from_iter<I: IntoIterator<Item = Value>>(values: I) -> Self {
        Vec::from_iter(values).into()
    }
}

/// Compares numbers of elements, and the elements one by one.
impl PartialEq for Elements {
    fn eq(&self, other: &Self) -> bool {
        if self.len() != other.len() {
            return false;
        }
        let mut count = 0;
        let mut at = match &other.0 {
            Form::Values(_) => 0,
            Form::Octets(octets) => octets.at,
        };
        let all = self.each(|value| {
            let is_equal = match &other.0 {
                Form::Values(others) => others.get(count) == Some(value),
                Form::Octets(octets) => octets.next(&mut at)? == *value,
            };
            count += 1;
            is_equal.then_some(()).ok_or(Unequal)
        });
        all.is_ok()
    }
}

struct Unequal;

impl From<CdrError> for Unequal {
    fn from(_: CdrError) -> Self {
        Self
    }
}

impl fmt::Debug for Elements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_list();
        let all = self.each(|value| {
            list.entry(value);
            Ok::<(), CdrError>(())
        });
        if let Err(why) = all {
            list.entry(&why);
        }
        list.finish()
    }
}

impl HoldsValues for Elements {
    fn adopt(&mut self, graph: &Graph) {
        if let Form::Values(values) = &mut self.0 {
            values.adopt(graph);
        }
    }
}
