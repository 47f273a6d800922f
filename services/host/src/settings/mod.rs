//! Settings of a service: one table of keys, from which its flags, its TOML file and its documentation come.
//!
//! A key `most-names` is the flag `--most-names` and the key `most_names` of the file. A value on
//! the command line takes precedence over the one in the file, and that over the default. Every
//! value, from either source, is checked against its kind and bounds before the service is started.
//!
//! ```
//! use punctual_host::settings::{Key, Setting, Values};
//!
//! const MOST_NAMES: Key<u64> = Key::number("most-names", 1..=1_000)
//!     .default("100")
//!     .doc("How many names there may be.");
//! const TABLE: &[&Setting] = &[&MOST_NAMES.setting];
//!
//! let values = Values::from_toml(TABLE, "names.toml", "most_names = 7")?;
//! assert_eq!(values.get(&MOST_NAMES), 7);
//! let wrong = Values::from_toml(TABLE, "names.toml", "most_name = 7").unwrap_err();
//! assert!(wrong.to_string().contains("most_names"));
//! # Ok::<(), punctual_host::settings::SettingsError>(())
//! ```

mod document;
mod error;
mod file;
mod process;
mod text;
mod values;

use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

pub use document::markdown;
pub use error::SettingsError;
pub use process::{
    BIND_NAME, COMPACT, CONFIG, LOG, NAMING, PROCESS, SETTINGS, STATUS, STOP_DEADLINE,
    WRITE_REFERENCE, listen,
};
pub use text::check;
pub use values::{FromTexts, Values};

/// Setting of a service: a key in the settings file and a command-line flag.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Name of the command-line flag, without its leading dashes.
    pub name: &'static str,
    /// Type and bounds of the setting's value.
    pub kind: Kind,
    /// Placeholder for the setting's value in `--help`.
    pub value_name: &'static str,
    /// Default as text; `None` for keys that may be absent, and for flags, which are false then.
    pub default: Option<&'static str>,
    /// True if the setting may be given several times.
    pub is_list: bool,
    /// True if the setting must be given.
    pub is_required: bool,
    /// Names of keys that must be given together with this one.
    pub requires: &'static [&'static str],
    /// Names of keys that cannot be given together with this one.
    pub conflicts: &'static [&'static str],
    /// Documentation of the setting for `--help`: its meaning and its consequence.
    pub doc: &'static str,
}

/// Type of a setting's value, with its bounds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// Boolean value: true or false.
    Flag,
    /// Any text.
    Text,
    /// Path of a file or folder.
    Path,
    /// Integer within bounds.
    Number {
        /// Least permitted value.
        least: u64,
        /// Greatest permitted value.
        most: u64,
    },
    /// A number of bytes, alone or with a unit: `64 MiB`.
    Bytes {
        /// Least permitted number of bytes.
        least: u64,
        /// Greatest permitted number of bytes.
        most: u64,
    },
    /// Duration with its unit, such as `200ms` or `2s`.
    Time {
        /// True if a duration of 0 is permitted; it means never.
        may_be_zero: bool,
    },
    /// One of a given list of words.
    OneOf(&'static [&'static str]),
    /// A text that the function accepts; the function returns the reason for refusing one.
    Checked(fn(&str) -> Result<(), String>),
}

/// Setting whose values have type `T`.
#[derive(Clone, Copy, Debug)]
pub struct Key<T> {
    /// Setting without the type of its values, for tables of settings.
    pub setting: Setting,
    read_as: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    const fn of(name: &'static str, kind: Kind, value_name: &'static str) -> Self {
        let setting = Setting {
            name,
            kind,
            value_name,
            default: None,
            is_list: false,
            is_required: false,
            requires: &[],
            conflicts: &[],
            doc: "",
        };
        Self {
            setting,
            read_as: PhantomData,
        }
    }

    /// Sets the default value of the setting, as text.
    #[must_use]
    pub const fn default(mut self, text: &'static str) -> Self {
        self.setting.default = Some(text);
        self
    }

    /// Sets the placeholder for the setting's value in `--help`.
    #[must_use]
    pub const fn value_name(mut self, name: &'static str) -> Self {
        self.setting.value_name = name;
        self
    }

