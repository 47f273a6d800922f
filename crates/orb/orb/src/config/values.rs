//! Values that options and files share.

use super::error::{ConfigError, bad_value};
use crate::policy::Wait;
use punctual_cdr::GiopVersion;

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

/// Parses `1.0`, `1.1` or `1.2`.
pub(super) fn parse_version(key: &str, text: &str) -> Result<GiopVersion, ConfigError> {
    match text {
        "1.0" => Ok(GiopVersion::V1_0),
        "1.1" => Ok(GiopVersion::V1_1),
        "1.2" => Ok(GiopVersion::V1_2),
        _ => Err(bad_value(key, text, "1.0, 1.1 or 1.2")),
    }
}

/// Parses the method by which calls wait for their replies.
pub(super) fn parse_wait(key: &str, text: &str) -> Result<Wait, ConfigError> {
    match text {
        "read" => Ok(Wait::Read),
        "reactor" => Ok(Wait::Reactor),
        "leader_followers" => Ok(Wait::LeaderFollowers),
        _ => Err(bad_value(key, text, "read, reactor or leader_followers")),
    }
}

/// Parses the words of `-ORBTrace`: `giop`, `hex`, `payload`, separated by commas.
pub(super) fn parse_trace(key: &str, text: &str) -> Result<Trace, ConfigError> {
    let mut trace = Trace::default();
    for word in text.split(',') {
        match word {
            "giop" => trace.giop = true,
            "hex" => (trace.giop, trace.hex) = (true, true),
            "payload" => (trace.giop, trace.payload) = (true, true),
            _ => {
                let expected = "giop, hex or payload, with commas between";
                return Err(bad_value(key, text, expected));
            }
        }
    }
    Ok(trace)
}
