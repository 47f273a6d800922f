//! Errors in settings.

use thiserror::Error;

/// Error in a service's settings.
#[derive(Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file cannot be read, or is not TOML.
    #[error("{file}: {reason}")]
    File {
        /// Path of the settings file.
        file: String,
        /// Error text of the system or of the parser.
        reason: String,
    },
    /// A key of the file is not a setting of the service.
    #[error("{file}, line {line}: unknown key `{key}`{}", nearest.as_ref().map_or(String::new(), |one| format!("; did you mean `{one}`?")))]
    Unknown {
        /// Path of the settings file.
        file: String,
        /// Line number of the unknown key, from 1 on.
        line: usize,
        /// Name of the unknown key.
        key: String,
        /// Setting with a similar name, if there is one.
        nearest: Option<String>,
    },
    /// A value is of the wrong kind or out of bounds.
    #[error("{place}: `{key}`: {reason}")]
    Value {
        /// Position of the value: file and line, or the command line.
        place: String,
        /// Name of the setting with the invalid value.
        key: String,
        /// Reason why the value of the setting is invalid.
        reason: String,
    },
    /// Several settings contradict each other, or a required one is missing.
    #[error("{0}")]
    Combination(String),
}

/// Shows the error as `Display` does, for a `main` that returns it.
impl std::fmt::Debug for SettingsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
