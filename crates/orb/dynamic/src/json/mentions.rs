//! Valuetypes that occur more than once in a written value.
//!
//! Most occur once. The value is searched for repeated ones before it is written, so that only the
//! paths of these are recorded.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

use punctual_any::{DynamicValue, TypeCode, TypeKind, Value};
use punctual_cdr::{CdrError, ValueRef};

use super::known::KnownTypes;

/// Upper bound of the nesting of values in JSON: a list of valuetypes may be as long as a message
/// allows.
pub(super) const DEEPEST: u16 = 500;

/// Upper bound of the repeated contents of boxed values, in values and in bytes of text: nested
/// boxes that occur twice each would otherwise take exponential space.
const MOST_REPEATED: usize = 4 << 20;

/// Record of the repeated valuetypes of a value while it is written.
#[derive(Default)]
pub(super) struct Mentions {
    /// Valuetypes that occur more than once, with the paths at which they were written.
    again: RefCell<HashMap<ValueRef, Begun>>,
    known: RefCell<KnownTypes>,
    /// Set while a boxed value is written that has been written before: the amount of such output
    /// is limited.
    is_repeated: Cell<bool>,
    repeated: Cell<usize>,
}

/// Position at which a repeated valuetype was first written.
enum Begun {
    /// Mark of a repeated valuetype that has not been written yet.
    Not,
    At(Rc<str>),
    /// The valuetype is boxed and has no path: its contents are written at each occurrence.
    Boxed,
}

impl Mentions {
    /// Searches a value for repeated valuetypes, before it is written.
    pub(super) fn find(&self, type_code: &TypeCode, value: &Value) {
        if type_code.holds_values() != Ok(false) {
            let mut looking = Looking {
                seen: HashSet::new(),
                boxes: HashSet::new(),
                again: &mut self.again.borrow_mut(),
            };
            looking.value(value, 0);
        }
    }

    /// Returns the path at which a valuetype was written before, if it was.
    pub(super) fn earlier(&self, value: &ValueRef) -> Option<Rc<str>> {
        match self.again.borrow().get(value) {
            Some(Begun::At(path)) => Some(Rc::clone(path)),
            _ => None,
        }
    }

    /// Records that a valuetype is about to be written at a path.
    pub(super) fn begin(&self, value: &ValueRef, path: impl fmt::Display) {
        if let Some(place) = self.again.borrow_mut().get_mut(value) {
            *place = Begun::At(path.to_string().into());
        }
    }

    /// Records that a boxed value is about to be written. Returns whether a repeated boxed value
    /// was being written already, to be passed to [`Mentions::end_boxed`].
    pub(super) fn begin_boxed(&self, value: &ValueRef) -> bool {
        let before = self.is_repeated.get();
        if let Some(place) = self.again.borrow_mut().get_mut(value) {
            let begun = std::mem::replace(place, Begun::Boxed);
            let is_repeated = matches!(begun, Begun::Boxed);
            self.is_repeated.set(before || is_repeated);
        }
        before
    }

    pub(super) fn end_boxed(&self, before: bool) {
        self.is_repeated.set(before);
    }

    /// Returns whether a value may be written: within repeated boxed values, only up to
    /// [`MOST_REPEATED`].
    pub(super) fn admits(&self, value: &Value) -> bool {
        if !self.is_repeated.get() {
            return true;
        }
        let text = match value {
            Value::String(text) => text.len(),
            Value::Octets(octets) => octets.len(),
            _ => 0,
        };
        let repeated = self.repeated.get().saturating_add(text + 1);
        self.repeated.set(repeated);
        repeated <= MOST_REPEATED
    }

    /// Returns the members of a valuetype's type, as [`DynamicValue::members_of`] does, from the
    /// cache if they are there.
    pub(super) fn members_of(
        &self,
        type_code: &TypeCode,
    ) -> Result<Rc<[(String, TypeCode)]>, CdrError> {
        let mut known = self.known.borrow_mut();
        Ok(Rc::clone(&known.latest(type_code)?.members))
    }
}

struct Looking<'m> {
    seen: HashSet<ValueRef>,
    boxes: HashSet<ValueRef>,
    again: &'m mut HashMap<ValueRef, Begun>,
}

impl Looking<'_> {
    /// Visits a value and its parts, down to the depth to which they will be written.
    fn value(&mut self, value: &Value, depth: u16) {
        if depth > DEEPEST {
            return;
        }
        match value {
            Value::Struct(values) => self.values(values, depth),
            Value::Sequence(values) => {
                // Elements of simple types contain no valuetypes.
                let _ = values.each(|value| {
                    self.value(value, depth + 1);
                    if may_hold_others(value) {
                        return Ok(());
                    }
                    Err(CdrError::Invalid("there are none"))
                });
            }
            Value::Union(union) => {
                if let Some(member) = &union.member {
                    self.value(member, depth + 1);
                }
            }
            Value::Valuetype(Some(value)) => self.valuetype(value, depth),
            _ => {}
        }
    }

    fn values(&mut self, values: &[Value], depth: u16) {
        for value in values {
            self.value(value, depth + 1);
        }
    }

    fn valuetype(&mut self, value: &ValueRef, depth: u16) {
        if !self.seen.insert(value.clone()) {
            let is_second = self.again.insert(value.clone(), Begun::Not).is_none();
            // A boxed value is written each time: its contents occur again with it.
            if !is_second || !self.boxes.contains(value) {
                return;
            }
        }
        // Values of generated code are written without their state.
        DynamicValue::with_members(value, |type_code, members| {
            if type_code.kind() == TypeKind::ValueBox {
                self.boxes.insert(value.clone());
            }
            self.values(members, depth);
        });
    }
}

fn may_hold_others(value: &Value) -> bool {
    matches!(
        value,
        Value::Sequence(_)
            | Value::Struct(_)
            | Value::Union(_)
            | Value::Valuetype(_)
            | Value::Object(_)
    )
}
