//! Values to JSON.

use std::borrow::Cow;
use std::fmt;

use punctual_any::{Any, AnyError, DynamicValue, Elements, TypeCode, TypeKind, UnionValue, Value};
use punctual_cdr::{CdrError, ValueRef};
use serde::Serialize;
use serde::ser::{Error, SerializeMap, SerializeSeq, Serializer};

use super::kinds;
use super::mentions::{DEEPEST, Mentions};
use super::octets::{self, OctetForm};

/// Value of a type, which serializes as JSON with any of serde's formats.
#[derive(Debug)]
pub struct Json<'v> {
    type_code: &'v TypeCode,
    value: &'v Value,
    form: OctetForm,
}

impl<'v> Json<'v> {
    /// Wraps a value for serialization as JSON, with octets as base64.
    #[must_use]
    pub fn new(type_code: &'v TypeCode, value: &'v Value) -> Self {
        Self {
            type_code,
            value,
            form: OctetForm::default(),
        }
    }

    /// Sets the form in which octet sequences are written in JSON.
    #[must_use]
    pub fn octets(mut self, form: OctetForm) -> Self {
        self.form = form;
        self
    }
}

/// Extension trait that converts an Any to JSON text.
pub trait AnyJson {
    /// Returns the value as JSON, with octets as base64: `{"name":"boiler","celsius":81.5}`.
    ///
    /// # Errors
    /// The error of octets that are not a value of the type; [`AnyError::TypeMismatch`] for values
    /// that JSON cannot express.
    fn to_json(&self) -> Result<String, AnyError>;
}

impl AnyJson for Any {
    fn to_json(&self) -> Result<String, AnyError> {
        let value = self.value()?;
        serde_json::to_string(&Json::new(self.type_code(), &value))
            .map_err(|why| AnyError::mismatch(self.type_code(), format_args!("JSON: {why}")))
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let writing = Writing {
            form: self.form,
            mentions: Mentions::default(),
        };
        writing.mentions.find(self.type_code, self.value);
        let part = Part {
            type_code: self.type_code,
            value: self.value,
            path: &Path::Outermost,
            depth: 0,
            writing: &writing,
        };
        part.serialize(serializer)
    }
}

struct Writing {
    form: OctetForm,
    mentions: Mentions,
}

/// Value nested in the value being written as JSON.
struct Part<'v> {
    type_code: &'v TypeCode,
    value: &'v Value,
    path: &'v Path<'v>,
    depth: u16,
    writing: &'v Writing,
}

/// Path from the outermost value to a part, as a chain of steps: it is converted to text only where
/// a valuetype begins.
enum Path<'p> {
    Outermost,
    Member(&'p Path<'p>, &'p str),
    Element(&'p Path<'p>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outermost => Ok(()),
            Self::Member(within, name) => write!(f, "{within}.{name}"),
            Self::Element(within, index) => write!(f, "{within}[{index}]"),
        }
    }
}

/// Wrapper that serializes a value as its `Display` text.
struct AsText<T>(T);

impl<T: fmt::Display> Serialize for AsText<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl Part<'_> {
    fn within<'p>(
        &'p self,
        type_code: &'p TypeCode,
        value: &'p Value,
        path: &'p Path<'p>,
    ) -> Part<'p> {
        Part {
            type_code,
            value,
            path,
            depth: self.depth + 1,
            writing: self.writing,
        }
    }
}

