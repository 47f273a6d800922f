//! Values in traces, a line for each argument and result: for `punctual call -ORBTrace payload`,
//! and `punctual trace`.

use punctual::json::Json;
use punctual::{Any, SystemException};
use serde_json::value::RawValue;

use crate::shown;

/// Formats a value: `payload -> find: string name = "Kiki"`.
pub(crate) fn line(way: &str, operation: &str, name: &str, value: &Any) -> String {
    let json = json(value);
    let shown = json.as_deref().map_or_else(String::as_str, RawValue::get);
    let type_code = shown::peer(value.type_code());
    let (operation, name) = (shown::peer(operation), shown::peer(name));
    let shown = shown::json(shown);
    format!("payload {way} {operation}: {type_code} {name} = {shown}")
}

/// Formats an exception: `payload <- find: TRANSIENT: …`.
pub(crate) fn exception(way: &str, operation: &str, exception: &SystemException) -> String {
    let (operation, exception) = (shown::peer(operation), shown::exception(exception));
    format!("payload {way} {operation}: {exception}")
}

/// Values by name, as a JSON object in this order.
pub(crate) struct Members<'m>(pub(crate) &'m [(&'m str, Box<RawValue>)]);

impl serde::Serialize for Members<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

/// Returns a value as JSON on one line, or its error.
pub(crate) fn json(value: &Any) -> Result<Box<RawValue>, String> {
    let content = value.value().map_err(|error| error.to_string())?;
    serde_json::value::to_raw_value(&Json::new(value.type_code(), &content))
        .map_err(|error| error.to_string())
}
