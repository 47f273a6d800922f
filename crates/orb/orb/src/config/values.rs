//! Values that options and files share.

use super::error::{ConfigError, bad_value};
use crate::policy::Wait;
use punctual_cdr::GiopVersion;

/// What to print of the messages that come and go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Print each GIOP message, decoded.
    pub giop: bool,
    /// Add a hex dump.
    pub hex: bool,
    /// Show what the messages carry. Off, bodies are redacted to their lengths.
    pub payload: bool,
}

/// `1.0`, `1.1` or `1.2`.
pub(super) fn parse_version(key: &str, text: &str) -> Result<GiopVersion, ConfigError> {
    match text {
        "1.0" => Ok(GiopVersion::V1_0),
        "1.1" => Ok(GiopVersion::V1_1),
        "1.2" => Ok(GiopVersion::V1_2),
        _ => Err(bad_value(key, text, "1.0, 1.1 or 1.2")),
    }
}

/// How calls wait for their replies.
pub(super) fn parse_wait(key: &str, text: &str) -> Result<Wait, ConfigError> {
    match text {
        "read" => Ok(Wait::Read),
        "reactor" => Ok(Wait::Reactor),
        "leader_followers" => Ok(Wait::LeaderFollowers),
        _ => Err(bad_value(key, text, "read, reactor or leader_followers")),
    }
}

/// Words of `-ORBTrace`: `giop`, `hex`, `payload`, with commas between.
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
