//! Log lines of a service process, on standard error.

use tracing_subscriber::filter::LevelFilter;

/// Least severity of the lines that are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Only failures are logged.
    Error,
    /// Also events that may lead to a failure.
    #[default]
    Warn,
    /// Also the steps of the process.
    Info,
    /// Also single requests.
    Debug,
}

/// Names of the levels in settings.
pub const LEVELS: [&str; 4] = ["error", "warn", "info", "debug"];

impl Level {
    /// Returns the level with a name from [`LEVELS`].
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
    let lines = tracing_subscriber::fmt().with_writer(std::io::stderr);
    // An embedding program, or a test, has set up its own.
    let _ = lines.with_max_level(filter).try_init();
}
