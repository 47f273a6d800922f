//! Errors of configurations.

use std::fmt;
use std::path::PathBuf;

/// Configuration that cannot be used: the key or option, its source, and the expected form.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A command-line option is not known.
    #[error("unknown option `{option}`{}", suggestion(.nearest))]
    UnknownOption {
        /// Unknown command-line option, as given.
        option: String,
        /// Known option with the most similar name, if there is one.
        nearest: Option<&'static str>,
    },
    /// The option is that of another ORB, and has another name here or none.
    #[error("`{option}` is an option of {orb}: {instead}")]
    ForeignOption {
        /// Command-line option of another ORB, as given.
        option: String,
        /// Names of the ORBs that have the option.
        orb: &'static str,
        /// Equivalent setting of Punctual, or the reason why there is none.
        instead: &'static str,
    },
    /// A command-line option has no value.
    #[error("option `{option}` needs a value: {expected}")]
    MissingValue {
        /// Name of the option that lacks a value.
        option: &'static str,
        /// Expected form of the option's value.
        expected: &'static str,
    },
    /// The value of a setting is not valid.
    #[error("`{value}` does not fit `{key}`: expected {expected}")]
    BadValue {
        /// Command-line option, or configuration key with its table.
        key: String,
        /// Invalid value, as given.
        value: String,
        /// Description of the valid values.
        expected: String,
    },
    /// A configuration file cannot be read.
    #[error("cannot read the configuration file `{}`: {source}", path.display())]
    Unreadable {
        /// Path of the unreadable configuration file.
        path: PathBuf,
        /// Error that the operating system reported for the file.
        source: std::io::Error,
    },
    /// A configuration file cannot be parsed.
    #[error("in the configuration file `{}`: {message}", path.display())]
    BadFile {
        /// Path of the faulty configuration file.
        path: PathBuf,
        /// Line, column and description of the syntax error.
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
