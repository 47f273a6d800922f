//! Errors of configurations.

use std::fmt;
use std::path::PathBuf;

/// Configuration that cannot be used: the key or option, its source, and the expected form.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The option does not exist.
    #[error("unknown option `{option}`{}", suggestion(.nearest))]
    UnknownOption {
        /// The option as it was given.
        option: String,
        /// The most similar option, if there is one.
        nearest: Option<&'static str>,
    },
    /// The option is that of another ORB, and has another name here or none.
    #[error("`{option}` is an option of {orb}: {instead}")]
    ForeignOption {
        /// The option as it was given.
        option: String,
        /// The ORBs that have it.
        orb: &'static str,
        /// The way to say the same here.
        instead: &'static str,
    },
    /// An option has no value.
    #[error("option `{option}` needs a value: {expected}")]
    MissingValue {
        /// The option.
        option: &'static str,
        /// The form of the value.
        expected: &'static str,
    },
    /// A value is not valid.
    #[error("`{value}` does not fit `{key}`: expected {expected}")]
    BadValue {
        /// The option, or the key with its table.
        key: String,
        /// The given value.
        value: String,
        /// The valid values.
        expected: String,
    },
    /// A configuration file cannot be read.
    #[error("cannot read the configuration file `{}`: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A configuration file does not parse.
    #[error("in the configuration file `{}`: {message}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// Line, column, and the fault.
        message: String,
    },
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn suggestion(nearest: &Option<&'static str>) -> String {
    let list = || "; `punctual config --options` lists those there are".to_owned();
    nearest.map_or_else(list, |nearest| format!("; did you mean `{nearest}`?"))
}

/// Longest beginning of a value that an error shows, in characters: a stringified reference may be
/// long.
const LONGEST_SHOWN: usize = 80;

/// Returns the error for a value that does not fit its key or option.
pub(super) fn bad_value(
    key: impl Into<String>,
    value: impl ToString,
    expected: impl Into<String>,
) -> ConfigError {
    let mut value = value.to_string();
    if let Some((end, _)) = value.char_indices().nth(LONGEST_SHOWN) {
        value.truncate(end);
        value.push('…');
    }
    ConfigError::BadValue {
        key: key.into(),
        value,
        expected: expected.into(),
    }
}
