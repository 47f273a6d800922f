//! Constraints that need a field to have a value, by that value.

use std::collections::HashMap;

use crate::evaluate::{Operand, read};
use crate::event::Event;
use crate::program::{Literal, Path};

/// Value of a field, in a form that equal values share. Some unequal ones do, too: large integers that are the same
/// double.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Text(Box<str>),
    /// Bits of a double.
    Number(u64),
}

impl Value {
    pub(super) fn of(literal: &Literal) -> Self {
        match literal {
            Literal::Text(text) => Self::Text(text.clone()),
            literal => Self::Number(Operand::of(literal).bits().unwrap_or_default()),
        }
    }
}

/// Numbers of the constraints that are kept by a field.
pub(super) struct Field {
    path: Path,
    texts: HashMap<Box<str>, Vec<usize>>,
    numbers: HashMap<u64, Vec<usize>>,
}

impl Field {
    pub(super) fn new(path: Path) -> Self {
        Self {
            path,
            texts: HashMap::new(),
            numbers: HashMap::new(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.numbers.is_empty()
    }

    pub(super) fn count(&self, value: &Value) -> usize {
        let found = match value {
            Value::Text(text) => self.texts.get(text),
            Value::Number(bits) => self.numbers.get(bits),
        };
        found.map_or(0, Vec::len)
    }

    pub(super) fn insert(&mut self, value: &Value, id: usize) {
        match value {
            Value::Text(text) => self.texts.entry(text.clone()).or_default().push(id),
            Value::Number(bits) => self.numbers.entry(*bits).or_default().push(id),
        }
    }

    pub(super) fn remove(&mut self, value: &Value, id: usize) {
        match value {
            Value::Text(text) => {
                if remove_from(self.texts.get_mut(text), id) {
                    self.texts.remove(text);
                }
            }
            Value::Number(bits) => {
                if remove_from(self.numbers.get_mut(bits), id) {
                    self.numbers.remove(bits);
                }
            }
        }
    }

    /// Calls `each` for all constraints whose value the field has in an event.
    pub(super) fn candidates(&self, event: &dyn Event, each: &mut dyn FnMut(&usize)) {
        let Ok(operand) = read(event, &self.path) else {
            return;
        };
        let mut buffer = [0; 4];
        let texts = operand
            .text(&mut buffer)
            .and_then(|text| self.texts.get(text));
        let numbers = operand.bits().and_then(|bits| self.numbers.get(&bits));
        texts.into_iter().flatten().for_each(&mut *each);
        numbers.into_iter().flatten().for_each(each);
    }
}

/// Removes a number from a list; returns whether the list is empty then.
fn remove_from(list: Option<&mut Vec<usize>>, id: usize) -> bool {
    list.is_some_and(|list| {
        list.retain(|other| *other != id);
        list.is_empty()
    })
}
