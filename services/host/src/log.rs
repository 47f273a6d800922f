//! Log lines of a service process, on standard error.

use std::io::IsTerminal;
use tracing_subscriber::filter::LevelFilter;

/// Log level: the least severity of log lines that are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Log level of failures only.
    Error,
    /// Log level that adds events that may lead to a failure.
    #[default]
    Warn,
    /// Log level that adds the steps of the service process, such as its start.
    Info,
    /// Log level that adds each single request.
    Debug,
}

/// Names of the log levels in settings.
pub const LEVELS: [&str; 4] = ["error", "warn", "info", "debug"];

impl Level {
    /// Returns the log level with a name from [`LEVELS`], or `None` for other names.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "error" => Some(Level::Error),
            "warn" => Some(Level::Warn),
            "info" => Some(Level::Info),
            "debug" => Some(Level::Debug),
            _ => None,
        }
    }
}

/// Sends log lines of this level and above to standard error, unless the process already has a
/// tracing subscriber.
pub fn start(level: Level) {
    let filter = match level {
        Level::Error => LevelFilter::ERROR,
        Level::Warn => LevelFilter::WARN,
        Level::Info => LevelFilter::INFO,
        Level::Debug => LevelFilter::DEBUG,
    };
    let lines = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    // An embedding program, or a test, has set up its own.
    let _ = lines.with_max_level(filter).try_init();
}
