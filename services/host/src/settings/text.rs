//! Checks of a value's text against its kind.

use std::time::Duration;

use punctual::config::parse_duration;

use super::{Kind, Setting};

/// Checks a value's text.
///
/// # Errors
/// The reason why the setting cannot have this value.
pub fn check(setting: &Setting, text: &str) -> Result<(), String> {
    match setting.kind {
        Kind::Flag => match text {
            "true" | "false" => Ok(()),
            _ => Err(format!("`{text}` is neither true nor false")),
        },
        Kind::Text => Ok(()),
        Kind::Path => match text.is_empty() {
            true => Err("a file is wanted".to_owned()),
            false => Ok(()),
        },
        Kind::Number { least, most } => bounded(number(text)?, least, most),
        Kind::Bytes { least, most } => bounded(bytes(text)?, least, most),
        Kind::Time { may_be_zero } => time(text, may_be_zero).map(drop),
        Kind::OneOf(words) => match words.contains(&text) {
            true => Ok(()),
            false => Err(format!("`{text}` is not one of {}", words.join(", "))),
        },
        Kind::Checked(check) => check(text),
    }
}

fn number(text: &str) -> Result<u64, String> {
    let number = text.parse();
    number.map_err(|_| format!("`{text}` is not a whole number"))
}

/// Reads a number of bytes, alone or with a unit.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let unit_at = text.find(|character: char| character.is_ascii_alphabetic());
    let (digits, unit) = text.split_at(unit_at.unwrap_or(text.len()));
    let shift = match unit.trim_end() {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        unit => {
            return Err(format!(
                "`{unit}` is not a unit of bytes: B, KiB, MiB or GiB is wanted"
            ));
        }
    };
    let bytes = number(digits.trim_end())?.checked_mul(1 << shift);
    bytes.ok_or_else(|| format!("`{text}` is too large"))
}

fn bounded(number: u64, least: u64, most: u64) -> Result<(), String> {
    if (least..=most).contains(&number) {
        return Ok(());
    }
    Err(match most {
        u64::MAX => format!("{number} is too small: {least} is the least"),
        most => format!("{number} is not from {least} to {most}"),
    })
}

/// Reads a time with a unit. A number without a unit is refused as ambiguous, except for 0.
pub(super) fn time(text: &str, may_be_zero: bool) -> Result<Duration, String> {
    if may_be_zero && matches!(text.trim(), "0" | "0s") {
        return Ok(Duration::ZERO);
    }
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    match time.is_zero() {
        true => Err("a time above zero is wanted, e.g. 200ms or 2s".to_owned()),
        false => Ok(time),
    }
}
