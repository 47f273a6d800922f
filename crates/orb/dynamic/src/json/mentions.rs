//! Which valuetypes are mentioned more than once in what is written.
//!
//! Most are not. They are looked for before anything is written, so that no place is noted but theirs.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

use punctual_any::{DynamicValue, TypeCode, TypeKind, Value};
use punctual_cdr::{CdrError, ValueRef};

use super::known::KnownTypes;

/// How deep values nest in JSON: a list of valuetypes may be as long as a message allows.
pub(super) const DEEPEST: u16 = 500;

/// How much may be written of boxed values beyond the first time that each is mentioned, in values and in bytes of
/// text: boxes in boxes that are mentioned twice each would be written without end.
const MOST_REPEATED: usize = 4 << 20;

/// What is kept of valuetypes while a value is written.
#[derive(Default)]
pub(super) struct Mentions {
    /// Those that are mentioned again.
    again: RefCell<HashMap<ValueRef, Begun>>,
    known: RefCell<KnownTypes>,
    /// Whether a boxed value is written that was before, and how much of such ones.
    is_repeated: Cell<bool>,
    repeated: Cell<usize>,
}

/// Where a valuetype began that is mentioned again.
enum Begun {
    /// It is not written yet.
    Not,
    At(Rc<str>),
    /// It has no place of its own.
    Boxed,
}

impl Mentions {
    /// Looks for those in a value, before that is written.
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

    /// Where a valuetype was begun before.
    pub(super) fn earlier(&self, value: &ValueRef) -> Option<Rc<str>> {
        match self.again.borrow().get(value) {
            Some(Begun::At(path)) => Some(Rc::clone(path)),
            _ => None,
        }
    }

    /// A valuetype is about to be written at a place.
    pub(super) fn begin(&self, value: &ValueRef, path: impl fmt::Display) {
        if let Some(place) = self.again.borrow_mut().get_mut(value) {
            *place = Begun::At(path.to_string().into());
        }
    }

    /// A boxed value is about to be written. What was true before is for [`Mentions::end_boxed`].
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

    /// Whether this value may be written, too.
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

    /// As [`DynamicValue::members_of`].
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
    /// As deep as it will be written.
    fn value(&mut self, value: &Value, depth: u16) {
        if depth > DEEPEST {
            return;
        }
        match value {
            Value::Struct(values) => self.values(values, depth),
            Value::Sequence(values) => {
                // Those of simple types hold none.
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
            // A boxed value is written each time: what it holds is mentioned again with it.
            if !is_second || !self.boxes.contains(value) {
                return;
            }
        }
        // What generated code owns is written without its state.
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
