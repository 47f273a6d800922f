//! Treatment of a request for which a buffer has no room: `when_full`.

use super::error::{ConfigError, bad_value};
use crate::policy::WhenFull;

const WORDS: &str = "flush, block or raise";

pub(super) fn parse(key: &str, text: &str) -> Result<WhenFull, ConfigError> {
    match text {
        "flush" => Ok(WhenFull::Flush),
        "block" => Ok(WhenFull::Block),
        "raise" => Ok(WhenFull::Raise),
        _ => Err(bad_value(key, text, WORDS)),
    }
}
