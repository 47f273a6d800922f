//! Structured events as JSON, in the form of `punctual call`.

use crate::payload;
use punctual::json::{NoNames, from_json_text};
use punctual::{Any, Typed};
use punctual_notification::cos_notification::StructuredEvent;

/// Returns the event that a text describes.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn of_json(text: &str) -> Result<StructuredEvent, String> {
    let type_code = StructuredEvent::type_code();
    let value = from_json_text(&type_code, text, &NoNames).map_err(|error| error.to_string())?;
    let any = Any::of_value(&type_code, &value).map_err(|error| error.to_string())?;
    any.extract().map_err(|error| error.to_string())
}

/// Returns an event as JSON on one line.
///
/// # Errors
/// A value in the event has no form as JSON.
pub(super) fn to_json(event: &StructuredEvent) -> Result<String, String> {
    let any = Any::new(event).map_err(|error| error.to_string())?;
    Ok(payload::json(&any)?.get().to_owned())
}
