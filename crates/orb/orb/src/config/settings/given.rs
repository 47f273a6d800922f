//! Value that a file or the command line gives to a setting.

use super::bounds::Bounds;
use crate::config::duration::parse_duration;
use crate::config::error::{ConfigError, bad_value};
use std::fmt;
use std::path::Path;

/// Value in the file, or text on the command line.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    not(any(test, feature = "config-files")),
    expect(dead_code, reason = "files alone have other values than texts")
)]
pub(super) enum Value {
    /// Text of a command-line option's argument.
    Argument(String),
    Text(String),
    Number(i128),
    Switch(bool),
    List(Vec<Value>),
    /// Keys with their values, in the order of the file.
    Table(Vec<(String, Value)>),
    /// Value of a TOML type that no setting has, such as a fraction or a date.
    Other(String),
}

/// Value of a setting, with the information needed to check it.
pub(super) struct Given<'g> {
    /// Full key (table and key), or the command-line option; named in errors.
    pub(super) key: &'g str,
    pub(super) value: &'g Value,
    pub(super) bounds: Bounds,
    /// Expected form of the setting's values, for error messages.
    pub(super) expected: &'g str,
    /// Directory relative to which paths in the configuration are resolved.
    pub(super) folder: &'g Path,
}

impl<'g> Given<'g> {
    /// Returns the error for an invalid value of the setting.
    pub(super) fn bad(&self, expected: impl Into<String>) -> ConfigError {
        bad_value(self.key, self.value, expected)
    }

    /// Returns the error that the value is not of the setting's type.
    pub(super) fn misfit(&self) -> ConfigError {
        self.bad(self.expected)
    }

    /// Returns the setting's value as text.
    pub(super) fn text(&self) -> Result<&str, ConfigError> {
        match self.value {
            Value::Argument(text) | Value::Text(text) => Ok(text),
            _ => Err(self.misfit()),
        }
    }

    /// Returns the value as a number within the bounds.
    pub(super) fn number(&self) -> Result<u64, ConfigError> {
        let number = match self.value {
            Value::Number(number) => u64::try_from(*number).ok(),
            Value::Argument(text) => text.parse().ok(),
            Value::Text(text) => {
                let mut expected = format!("{}, without quotes", self.expected);
                if let Some(number) = self.number_meant(text) {
                    let name = self.key.rsplit('.').next().unwrap_or(self.key);
                    expected.push_str(&format!(": `{name} = {number}`"));
                }
                return Err(bad_value(self.key, format!("\"{text}\""), expected));
            }
            _ => return Err(self.bad(format!("a whole number: {}", self.expected))),
        };
        let number = number.filter(|number| self.bounds.contain(*number));
        number.ok_or_else(|| self.bad(self.bounds.to_string()))
    }

    /// Returns the number that a text of the file probably means: `"2s"` is 2000 where milliseconds are expected.
    fn number_meant(&self, text: &str) -> Option<u64> {
        let unit = self.bounds.unit;
        let number = match parse_duration(text) {
            Ok(time) if unit.is_of_time() => unit.number(time),
            _ => text.trim().parse().ok()?,
        };
        self.bounds.contain(number).then_some(number)
    }

    /// Returns the setting's value as a Boolean.
    pub(super) fn switch(&self) -> Result<bool, ConfigError> {
        match self.value {
            Value::Switch(switch) => Ok(*switch),
            Value::Argument(text) => match text.as_str() {
                // As options of TAO have it.
                "1" => Ok(true),
                "0" => Ok(false),
                text => text.parse().map_err(|_| self.misfit()),
            },
            _ => Err(self.misfit()),
        }
    }

    /// Returns the texts of a list, or the parts of a command-line argument that are divided by
    /// `separator`.
    pub(super) fn texts(&self, separator: char) -> Result<Vec<&str>, ConfigError> {
        match self.value {
            Value::Argument(text) => {
                let parts = text.split(separator).map(str::trim);
                Ok(parts.filter(|part| !part.is_empty()).collect())
            }
            Value::List(values) => {
                let texts = values.iter().map(|value| match value {
                    Value::Text(text) => Ok(text.as_str()),
                    other => Err(bad_value(self.key, other, "texts in the list")),
                });
                texts.collect()
            }
            _ => Err(self.misfit()),
        }
    }

    /// Returns the keys of a table with their values.
    pub(super) fn table(&self) -> Result<&'g [(String, Value)], ConfigError> {
        match self.value {
            Value::Table(entries) => Ok(entries),
            _ => Err(self.misfit()),
        }
    }
}

/// Shows the value as a user wrote it, without the quotes around a text.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Argument(text) | Self::Text(text) | Self::Other(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Switch(switch) => switch.fmt(f),
            Self::List(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{value}")?;
                }
                f.write_str("]")
            }
            Self::Table(_) => f.write_str("a table"),
        }
    }
}
