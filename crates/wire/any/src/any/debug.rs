//! Debug output of an Any: its type, and its value as far as it can be decoded.
//!
//! The state of valuetypes is read by the TypeCode, even where generated code exists for it. A
//! graph may contain cycles and be of any size: each value is shown once, and all of them in
//! [`SHOWN`] bytes.

use std::fmt::{self, Write};

use punctual_cdr::ValueRef;

use super::Any;
use super::show_each::show_each;
use crate::value::{DynamicValue, Elements, UnionValue, Value};

/// Upper bound of the bytes of text shown of a value with valuetypes in it.
const SHOWN: usize = 2000;

impl fmt::Debug for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(value) = self.without_generated_code() {
            write!(f, "Any({}: ", self.type_code)?;
            LimitedText::new(f).whole(&value)?;
            return f.write_str(")");
        }
        match self.value() {
            Ok(value) => write!(f, "Any({}: {value:?})", self.type_code),
            Err(why) => write!(f, "Any({}: {why})", self.type_code),
        }
    }
}

impl Any {
    /// Returns the value, if it contains valuetypes and all of them can be read by TypeCodes alone.
    /// A value of a type derived from the TypeCode's, or marshaled by user code, cannot.
    fn without_generated_code(&self) -> Option<Value> {
        let types = self.type_code.arena().shapes().ok()?;
        if !types.shape(self.type_code.at()).holds.has_values() {
            return None;
        }
        let mut plain = self.clone();
        if let Some(body) = &mut plain.body
            && body.environment.is_some()
        {
            std::sync::Arc::make_mut(body).environment = None;
        }
        plain.value().ok()
    }
}

/// Text output of an Any, truncated at a size limit.
struct LimitedText<'w, 'f> {
    out: &'w mut fmt::Formatter<'f>,
    left: usize,
    /// Valuetypes that have been shown or are being shown, so that each is shown once.
    seen: Vec<ValueRef>,
}

impl<'w, 'f> LimitedText<'w, 'f> {
    fn new(out: &'w mut fmt::Formatter<'f>) -> Self {
        Self {
            out,
            left: SHOWN,
            seen: Vec::new(),
        }
    }

    fn whole(&mut self, value: &Value) -> fmt::Result {
        match self.value(value) {
            Err(_) if self.left == 0 => self.out.write_str("…"),
            result => result,
        }
    }

    fn value(&mut self, value: &Value) -> fmt::Result {
        match value {
            Value::Sequence(values) => self.elements(values),
            Value::Struct(values) => self.members(values),
            Value::Union(union) => self.union(union),
            Value::Valuetype(Some(value)) => {
                self.write_str("Valuetype(")?;
                self.valuetype(value)?;
                self.write_str(")")
            }
            value => write!(self, "{value:?}"),
        }
    }

    fn elements(&mut self, values: &Elements) -> fmt::Result {
        self.write_str("Sequence([")?;
        show_each(self, values, Self::value)?;
        self.write_str("])")
    }

    fn members(&mut self, values: &[Value]) -> fmt::Result {
        self.write_str("Struct([")?;
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                self.write_str(", ")?;
            }
            self.value(value)?;
        }
        self.write_str("])")
    }

    fn union(&mut self, union: &UnionValue) -> fmt::Result {
        write!(self, "Union({}", union.discriminator)?;
        if let Some(member) = &union.member {
            self.write_str(": ")?;
            self.value(member)?;
        }
        self.write_str(")")
    }

    /// Shows a value's state; only the type of a value that was shown before.
    fn valuetype(&mut self, value: &ValueRef) -> fmt::Result {
        if self.seen.contains(value) {
            return write!(self, "{} again", value.repository_id());
        }
        self.seen.push(value.clone());
        let taken = DynamicValue::of(value).and_then(|(type_code, members)| {
            let described = DynamicValue::members_of(&type_code).ok()?;
            Some((described, members))
        });
        let Some((described, members)) = taken else {
            return write!(self, "{value:?}");
        };
        write!(self, "{} {{", value.repository_id())?;
        for (at, ((name, _), member)) in described.iter().zip(&members).enumerate() {
            write!(self, "{} {name}: ", if at > 0 { "," } else { "" })?;
            self.value(member)?;
        }
        self.write_str(" }")
    }
}

impl fmt::Write for LimitedText<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() <= self.left {
            self.left -= text.len();
            return self.out.write_str(text);
        }
        let end = text.floor_char_boundary(self.left);
        self.left = 0;
        self.out.write_str(text.get(..end).unwrap_or_default())?;
        Err(fmt::Error)
    }
}
