//! Form of the TOML file: tables and keys, before names are resolved.

use super::Kind;
use super::repeated::{Repeated, repeated};
use super::sources::Sources;
use crate::analysis::blocking::Protocol;
use crate::level::Level;
use crate::time::Time;
use punctual_idl::diagnostic::Diagnostic;
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

/// Whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) strategy: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) lock_protocol: LockProtocol,
    #[serde(default)]
    pub(super) mutexes: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) host: BTreeMap<Spanned<String>, Host>,
    #[serde(default)]
    pub(super) message: Vec<Message>,
    #[serde(default)]
    pub(super) operation: BTreeMap<Spanned<String>, Operation>,
}

/// Table `[host.NAME]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Host {
    pub(super) processors: Option<Spanned<u32>>,
    pub(super) interference: Option<Spanned<Interference>>,
}

/// Value of the key `interference`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Interference {
    pub(super) most: Time,
    pub(super) every: Time,
}

/// Table `[[message]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    pub(super) from: Spanned<String>,
    pub(super) to: Spanned<String>,
    pub(super) time: Time,
}

/// Table `[operation.NAME]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Operation {
    pub(super) wcet: Option<Spanned<Time>>,
    pub(super) typical: Option<Spanned<Time>>,
    pub(super) cached: Option<Spanned<Time>>,
    pub(super) period: Option<Spanned<Time>>,
    #[serde(default)]
    pub(super) rates: Vec<Spanned<Time>>,
    #[serde(default)]
    pub(super) degraded: Vec<Spanned<Time>>,
    pub(super) deadline: Option<Spanned<Time>>,
    pub(super) offset: Option<Time>,
    pub(super) jitter: Option<Time>,
    pub(super) criticality: Option<Level>,
    pub(super) importance: Option<Level>,
    pub(super) threads: Option<u32>,
    pub(super) host: Option<Spanned<String>>,
    pub(super) processor: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) kind: Kind,
    #[serde(default)]
    pub(super) preemption: Preemption,
    pub(super) segments: Option<Spanned<Segments>>,
    pub(super) section: Option<Spanned<Time>>,
    #[serde(default)]
    pub(super) calls: Vec<Call>,
    #[serde(default)]
    pub(super) locks: Vec<Lock>,
}

/// Value of the key `preemption`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Preemption {
    #[default]
    Full,
    None,
}

/// Value of the key `segments`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Segments {
    pub(super) longest: Time,
    pub(super) last: Time,
}

/// Element of the key `calls`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) operation: Spanned<String>,
    #[serde(default)]
    pub(super) kind: CallKind,
    pub(super) times: Option<Spanned<u32>>,
}

/// Value of the key `kind` of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CallKind {
    OneWay,
    #[default]
    TwoWay,
}

/// Element of the key `locks`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Lock {
    pub(super) mutex: Spanned<String>,
    pub(super) time: Spanned<Time>,
}

/// Value of the key `lock_protocol`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LockProtocol {
    #[default]
    Inheritance,
    Ceiling,
    ImmediateCeiling,
}

/// Parses the text of a file.
///
/// # Errors
/// The first violation of TOML, an unknown key, or a value of the wrong type.
pub(super) fn parse(sources: &Sources) -> Result<File, Box<Diagnostic>> {
    toml::from_str(sources.first_text()).map_err(|fault: toml::de::Error| {
        let place = fault.span().unwrap_or(0..0);
        let is_repeated = fault.message() == "duplicate key";
        let found = is_repeated.then(|| repeated(sources.first_text(), &place));
        Box::new(match found.flatten() {
            Some(Repeated { message, first }) => {
                let error = sources.error(message, place, "again here");
                match first {
                    Some(first) => sources.and(error, first, "first here"),
                    None => error,
                }
            }
            None => sources.error(fault.message(), place, ""),
        })
    })
}

impl From<LockProtocol> for Protocol {
    fn from(protocol: LockProtocol) -> Self {
        match protocol {
            LockProtocol::Inheritance => Self::Inheritance,
            LockProtocol::Ceiling => Self::Ceiling,
            LockProtocol::ImmediateCeiling => Self::ImmediateCeiling,
        }
    }
}

/// Reads a time from its text form: `"200us"`.
impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl Visitor<'_> for Text {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a time in quotes, such as \"200us\" or \"1.5ms\"")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Time, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// Writes a time in its text form.
impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