fn broken<E: Error>(_: impl std::fmt::Debug) -> E {
    E::custom("the value is not of its type")
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.depth > DEEPEST {
            return Err(S::Error::custom(format!(
                "values nest deeper than {DEEPEST} levels"
            )));
        }
        if !self.writing.mentions.admits(self.value) {
            return Err(S::Error::custom(
                "too many repeated references to boxed values",
            ));
        }
        let type_code = self.type_code.original_type();
        match self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Boolean(value) => serializer.serialize_bool(*value),
            Value::Octet(value) if kinds::is_int8(self.type_code) => {
                serializer.serialize_i8(i8::from_ne_bytes([*value]))
            }
            Value::Octet(value) => serializer.serialize_u8(*value),
            Value::Short(value) => serializer.serialize_i16(*value),
            Value::UShort(value) => serializer.serialize_u16(*value),
            Value::Long(value) => serializer.serialize_i32(*value),
            Value::ULong(value) => serializer.serialize_u32(*value),
            Value::LongLong(value) => serializer.serialize_i64(*value),
            Value::ULongLong(value) => serializer.serialize_u64(*value),
            Value::Float(value) if value.is_finite() => serializer.serialize_f32(*value),
            Value::Float(value) => not_a_number(f64::from(*value), serializer),
            Value::Double(value) => double(*value, serializer),
            Value::LongDouble(value) => double(value.to_f64(), serializer),
            Value::Fixed(value) => serializer.collect_str(value),
            Value::Char(value) => serializer.serialize_char(char::from(*value)),
            Value::WChar(value) => serializer.serialize_char(*value),
            Value::String(text) => serializer.serialize_str(text),
            Value::Enum(number) => match type_code.member_name(*number as usize) {
                Ok(name) if !name.is_empty() => serializer.serialize_str(name),
                _ => serializer.serialize_u32(*number),
            },
            Value::Octets(all) => match self.writing.form {
                OctetForm::Array => serializer.collect_seq(all),
                form => serializer.serialize_str(&octets::text(all, form)),
            },
            Value::Sequence(values) => self.sequence(&type_code, values, serializer),
            Value::Struct(values) => self.structure(&type_code, values, serializer),
            Value::Union(union) => self.union(&type_code, union, serializer),
            Value::Any(any) => self.any(any, serializer),
            Value::TypeCode(type_code) => serializer.collect_str(type_code),
            Value::Object(None) | Value::Valuetype(None) => serializer.serialize_unit(),
            Value::Object(Some(reference)) => serializer.collect_str(reference),
            Value::Valuetype(Some(value)) => self.valuetype(value, serializer),
        }
    }
}

