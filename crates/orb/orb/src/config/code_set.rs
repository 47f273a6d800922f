//! Code set of `char` and `string` on the wire: `char_code_set`.

use super::error::{ConfigError, bad_value};
use crate::policy::CharCodeSet;

pub(super) const WORDS: &str = "utf-8 or iso-8859-1";

pub(super) fn parse(key: &str, text: &str) -> Result<CharCodeSet, ConfigError> {
    match text {
        "utf-8" => Ok(CharCodeSet::Utf8),
        "iso-8859-1" => Ok(CharCodeSet::Iso8859_1),
        _ => Err(bad_value(key, text, WORDS)),
    }
}
