//! Files of what ran, told apart by their content.

use super::events::Events;
use super::file::{MeasuredOperation, Measurements};
use super::timeline::RecordedTimeline;
use crate::model::MOST_OPERATIONS;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Version of a time line's file that is read.
const VERSION: u32 = 1;

/// What ran, by one of the files that an ORB writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observed {
    /// Distributions of times by operation (`-ORBRecord`).
    Measured(Measurements),
    /// Time line of requests (`-ORBTimeline`, `write_chrome_trace`).
    Timeline(RecordedTimeline),
}

/// Keys of both files.
#[derive(Default)]
struct Keys {
    version: Option<u32>,
    not_recorded: Option<u64>,
    operations: Option<Operations>,
    about: Option<About>,
    events: Option<Events>,
}

/// What a time line's file says about itself.
#[derive(serde::Deserialize)]
struct About {
    #[serde(rename = "punctual_timeline")]
    version: Option<u32>,
    #[serde(default)]
    lost: u64,
    #[serde(default)]
    unnamed: u64,
}

impl<'de> Deserialize<'de> for Observed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OfKeys)
    }
}

struct OfKeys;

impl<'de> Visitor<'de> for OfKeys {
    type Value = Observed;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("measured times, or a time line of requests")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Observed, A::Error> {
        let mut keys = Keys::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "version" => keys.version = Some(map.next_value()?),
                "not_recorded" => keys.not_recorded = Some(map.next_value()?),
                "operations" => keys.operations = Some(map.next_value()?),
                "otherData" => keys.about = Some(map.next_value()?),
                "traceEvents" => keys.events = Some(map.next_value()?),
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        keys.observed()
    }
}

impl Keys {
    fn observed<E: Error>(self) -> Result<Observed, E> {
        let Some(events) = self.events else {
            let version = self.version.ok_or_else(|| E::missing_field("version"))?;
            return Ok(Observed::Measured(Measurements {
                version,
                not_recorded: self
                    .not_recorded
                    .ok_or_else(|| E::missing_field("not_recorded"))?,
                operations: self
                    .operations
                    .ok_or_else(|| E::missing_field("operations"))?
                    .0,
            }));
        };
        match self.about {
            Some(About {
                version: Some(VERSION),
                lost,
                unnamed,
            }) => Ok(Observed::Timeline(RecordedTimeline {
                operations: events.into_operations(),
                unnamed,
                lost,
            })),
            Some(About {
                version: Some(other),
                ..
            }) => Err(E::custom(format_args!(
                "it is a time line of version {other}, and this command reads version {VERSION}"
            ))),
            _ => Err(E::custom(
                "it is the trace of another program (a time line of Punctual has the key `punctual_timeline` in `otherData`)",
            )),
        }
    }
}

/// Measured operations, as many as a model may have.
struct Operations(Vec<MeasuredOperation>);

impl<'de> Deserialize<'de> for Operations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(OfOperations)
    }
}

struct OfOperations;

impl<'de> Visitor<'de> for OfOperations {
    type Value = Operations;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of measured operations")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Operations, A::Error> {
        let mut operations = Vec::new();
        while let Some(operation) = sequence.next_element()? {
            if operations.len() >= MOST_OPERATIONS {
                return Err(A::Error::custom("more than 100,000 operations"));
            }
            operations.push(operation);
        }
        Ok(Operations(operations))
    }
}