impl Part<'_> {
    fn sequence<S: Serializer>(
        &self,
        type_code: &TypeCode,
        values: &Elements,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        if let Some((key_type, value_type)) = kinds::map(type_code) {
            let pairs = values.to_vec().map_err(broken)?;
            return self.map(&key_type, &value_type, &pairs, serializer);
        }
        let element = type_code.content_type().map_err(broken)?;
        let mut sequence = serializer.serialize_seq(Some(values.len()))?;
        let mut index = 0;
        let all = values.each(|value| {
            let path = Path::Element(self.path, index);
            index += 1;
            let part = self.within(&element, value, &path);
            sequence.serialize_element(&part).map_err(Ended::Written)
        });
        match all {
            Ok(()) => sequence.end(),
            Err(Ended::Written(error)) => Err(error),
            Err(Ended::Read(error)) => Err(broken(error)),
        }
    }

    fn map<S: Serializer>(
        &self,
        key_type: &TypeCode,
        value_type: &TypeCode,
        pairs: &[Value],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let key_type = key_type.original_type();
        let mut map = serializer.serialize_map(Some(pairs.len()))?;
        for pair in pairs {
            let Value::Struct(pair) = pair else {
                return Err(broken(pair));
            };
            let [key, value] = pair.as_slice() else {
                return Err(broken(pair));
            };
            let key = match (key, kinds::number(key)) {
                (Value::String(text), _) => Cow::Borrowed(text.as_str()),
                (Value::Enum(number), _) => {
                    Cow::Borrowed(key_type.member_name(*number as usize).map_err(broken)?)
                }
                (_, Some(number)) => Cow::Owned(number.to_string()),
                _ => return Err(broken(key)),
            };
            let path = Path::Member(self.path, &key);
            let part = self.within(value_type, value, &path);
            map.serialize_entry(&key, &part)?;
        }
        map.end()
    }

    fn structure<S: Serializer>(
        &self,
        type_code: &TypeCode,
        values: &[Value],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(values.len()))?;
        for (index, value) in values.iter().enumerate() {
            let name = member_name(type_code, index);
            let member = type_code.member_type(index).map_err(broken)?;
            let path = Path::Member(self.path, &name);
            let part = self.within(&member, value, &path);
            members.serialize_entry(&name, &part)?;
        }
        members.end()
    }

    fn union<S: Serializer>(
        &self,
        type_code: &TypeCode,
        union: &UnionValue,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let chosen = type_code
            .member_chosen(union.discriminator)
            .map_err(broken)?;
        if let Some(of) = kinds::optional(type_code) {
            return match &union.member {
                Some(value) => self.within(&of, value, self.path).serialize(serializer),
                None => serializer.serialize_unit(),
            };
        }
        let mut members = serializer.serialize_map(None)?;
        let is_told = chosen.is_some_and(|index| kinds::implies_discriminator(type_code, index));
        if !is_told {
            let of = type_code.discriminator_type().map_err(broken)?;
            let value = kinds::discriminator(type_code, union.discriminator);
            let value = value.ok_or_else(|| broken(union.discriminator))?;
            members.serialize_entry("$discriminator", &self.within(&of, &value, self.path))?;
        }
        if let (Some(index), Some(value)) = (chosen, &union.member) {
            let name = member_name(type_code, index);
            let member = type_code.member_type(index).map_err(broken)?;
            let path = Path::Member(self.path, &name);
            let part = self.within(&member, value, &path);
            members.serialize_entry(&name, &part)?;
        }
        members.end()
    }

    fn any<S: Serializer>(&self, any: &Any, serializer: S) -> Result<S::Ok, S::Error> {
        if any.is_null() {
            return serializer.serialize_unit();
        }
        let value = any.value().map_err(S::Error::custom)?;
        self.writing.mentions.find(any.type_code(), &value);
        let mut members = serializer.serialize_map(Some(2))?;
        members.serialize_entry("type", &AsText(any.type_code()))?;
        let path = Path::Member(self.path, "value");
        members.serialize_entry("value", &self.within(any.type_code(), &value, &path))?;
        members.end()
    }

    fn valuetype<S: Serializer>(&self, value: &ValueRef, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(path) = self.writing.mentions.earlier(value) {
            return serializer.collect_map([("$ref", AsText(path))]);
        }
        let mut serializer = Some(serializer);
        let written = DynamicValue::with_members(value, |type_code, members| {
            let serializer = serializer.take()?;
            Some(match members {
                [boxed] if type_code.kind() == TypeKind::ValueBox => {
                    self.boxed(value, type_code, boxed, serializer)
                }
                members => self.state(value, type_code, members, serializer),
            })
        });
        match (written.flatten(), serializer) {
            (Some(written), _) => written,
            (None, Some(serializer)) => serializer.collect_map([("$type", value.repository_id())]),
            (None, None) => Err(broken(value)),
        }
    }

    /// Writes a boxed value as its contents, at each occurrence.
    fn boxed<S: Serializer>(
        &self,
        value: &ValueRef,
        type_code: &TypeCode,
        boxed: &Value,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let of = type_code.content_type().map_err(broken)?;
        let again = self.writing.mentions.begin_boxed(value);
        let written = self.within(&of, boxed, self.path).serialize(serializer);
        self.writing.mentions.end_boxed(again);
        written
    }

    fn state<S: Serializer>(
        &self,
        value: &ValueRef,
        type_code: &TypeCode,
        members: &[Value],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        self.writing.mentions.begin(value, self.path);
        let types = self.writing.mentions.members_of(type_code);
        let types = types.map_err(S::Error::custom)?;
        let mut map = serializer.serialize_map(Some(members.len() + 1))?;
        map.serialize_entry("$type", &AsText(type_code))?;
        for ((name, member), value) in types.iter().zip(members) {
            let path = Path::Member(self.path, name);
            let part = self.within(member, value, &path);
            map.serialize_entry(name, &part)?;
        }
        map.end()
    }
}

/// Error that ended the iteration over the elements: of the serializer, or of reading an element.
enum Ended<E> {
    Written(E),
    Read(CdrError),
}

impl<E> From<CdrError> for Ended<E> {
    fn from(error: CdrError) -> Self {
        Self::Read(error)
    }
}

/// Returns a member's name, or its number where a compact TypeCode does not have one.
fn member_name(type_code: &TypeCode, index: usize) -> Cow<'_, str> {
    match type_code.member_name(index) {
        Ok(name) if !name.is_empty() => Cow::Borrowed(name),
        _ => Cow::Owned(index.to_string()),
    }
}

fn double<S: Serializer>(value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() {
        serializer.serialize_f64(value)
    } else {
        not_a_number(value, serializer)
    }
}

/// Writes a floating-point value that has no JSON number, as text: NaN or an infinity.
fn not_a_number<S: Serializer>(value: f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    })
}
