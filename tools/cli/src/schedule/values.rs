//! Values of options that are refused before any work is done.

use punctual_scheduling::Time;
use std::path::PathBuf;

/// Parses a time above zero.
pub(super) fn above_zero(text: &str) -> Result<Time, String> {
    let time: Time = text.parse().map_err(|error| format!("{error}"))?;
    match time.is_zero() {
        true => Err("it has to be longer than zero".to_owned()),
        false => Ok(time),
    }
}

/// Parses the name of a picture's file: an SVG or a page.
pub(crate) fn picture(name: &str) -> Result<PathBuf, String> {
    ending_in(name, &["svg", "html"])
}

/// Parses the name of a file for an SVG.
pub(super) fn svg(name: &str) -> Result<PathBuf, String> {
    ending_in(name, &["svg"])
}

/// Parses a file's name with one of these endings, or without any, such as `/dev/stdout`.
fn ending_in(name: &str, endings: &[&str]) -> Result<PathBuf, String> {
    let file = PathBuf::from(name);
    let is_one = |ending: &std::ffi::OsStr| endings.iter().any(|one| ending == *one);
    if file.extension().is_none_or(is_one) {
        return Ok(file);
    }
    let endings: Vec<_> = endings.iter().map(|one| format!(".{one}")).collect();
    Err(format!(
        "pictures are written to files that end in {}",
        endings.join(" or ")
    ))
}
