//! Fields of the configuration that hold settings, by the type of their values.

use super::bounds::{Bounds, Unit};
use super::given::{Given, Value};
use crate::config::duration::parse_duration;
use crate::config::error::ConfigError;
use std::path::PathBuf;
use std::time::Duration;

/// Form in which a setting's values are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Number,
    /// Time in the unit of the bounds; the flag is true if 0 stands for "none".
    Time(bool),
    Switch,
    /// One of the given keywords.
    Word(Vec<&'static str>),
    /// Text of the described form.
    Text(&'static str),
    /// List of texts of the given form. On the command line they are divided by the given
    /// separator.
    Texts(&'static str, char),
    /// List of numbers with the given description.
    Numbers(&'static str),
    /// Table with arbitrary keys, and the form of a command-line argument that adds an entry.
    Table {
        file: &'static str,
        argument: &'static str,
    },
}

/// Field of the configuration that holds a setting's value.
pub(super) trait Slot {
    /// Returns the form in which the setting's values are written.
    fn form(&self) -> Form;

    /// Checks a value and stores it in place of the present one.
    ///
    /// # Errors
    /// The key, the value and what is expected instead.
    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError>;

    /// Returns the present value in the notation of the file; `None` if there is no value.
    fn shown(&self, unit: Unit) -> Option<String>;

    /// Returns the present value, if it is a number with bounds.
    fn number(&self, _unit: Unit) -> Option<u64> {
        None
    }
}

macro_rules! numbers {
    ($($type:ty),*) => { $(
        impl Slot for $type {
            fn form(&self) -> Form {
                Form::Number
            }

            fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
                let number = given.number()?;
                let most = u64::try_from(Self::MAX).unwrap_or(u64::MAX);
                let bounds = Bounds { most: given.bounds.most.min(most), ..given.bounds };
                *self = Self::try_from(number).map_err(|_| given.bad(bounds.to_string()))?;
                Ok(())
            }

            fn shown(&self, _unit: Unit) -> Option<String> {
                Some(self.to_string())
            }

            fn number(&self, _unit: Unit) -> Option<u64> {
                Some(u64::try_from(*self).unwrap_or(u64::MAX))
            }
        }
    )* };
}

numbers!(u16, u32, usize);

impl Slot for bool {
    fn form(&self) -> Form {
        Form::Switch
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        *self = given.switch()?;
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        Some(self.to_string())
    }
}

/// Implements [`Slot`] for optional values, which are absent until they are set.
macro_rules! optional {
    ($($type:ty),*) => { $(
        impl Slot for Option<$type> {
            fn form(&self) -> Form {
                <$type>::default().form()
            }

            fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
                let mut value = <$type>::default();
                value.set(given)?;
                *self = Some(value);
                Ok(())
            }

            fn shown(&self, unit: Unit) -> Option<String> {
                self.as_ref().and_then(|value| value.shown(unit))
            }

            fn number(&self, unit: Unit) -> Option<u64> {
                self.as_ref().and_then(|value| value.number(unit))
            }
        }
    )* };
}

optional!(bool, u32, usize, String, PathBuf);

impl Slot for Duration {
    fn form(&self) -> Form {
        Form::Time(false)
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        *self = time(given)?;
        Ok(())
    }

    fn shown(&self, unit: Unit) -> Option<String> {
        self.number(unit).map(|number| number.to_string())
    }

    fn number(&self, unit: Unit) -> Option<u64> {
        Some(unit.number(*self))
    }
}

/// Setting of an optional duration, where 0 stands for none.
impl Slot for Option<Duration> {
    fn form(&self) -> Form {
        Form::Time(true)
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        *self = Some(time(given)?).filter(|time| !time.is_zero());
        Ok(())
    }

    fn shown(&self, unit: Unit) -> Option<String> {
        self.unwrap_or_default().shown(unit)
    }

    fn number(&self, unit: Unit) -> Option<u64> {
        (*self)?.number(unit)
    }
}

/// Parses a time. On the command line it may have a unit of its own; otherwise it is in the
/// setting's unit.
fn time(given: &Given<'_>) -> Result<Duration, ConfigError> {
    match given.value {
        Value::Argument(text) if text.parse::<u64>().is_err() => {
            let time = parse_duration(text).map_err(|_| given.misfit())?;
            match given.bounds.contain(given.bounds.unit.number(time)) {
                true => Ok(time),
                false => Err(given.bad(given.bounds.to_string())),
            }
        }
        _ => Ok(given.bounds.unit.time(given.number()?)),
    }
}

impl Slot for String {
    fn form(&self) -> Form {
        Form::Text("a text")
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        given.text()?.clone_into(self);
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        Some(quoted(self))
    }
}

impl Slot for PathBuf {
    fn form(&self) -> Form {
        Form::Text("a path")
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        *self = given.folder.join(given.text()?);
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        Some(quoted(&self.to_string_lossy()))
    }
}

impl Slot for Vec<String> {
    fn form(&self) -> Form {
        Form::Texts("names", ',')
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        let texts = given.texts(',')?.into_iter();
        *self = texts.map(str::to_owned).collect();
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        let texts: Vec<String> = self.iter().map(|text| quoted(text)).collect();
        Some(format!("[{}]", texts.join(", ")))
    }
}

impl Slot for Vec<PathBuf> {
    fn form(&self) -> Form {
        Form::Texts("paths", ',')
    }

    fn set(&mut self, given: &Given<'_>) -> Result<(), ConfigError> {
        let paths = given.texts(',')?.into_iter();
        *self = paths.map(|path| given.folder.join(path)).collect();
        Ok(())
    }

    fn shown(&self, _unit: Unit) -> Option<String> {
        let paths: Vec<String> = self
            .iter()
            .filter_map(|path| path.shown(Unit::Bytes))
            .collect();
        Some(format!("[{}]", paths.join(", ")))
    }
}

/// Returns the text as a quoted string.
#[cfg(not(feature = "config-files"))]
pub(super) fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// Returns the text as a quoted TOML string.
#[cfg(feature = "config-files")]
pub(super) fn quoted(text: &str) -> String {
    use toml_writer::TomlWrite as _;
    let mut quoted = String::new();
    // Writing to a string cannot fail.
    let _ = quoted.value(text);
    quoted
}
