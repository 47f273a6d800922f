//! Documentation of a table of settings.

use std::fmt::Write;

use super::process::SETTINGS;
use super::{Kind, Setting};

/// Returns a table in Markdown: a row for each key, with its type, default, bounds and meaning.
#[must_use]
pub fn markdown(table: &[&Setting]) -> String {
    let mut out = String::from(
        "| flag | key in the file | type | default | meaning |\n|---|---|---|---|---|\n",
    );
    for setting in table {
        let (name, kind) = (setting.name, kind(setting));
        // The file itself is named on the command line alone.
        let key = match name == SETTINGS.setting.name {
            true => String::new(),
            false => format!("`{}`", setting.key()),
        };
        let default = match (setting.default, setting.kind) {
            (Some(default), _) => format!("`{default}`"),
            (None, Kind::Flag) => "`false`".to_owned(),
            (None, _) if setting.is_required => "must be given".to_owned(),
            (None, _) => "none".to_owned(),
        };
        let meaning = meaning(setting).replace('|', "\\|");
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "| `--{name}` | {key} | {kind} | {default} | {meaning} |"
        );
    }
    out
}

fn meaning(setting: &Setting) -> String {
    let mut meaning = setting.doc.to_owned();
    if !setting.requires.is_empty() {
        let _ = write!(meaning, " Needs `{}`.", setting.requires.join("`, `"));
    }
    if !setting.conflicts.is_empty() {
        let _ = write!(meaning, " Not with `{}`.", setting.conflicts.join("`, `"));
    }
    meaning
}

fn kind(setting: &Setting) -> String {
    let one = match setting.kind {
        Kind::Flag => "true or false".to_owned(),
        Kind::Text | Kind::Checked(_) => "text".to_owned(),
        Kind::Path => "file".to_owned(),
        Kind::Number {
            least,
            most: u64::MAX,
        } => format!("number from {least}"),
        Kind::Number { least, most } => format!("number from {least} to {most}"),
        Kind::Bytes {
            least,
            most: u64::MAX,
        } => format!("bytes, as `4096` or `64 MiB`, from {least}"),
        Kind::Bytes { least, most } => {
            format!("bytes, as `4096` or `64 MiB`, from {least} to {most}")
        }
        Kind::Time { may_be_zero: true } => "time, as `200ms` or `2s`; 0 is never".to_owned(),
        Kind::Time { may_be_zero: false } => "time, as `200ms` or `2s`".to_owned(),
        Kind::OneOf(words) => format!("`{}`", words.join("`, `")),
    };
    match setting.is_list {
        true => format!("{one}; may be given more than once"),
        false => one,
    }
}
