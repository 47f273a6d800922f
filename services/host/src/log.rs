//! Log lines of a service process, on standard error.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};

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

/// Standard error, whose reader may have gone: a service goes on without one.
struct Errors(io::Stderr);

impl Write for Errors {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.0.write(bytes).unwrap_or(bytes.len()))
    }

    fn flush(&mut self) -> io::Result<()> {
        // What is lost is lost.
        let _ = self.0.flush();
        Ok(())
    }
}

/// Prints a line about the process on standard error, if that has a reader.
pub(crate) fn say(line: impl Display) {
    let _ = writeln!(Errors(io::stderr()), "{line}");
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
        .with_writer(|| Errors(io::stderr()))
        .with_ansi(io::stderr().is_terminal());
    // An embedding program, or a test, has set up its own.
    let _ = lines.with_max_level(filter).try_init();
}
