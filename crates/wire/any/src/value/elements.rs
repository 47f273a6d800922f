//! The elements of a sequence or array, as values or still as octets.

use std::fmt;
use std::sync::Arc;

use punctual_cdr::{CdrError, Graph, HoldsValues};

use super::Value;
use crate::any::Body;
use crate::type_code::TypeCode;
use crate::walk::{self, Fate};

/// The elements of a sequence or array.
///
/// Those that were read are octets until they are looked at: a `boolean` is one octet on the wire and 32 as a
/// [`Value`]. They are checked when they are read, and taken apart one after the other by [`Elements::each`], or all
/// at once by [`Elements::to_vec`]. A few that come in a message are values at once, and so is what holds valuetypes, also in Anys,
/// as these may be shared.
///
/// Octets live in the Any that they were read from, or in a copy: as long as the last of its elements does. Sequences in
/// sequences are passed over once for each level that they are looked at.
#[derive(Clone)]
pub struct Elements(Form);

#[derive(Clone)]
enum Form {
    Values(Vec<Value>),
    Octets(Box<Octets>),
}

/// Octets of an Any, which live as long as the last of its elements does.
#[derive(Clone)]
struct Octets {
    /// The type of each element.
    element: TypeCode,
    body: Arc<Body>,
    /// Where the first one begins, its padding included.
    at: usize,
    length: usize,
}

impl Elements {
    /// Elements of octets that were checked.
    pub(crate) fn of_octets(element: TypeCode, body: &Arc<Body>, at: usize, length: usize) -> Self {
        Self(Form::Octets(Box::new(Octets {
            element,
            body: Arc::clone(body),
            at,
            length,
        })))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Values(values) => values.len(),
            Form::Octets(octets) => octets.length,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Shows each element to `look`, in order, until that fails. No more than two are taken apart at a time.
    ///
    /// # Errors
    /// That of `look`; nothing is wrong with octets that were checked.
    pub fn each<E: From<CdrError>>(
        &self,
        mut look: impl FnMut(&Value) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.0 {
            Form::Values(values) => values.iter().try_for_each(look),
            Form::Octets(octets) => {
                // A long type that the next one shares is not made again as long as this one is here.
                let mut last = Value::Null;
                octets.each(Fate::Dropped, |value| {
                    look(&value)?;
                    last = value;
                    Ok(())
                })
            }
        }
    }

    /// All of them, taken apart.
    ///
    /// # Errors
    /// [`CdrError::LengthOverLimit`] if they are more values than four for each octet of the Any that they stand in.
    pub fn to_vec(&self) -> Result<Vec<Value>, CdrError> {
        match &self.0 {
            Form::Values(values) => Ok(values.clone()),
            Form::Octets(octets) => octets.to_vec(),
        }
    }

    /// All of them, taken apart, without a copy of what is here as values.
    ///
    /// # Errors
    /// As those of [`Elements::to_vec`].
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
        fate: Fate,
        look: impl FnMut(Value) -> Result<(), E>,
    ) -> Result<(), E> {
        let (element, body) = (&self.element, &self.body);
        body.read(self.at, |input| {
            walk::read_each(element, (self.length, fate), body, input, look)
        })
    }

    /// The element that begins at `at`, which is then where it ends: nothing in it depends on what comes before.
    fn next(&self, at: &mut usize) -> Result<Value, CdrError> {
        let (element, body) = (&self.element, &self.body);
        let mut next = Value::Null;
        body.read(*at, |input| {
            walk::read_each(element, (1, Fate::Dropped), body, input, |value| {
                next = value;
                Ok::<(), CdrError>(())
            })?;
            *at = input.position();
            Ok(next)
        })
    }

    fn to_vec(&self) -> Result<Vec<Value>, CdrError> {
        let mut values = Vec::with_capacity(self.length);
        self.each(Fate::Kept, |value| {
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

/// As many, and each equal to that in its place.
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
