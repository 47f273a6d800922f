//! Structs, unions, sequences and arrays.

use punctual_any::{TypeCode, TypeCodeError, TypeKind, UnionValue, Value};
use serde_json::{Map, Value as JsonValue};

use super::super::error::JsonError;
use super::super::near::nearest;
use super::super::{kinds, octets};
use super::Reading;
use super::simple::listed;

type Members = Map<String, JsonValue>;

impl Reading<'_> {
    pub(super) fn structure(
        &mut self,
        type_code: &TypeCode,
        json: &JsonValue,
    ) -> Result<Value, JsonError> {
        let JsonValue::Object(given) = json else {
            return Err(self.wrong(type_code, json));
        };
        let count = type_code.member_count().unwrap_or(0);
        let member = |index| {
            let name = type_code.member_name(index)?.to_owned();
            Ok((name, type_code.member_type(index)?))
        };
        let members: Result<Vec<_>, TypeCodeError> = (0..count).map(member).collect();
        let members = members.map_err(|error| self.error(error.to_string()))?;
        Ok(Value::Struct(self.members(&members, given, &[])?))
    }

    /// The members of a struct or valuetype, by their names. `also` may be there, too.
    pub(super) fn members(
        &mut self,
        members: &[(String, TypeCode)],
        given: &Members,
        also: &[&str],
    ) -> Result<Vec<Value>, JsonError> {
        let names: Vec<&str> = members.iter().map(|(name, _)| name.as_str()).collect();
        for name in given.keys().map(String::as_str) {
            if !names.contains(&name) && !also.contains(&name) {
                let missing = names.iter().copied();
                let missing = missing.filter(|name| !given.contains_key(*name));
                return Err(self.unknown(name, missing, &names));
            }
        }
        let mut values = Vec::with_capacity(members.len());
        for (name, type_code) in members {
            let value = match given.get(name) {
                Some(json) => {
                    self.at(format_args!(".{name}"), |this| this.value(type_code, json))?
                }
                None => self.left_out(name, type_code)?,
            };
            values.push(value);
        }
        Ok(values)
    }

    fn unknown<'n>(
        &mut self,
        name: &str,
        missing: impl Iterator<Item = &'n str>,
        names: &[&str],
    ) -> JsonError {
        let near = nearest(name, missing).or_else(|| nearest(name, names.iter().copied()));
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the members are {}", listed(names)),
        };
        let error = self.at(format_args!(".{name}"), |this| {
            this.error("there is no member of this name")
        });
        error.with_help(Some(help))
    }

    fn left_out(&mut self, name: &str, type_code: &TypeCode) -> Result<Value, JsonError> {
        let original = type_code.original_type();
        if kinds::optional(&original).is_some() {
            return self.value(type_code, &JsonValue::Null);
        }
        let what = super::wanted(type_code);
        Err(self.error(format!("the member `{name}` is missing: {what}")))
    }

    pub(super) fn union(
        &mut self,
        type_code: &TypeCode,
        json: &JsonValue,
    ) -> Result<Value, JsonError> {
        if let Some(of) = kinds::optional(type_code) {
            let member = match json {
                JsonValue::Null => None,
                json => Some(self.value(&of, json)?),
            };
            return Ok(union_of(member.is_some().into(), member));
        }
        let JsonValue::Object(given) = json else {
            return Err(self.wrong(type_code, json));
        };
        let discriminator = given.get("$discriminator");
        let discriminator = discriminator
            .map(|json| self.discriminator(type_code, json))
            .transpose()?;
        let mut others = given.iter().filter(|(name, _)| *name != "$discriminator");
        let (member, more) = (others.next(), others.next());
        if let Some((name, _)) = more {
            return Err(self.error(format!(
                "a union has one member at a time, and `{name}`, too"
            )));
        }
        match member {
            Some((name, json)) => self.union_member(type_code, discriminator, name, json),
            None => match discriminator {
                Some(number) if type_code.member_chosen(number) == Ok(None) => {
                    Ok(union_of(number, None))
                }
                _ => Err(self.error(format!("a member is missing: {}", names(type_code)))),
            },
        }
    }

    fn union_member(
        &mut self,
        type_code: &TypeCode,
        discriminator: Option<i128>,
        name: &str,
        json: &JsonValue,
    ) -> Result<Value, JsonError> {
        let Some(first) = type_code.member_index(name) else {
            let all = all_names(type_code);
            return Err(self.unknown(name, all.iter().copied(), &all));
        };
        let number = match discriminator {
            Some(number) => {
                let chosen = type_code.member_chosen(number).ok().flatten();
                let chosen = chosen.and_then(|index| type_code.member_name(index).ok());
                if chosen != Some(name) {
                    return Err(self.error(format!(
                        "the discriminator chooses {}, not `{name}`",
                        chosen.map_or("no member".to_owned(), |name| format!("`{name}`"))
                    )));
                }
                number
            }
            None => match type_code.member_label(first) {
                Ok(punctual_any::Label::Value(number)) => number,
                _ => self.free_discriminator(type_code, first)?,
            },
        };
        let of = type_code.member_type(first);
        let of = of.map_err(|error| self.error(error.to_string()))?;
        let value = self.at(format_args!(".{name}"), |this| this.value(&of, json))?;
        Ok(union_of(number, Some(value)))
    }

    fn discriminator(&mut self, type_code: &TypeCode, json: &JsonValue) -> Result<i128, JsonError> {
        let of = type_code.discriminator_type();
        let of = of.map_err(|error| self.error(error.to_string()))?;
        self.at(format_args!(".$discriminator"), |this| {
            let value = this.value(&of, json)?;
            kinds::number(&value).ok_or_else(|| this.wrong(&of, json))
        })
    }

    /// A discriminator that no label has.
    fn free_discriminator(&self, type_code: &TypeCode, default: usize) -> Result<i128, JsonError> {
        let is_free = |number: &i128| {
            type_code.member_chosen(*number) == Ok(Some(default))
                && kinds::discriminator(type_code, *number).is_some()
        };
        let count = type_code.member_count().unwrap_or(0) as i128;
        let found = (0..=count).find(is_free);
        found.ok_or_else(|| self.error("a `$discriminator` is needed for the default member"))
    }

    pub(super) fn elements(
        &mut self,
        type_code: &TypeCode,
        json: &JsonValue,
    ) -> Result<Value, JsonError> {
        let element = type_code.content_type();
        let element = element.map_err(|error| self.error(error.to_string()))?;
        let value = match json {
            JsonValue::String(text) if kinds::is_octets(type_code) => {
                let octets = octets::octets(text).map_err(|error| self.error(error))?;
                self.check_count(type_code, octets.len())?;
                return Ok(Value::Octets(octets));
            }
            JsonValue::Object(pairs) => match kinds::map(type_code) {
                Some((key, value)) => return self.map(type_code, &key, &value, pairs),
                None => return Err(self.wrong(type_code, json)),
            },
            JsonValue::Array(elements) => {
                self.check_count(type_code, elements.len())?;
                let mut values = Vec::with_capacity(elements.len());
                for (index, json) in elements.iter().enumerate() {
                    let value =
                        self.at(format_args!("[{index}]"), |this| this.value(&element, json));
                    values.push(value?);
                }
                values
            }
            _ => return Err(self.wrong(type_code, json)),
        };
        Ok(if kinds::is_octets(type_code) {
            let octet = |value| match value {
                Value::Octet(octet) => octet,
                _ => 0,
            };
            Value::Octets(value.into_iter().map(octet).collect())
        } else {
            Value::Sequence(value.into())
        })
    }

    fn check_count(&self, type_code: &TypeCode, count: usize) -> Result<(), JsonError> {
        let length = type_code.length().unwrap_or(0) as usize;
        let wanted = match type_code.kind() {
            TypeKind::Array if count != length => length.to_string(),
            TypeKind::Sequence if length != 0 && count > length => format!("up to {length}"),
            _ => return Ok(()),
        };
        Err(self.error(format!(
            "{wanted} elements are wanted ({type_code}), and these are {count}"
        )))
    }

    fn map(
        &mut self,
        type_code: &TypeCode,
        key_type: &TypeCode,
        value_type: &TypeCode,
        pairs: &Members,
    ) -> Result<Value, JsonError> {
        self.check_count(type_code, pairs.len())?;
        let is_text = matches!(
            key_type.original_type().kind(),
            TypeKind::String | TypeKind::WString | TypeKind::Enum
        );
        let mut values = Vec::with_capacity(pairs.len());
        for (key, json) in pairs {
            let pair = self.at(format_args!(".{key}"), |this| {
                let key = match serde_json::from_str(key) {
                    Ok(number @ JsonValue::Number(_)) if !is_text => number,
                    _ => JsonValue::String(key.clone()),
                };
                let key = this.value(key_type, &key)?;
                Ok(Value::Struct(vec![key, this.value(value_type, json)?]))
            });
            values.push(pair?);
        }
        Ok(Value::Sequence(values.into()))
    }
}

fn union_of(discriminator: i128, member: Option<Value>) -> Value {
    Value::Union(Box::new(UnionValue {
        discriminator,
        member,
    }))
}

fn all_names(type_code: &TypeCode) -> Vec<&str> {
    let count = type_code.member_count().unwrap_or(0);
    let names = (0..count).filter_map(|index| type_code.member_name(index).ok());
    let mut names: Vec<&str> = names.collect();
    names.dedup();
    names
}

fn names(type_code: &TypeCode) -> String {
    listed(&all_names(type_code))
}
