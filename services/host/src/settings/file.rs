//! The TOML file of a service's settings.

use std::collections::BTreeMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::SettingsError;
use super::process::SETTINGS;
use super::text::check;
use super::{Kind, Setting};

/// Parses a file and checks each of its values. Returns texts by the settings' names.
pub(super) fn parsed(
    table: &[&'static Setting],
    file: &str,
    text: &str,
) -> Result<BTreeMap<&'static str, Vec<String>>, SettingsError> {
    let parsed = DeTable::parse(text).map_err(|error| SettingsError::File {
        file: file.to_owned(),
        reason: error.to_string(),
    })?;
    let mut given = BTreeMap::new();
    for (key, value) in parsed.into_inner() {
        let line = line(text, key.span().start);
        let name = key.get_ref();
        // The file itself is named on the command line alone.
        let known = table.iter().filter(|one| one.name != SETTINGS.setting.name);
        let setting = known.copied().find(|one| one.key() == **name);
        let setting = setting.ok_or_else(|| SettingsError::Unknown {
            file: file.to_owned(),
            line,
            key: name.to_string(),
            nearest: nearest(table, name),
        })?;
        let texts = texts(setting, &value).map_err(|reason| SettingsError::Value {
            place: format!("{file}, line {line}"),
            key: name.to_string(),
            reason,
        })?;
        given.insert(setting.name, texts);
    }
    Ok(given)
}

fn line(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.matches('\n').count() + 1
}

/// Returns the key with the most similar name, if one is similar.
fn nearest(table: &[&'static Setting], name: &str) -> Option<String> {
    let known = table.iter().filter(|one| one.name != SETTINGS.setting.name);
    let distances = known.map(|setting| {
        let key = setting.key();
        (strsim::damerau_levenshtein(&key, name), key)
    });
    let (distance, key) = distances.min()?;
    (distance <= 3).then_some(key)
}

/// Returns the texts of a value, or of the values in an array.
fn texts(setting: &Setting, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, String> {
    match value.get_ref() {
        DeValue::Array(values) if setting.is_list => {
            let texts = values.iter().map(|value| text(setting, value.get_ref()));
            texts.collect()
        }
        value => Ok(vec![text(setting, value)?]),
    }
}

/// Returns one value of a settings file as text, after a check of its type.
fn text(setting: &Setting, value: &DeValue<'_>) -> Result<String, String> {
    let text = match (value, setting.kind) {
        (DeValue::Boolean(value), Kind::Flag) => value.to_string(),
        (DeValue::Integer(value), Kind::Number { .. } | Kind::Bytes { .. }) => value.to_string(),
        (DeValue::Integer(value), Kind::Time { .. }) => match value.to_string().as_str() {
            "0" => "0".to_owned(),
            number => {
                return Err(format!(
                    "a time has its unit: write \"{number}s\" for seconds, \"{number}ms\" for milliseconds"
                ));
            }
        },
        (
            DeValue::String(value),
            Kind::Text
            | Kind::Path
            | Kind::Bytes { .. }
            | Kind::Time { .. }
            | Kind::OneOf(_)
            | Kind::Checked(_),
        ) => value.to_string(),
        (value, kind) => {
            let (wanted, found) = (wanted(kind), value.type_str());
            return Err(format!("{wanted} is wanted, not {found}"));
        }
    };
    check(setting, &text)?;
    Ok(text)
}

/// Returns a description of what a TOML file must have for a setting of this kind.
fn wanted(kind: Kind) -> &'static str {
    match kind {
        Kind::Flag => "true or false",
        Kind::Number { .. } => "a whole number without a unit",
        Kind::Bytes { .. } => "a number of bytes, as 4096 or \"64 MiB\",",
        Kind::Time { .. } => "a time in quotes, as \"200ms\" or \"2s\",",
        Kind::Text | Kind::Path | Kind::OneOf(_) | Kind::Checked(_) => "a text in quotes",
    }
}