    /// Marks the setting as required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.setting.is_required = true;
        self
    }

    /// Sets the names of keys that must be given together with this one.
    #[must_use]
    pub const fn requires(mut self, keys: &'static [&'static str]) -> Self {
        self.setting.requires = keys;
        self
    }

    /// Sets the names of keys that cannot be given together with this one.
    #[must_use]
    pub const fn conflicts(mut self, keys: &'static [&'static str]) -> Self {
        self.setting.conflicts = keys;
        self
    }

    /// Sets the documentation of the setting for `--help`.
    #[must_use]
    pub const fn doc(mut self, text: &'static str) -> Self {
        self.setting.doc = text;
        self
    }
}

impl Key<bool> {
    /// Creates a key that is true or false, and false by default.
    #[must_use]
    pub const fn flag(name: &'static str) -> Self {
        Self::of(name, Kind::Flag, "")
    }
}

impl Key<u64> {
    /// Creates a key for a whole number. The key needs a default.
    #[must_use]
    pub const fn number(name: &'static str, bounds: RangeInclusive<u64>) -> Self {
        let (least, most) = (*bounds.start(), *bounds.end());
        Self::of(name, Kind::Number { least, most }, "NUMBER")
    }
}

impl Key<u64> {
    /// Creates a key for a number of bytes. The key needs a default.
    #[must_use]
    pub const fn bytes(name: &'static str, bounds: RangeInclusive<u64>) -> Self {
        let (least, most) = (*bounds.start(), *bounds.end());
        Self::of(name, Kind::Bytes { least, most }, "BYTES")
    }
}

impl Key<Option<u64>> {
    /// Creates a key for a number of bytes that may be absent.
    #[must_use]
    pub const fn optional_bytes(name: &'static str, bounds: RangeInclusive<u64>) -> Self {
        let (least, most) = (*bounds.start(), *bounds.end());
        Self::of(name, Kind::Bytes { least, most }, "BYTES")
    }
}

impl Key<Duration> {
    /// Creates a key for a time above zero. The key needs a default value.
    #[must_use]
    pub const fn time(name: &'static str) -> Self {
        Self::of(name, Kind::Time { may_be_zero: false }, "TIME")
    }
}

impl Key<Option<Duration>> {
    /// Creates a key for a time, of which 0 means never and is read as `None`.
    #[must_use]
    pub const fn time_or_never(name: &'static str) -> Self {
        Self::of(name, Kind::Time { may_be_zero: true }, "TIME")
    }
}

impl Key<Option<String>> {
    /// Creates an optional setting for a text.
    #[must_use]
    pub const fn text(name: &'static str) -> Self {
        Self::of(name, Kind::Text, "TEXT")
    }
}

impl Key<Option<PathBuf>> {
    /// Creates an optional setting for the path of a file or folder.
    #[must_use]
    pub const fn path(name: &'static str) -> Self {
        Self::of(name, Kind::Path, "FILE")
    }
}

impl Key<Vec<PathBuf>> {
    /// Creates a setting for any number of paths of files or folders.
    #[must_use]
    pub const fn paths(name: &'static str) -> Self {
        let mut key = Self::of(name, Kind::Path, "FILE");
        key.setting.is_list = true;
        key
    }
}

impl Key<String> {
    /// Creates a key for one of some words. The key needs a default.
    #[must_use]
    pub const fn one_of(name: &'static str, words: &'static [&'static str]) -> Self {
        Self::of(name, Kind::OneOf(words), "WORD")
    }
}

impl Key<Vec<String>> {
    /// Creates a key for texts, each of which `check` accepts.
    #[must_use]
    pub const fn list(name: &'static str, check: fn(&str) -> Result<(), String>) -> Self {
        let mut key = Self::of(name, Kind::Checked(check), "TEXT");
        key.setting.is_list = true;
        key
    }
}

impl Setting {
    /// Returns the name as the TOML file has it: with underscores.
    #[must_use]
    pub fn key(&self) -> String {
        self.name.replace('-', "_")
    }
}
