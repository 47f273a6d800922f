//! Display of an Any's value in a log: members and enumerators by their names, on one line.

use std::fmt::{self, Write};

use super::Any;
use super::show_each::show_each;
use crate::type_code::TypeCode;
use crate::value::{Elements, Value};

/// Upper bound of the bytes of text shown of a value.
const SHOWN: usize = 2000;

/// Shows the value, as in `{ state: running, bars: 2.5 }`, on one line. Text beyond 2,000 bytes is
/// replaced by `…`. A value that does not match its type is replaced by a description of the error.
impl fmt::Display for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match self.value() {
            Ok(value) => value,
            Err(why) => return write!(f, "({why})"),
        };
        // Valuetypes may be of any size, and cyclic: only Debug shows them, each of them once.
        let types = self.type_code().arena().shapes();
        if types.is_ok_and(|types| types.shape(self.type_code().at()).holds.has_values()) {
            return write!(f, "{self:?}");
        }
        let mut shown = LimitedText {
            out: f,
            left: SHOWN,
        };
        match shown.value(self.type_code(), &value) {
            Err(_) if shown.left == 0 => shown.out.write_str("…"),
            result => result,
        }
    }
}

/// Text output of an Any, truncated at a size limit.
struct LimitedText<'w, 'f> {
    out: &'w mut fmt::Formatter<'f>,
    left: usize,
}

impl LimitedText<'_, '_> {
    fn value(&mut self, type_code: &TypeCode, value: &Value) -> fmt::Result {
        let original = type_code.original_type();
        match value {
            Value::Null => self.write_str("nothing"),
            Value::Boolean(value) => write!(self, "{value}"),
            Value::Octet(value) => write!(self, "{value}"),
            Value::Short(value) => write!(self, "{value}"),
            Value::UShort(value) => write!(self, "{value}"),
            Value::Long(value) => write!(self, "{value}"),
            Value::ULong(value) => write!(self, "{value}"),
            Value::LongLong(value) => write!(self, "{value}"),
            Value::ULongLong(value) => write!(self, "{value}"),
            Value::Float(value) => write!(self, "{value:?}"),
            Value::Double(value) => write!(self, "{value:?}"),
            Value::LongDouble(value) => write!(self, "{value:?}"),
            Value::Fixed(value) => write!(self, "{value}"),
            Value::Char(value) => write!(self, "{:?}", char::from(*value)),
            Value::WChar(value) => write!(self, "{value:?}"),
            Value::String(value) => write!(self, "{value:?}"),
            Value::Enum(number) => match original.member_name(*number as usize) {
                Ok(name) => self.write_str(name),
                Err(_) => write!(self, "{number}"),
            },
            Value::Octets(octets) => self.octets(octets),
            Value::Sequence(values) => {
                let element = original.content_type().unwrap_or_default();
                self.elements(&element, values)
            }
            Value::Struct(values) => self.members(&original, values),
            Value::Union(union) => {
                match (original.member_chosen(union.discriminator), &union.member) {
                    (Ok(Some(index)), Some(member)) => {
                        let name = original.member_name(index).unwrap_or_default();
                        let ty = original.member_type(index).unwrap_or_default();
                        self.list("{ ", " }", [(Some(name), &ty, member)].into_iter())
                    }
                    _ => write!(self, "{{ discriminator: {} }}", union.discriminator),
                }
            }
            Value::Any(any) => write!(self, "{} {any}", any.type_code()),
            Value::TypeCode(value) => write!(self, "{value}"),
            Value::Object(None) | Value::Valuetype(None) => self.write_str("nil"),
            Value::Object(Some(object)) => match object.type_id.is_empty() {
                true => self.write_str("object"),
                false => write!(self, "object of {}", object.type_id),
            },
            Value::Valuetype(Some(value)) => write!(self, "{value:?}"),
        }
    }

    fn members(&mut self, type_code: &TypeCode, values: &[Value]) -> fmt::Result {
        let types: Vec<TypeCode> = (0..values.len())
            .map(|index| type_code.member_type(index).unwrap_or_default())
            .collect();
        let members = values.iter().zip(&types).enumerate();
        let members = members.map(|(index, (value, ty))| {
            let name = type_code.member_name(index).unwrap_or_default();
            (Some(name), ty, value)
        });
        match values.is_empty() {
            true => self.write_str("{}"),
            false => self.list("{ ", " }", members),
        }
    }

    fn elements(&mut self, type_code: &TypeCode, values: &Elements) -> fmt::Result {
        self.write_str("[")?;
        show_each(self, values, |this, value| this.value(type_code, value))?;
        self.write_str("]")
    }

    fn list<'v>(
        &mut self,
        open: &str,
        close: &str,
        items: impl Iterator<Item = (Option<&'v str>, &'v TypeCode, &'v Value)>,
    ) -> fmt::Result {
        self.write_str(open)?;
        for (at, (name, type_code, value)) in items.enumerate() {
            if at > 0 {
                self.write_str(", ")?;
            }
            if let Some(name) = name {
                write!(self, "{name}: ")?;
            }
            self.value(type_code, value)?;
        }
        self.write_str(close)
    }

    /// Shows bytes as hexadecimal digits.
    fn octets(&mut self, octets: &[u8]) -> fmt::Result {
        write!(self, "{} octets", octets.len())?;
        for (at, octet) in octets.iter().enumerate() {
            write!(self, "{}{octet:02x}", if at % 4 == 0 { " " } else { "" })?;
        }
        Ok(())
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
