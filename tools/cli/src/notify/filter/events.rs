//! Events in files, as `punctual notify pull` prints them.

use crate::call::Problem;
use crate::notify::structured;
use punctual_notification::cos_notification::StructuredEvent;
use serde_json::value::RawValue;
use std::io::Read;
use std::path::Path;

const ON_EVENTS: &str = "a file holds structured events as JSON, one after the other, as `punctual notify pull` prints them";

/// Largest file of events, in bytes.
const LARGEST: u64 = 64 << 20;

/// Returns the events in a file; `-` is the standard input.
pub(super) fn read(path: &Path) -> Result<Vec<StructuredEvent>, Problem> {
    let named = |error: String| format!("{}: {error}", path.display());
    let wrong = |error: String| Problem::usage(named(error), ON_EVENTS);
    let text = text(path).map_err(|error| wrong(error.to_string()))?;
    let mut events = Vec::new();
    for value in serde_json::Deserializer::from_str(&text).into_iter::<&RawValue>() {
        let value = value.map_err(|error| wrong(error.to_string()))?;
        let number = events.len() + 1;
        let event = structured::of_json(value.get());
        events.push(event.map_err(|error| wrong(format!("event {number}: {error}")))?);
    }
    match events.is_empty() {
        true => Err(wrong("there is no event in the file".to_owned())),
        false => Ok(events),
    }
}

fn text(path: &Path) -> std::io::Result<String> {
    let source: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(std::io::stdin()),
        false => Box::new(std::fs::File::open(path)?),
    };
    let mut text = String::new();
    // One byte more tells that the file is larger.
    source.take(LARGEST + 1).read_to_string(&mut text)?;
    match text.len() as u64 > LARGEST {
        true => Err(std::io::Error::other("it has more than 64 MiB")),
        false => Ok(text),
    }
}
