//! Trace of messages: `trace`.

/// Parts of sent and received messages to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Print each GIOP message, decoded.
    pub giop: bool,
    /// Add a hex dump.
    pub hex: bool,
    /// Show the values in the messages. Without it, bodies are redacted to their lengths.
    pub payload: bool,
}
