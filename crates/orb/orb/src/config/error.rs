//! Why a configuration cannot be used.

use std::fmt;
use std::path::PathBuf;

/// A configuration that cannot be used: which key or option, where, and what was expected.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No such option.
    #[error("unknown option `{option}`{}", suggestion(.nearest))]
    UnknownOption {
        /// As it was given.
        option: String,
        /// What may have been meant.
        nearest: Option<&'static str>,
    },
    /// An option without its value.
    #[error("option `{option}` needs a value: {expected}")]
    MissingValue {
        /// The option.
        option: &'static str,
        /// What the value looks like.
        expected: &'static str,
    },
    /// A value that does not fit.
    #[error("`{value}` does not fit `{key}`: expected {expected}")]
    BadValue {
        /// The option, or the key with its table.
        key: String,
        /// What was given.
        value: String,
        /// What fits.
        expected: String,
    },
    /// A configuration file that cannot be read.
    #[error("cannot read the configuration file `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A configuration file that does not parse.
    #[error("in the configuration file `{}`: {message}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// Line, column, and what is wrong.
        message: String,
    },
}

/// As people read it, also where `main` returns it.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn suggestion(nearest: &Option<&'static str>) -> String {
    nearest.map_or_else(String::new, |nearest| {
        format!("; did you mean `{nearest}`?")
    })
}

pub(super) fn bad_value(
    key: impl Into<String>,
    value: impl ToString,
    expected: impl Into<String>,
) -> ConfigError {
    ConfigError::BadValue {
        key: key.into(),
        value: value.to_string(),
        expected: expected.into(),
    }
}
