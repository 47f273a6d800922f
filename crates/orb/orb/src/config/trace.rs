//! Trace of messages: `trace`.

/// Settings of the message trace: the parts of GIOP messages to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// True if each GIOP message is to be printed in decoded form.
    pub giop: bool,
    /// True if a hex dump of each message is to be added.
    pub hex: bool,
    /// Show the values in the messages. Without it, bodies are redacted to their lengths.
    pub payload: bool,
}
