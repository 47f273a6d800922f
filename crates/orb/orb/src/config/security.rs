//! Protection of calls on their way: `security`.

use super::error::{ConfigError, bad_value};
use crate::policy::Security;

pub(super) const WORDS: &str = "require, prefer or off";

pub(super) fn parse(key: &str, text: &str) -> Result<Security, ConfigError> {
    match text {
        "require" => Ok(Security::Require),
        "prefer" => Ok(Security::Prefer),
        "off" => Ok(Security::Off),
        _ => Err(bad_value(key, text, WORDS)),
    }
}
