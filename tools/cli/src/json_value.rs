//! Values on the command line, as JSON in the form of `punctual call`: `{"type": "long", "value": 5}`.

use punctual::any::Value;
use punctual::json::{NoNames, from_json_text};
use punctual::{Any, TypeCode};
use std::str::FromStr;

/// Value of any type.
#[derive(Clone, Debug)]
pub(crate) struct JsonValue(pub(crate) Any);

/// Value with a name before it: `severity={"type": "long", "value": 5}`.
#[derive(Clone, Debug)]
pub(crate) struct NamedValue {
    pub(crate) name: String,
    pub(crate) value: Any,
}

impl FromStr for JsonValue {
    type Err = String;

    fn from_str(json: &str) -> Result<Self, String> {
        let value = from_json_text(&TypeCode::ANY, json, &NoNames);
        match value.map_err(|error| error.to_string())? {
            Value::Any(any) => Ok(Self(*any)),
            _ => Err("the value is none".to_owned()),
        }
    }
}

impl FromStr for NamedValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, json) = text
            .split_once('=')
            .ok_or("expected a name, `=` and a value as JSON")?;
        let JsonValue(value) = json.parse()?;
        let name = name.to_owned();
        Ok(Self { name, value })
    }
}
