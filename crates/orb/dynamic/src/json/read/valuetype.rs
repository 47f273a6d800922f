//! Valuetypes, which may be mentioned more than once.

use punctual_any::{DynamicValue, TypeCode, TypeKind, Value};
use serde_json::Value as JsonValue;

use super::super::error::JsonError;
use super::Reading;

impl Reading<'_> {
    pub(super) fn valuetype(
        &mut self,
        type_code: &TypeCode,
        json: &JsonValue,
    ) -> Result<Value, JsonError> {
        if json.is_null() {
            return Ok(Value::Valuetype(None));
        }
        if type_code.kind() == TypeKind::ValueBox {
            return self.boxed(type_code, json);
        }
        let JsonValue::Object(given) = json else {
            return Err(self.wrong(type_code, json));
        };
        if let Some(JsonValue::String(path)) = given.get("$ref") {
            let earlier = self.values.get(path).cloned();
            let earlier = earlier.ok_or_else(|| {
                self.error(format!("no valuetype has begun at `{path}` before this"))
            });
            return earlier.map(|value| Value::Valuetype(Some(value)));
        }
        let own = match given.get("$type") {
            Some(JsonValue::String(name)) => self.value_type_named(type_code, name)?,
            Some(other) => {
                return self.at(format_args!(".$type"), |this| {
                    Err(this.wrong(&TypeCode::TYPE_CODE, other))
                });
            }
            None => type_code.clone(),
        };
        let members = DynamicValue::members_of(&own);
        let members = members.map_err(|error| self.error(error.to_string()))?;
        // It is there before its members are: one of them may be itself.
        let empty = vec![Value::Null; members.len()];
        let value = match &self.graph {
            Some(other) => DynamicValue::create_beside(other, &own, empty),
            None => DynamicValue::create(&own, empty),
        };
        let value = value.map_err(|error| self.error(error.to_string()))?;
        self.graph.get_or_insert_with(|| value.clone());
        self.values.insert(self.path.clone(), value.clone());
        let members = self.members(&members, given, &["$type"])?;
        let assigned = DynamicValue::assign(&value, members);
        assigned.map_err(|error| self.error(error.to_string()))?;
        Ok(Value::Valuetype(Some(value)))
    }

    fn value_type_named(&mut self, formal: &TypeCode, name: &str) -> Result<TypeCode, JsonError> {
        if formal.to_string() == name || formal.id() == Ok(name) {
            return Ok(formal.clone());
        }
        self.at(format_args!(".$type"), |this| {
            let own = this.type_named(name)?.original_type();
            let is_value = matches!(own.kind(), TypeKind::Value | TypeKind::Event);
            let error = || this.error(format!("`{name}` is no valuetype"));
            is_value.then_some(own).ok_or_else(error)
        })
    }

    fn boxed(&mut self, type_code: &TypeCode, json: &JsonValue) -> Result<Value, JsonError> {
        let of = type_code.content_type();
        let of = of.map_err(|error| self.error(error.to_string()))?;
        let content = self.value(&of, json)?;
        let value = DynamicValue::create(type_code, vec![content]);
        let value = value.map_err(|error| self.error(error.to_string()))?;
        Ok(Value::Valuetype(Some(value)))
    }
}
