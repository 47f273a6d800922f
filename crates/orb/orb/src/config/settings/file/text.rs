//! Settings of a configuration file's text: keys and values with the lines where they stand.

use crate::config::error::ConfigError;
use crate::config::orb_config::OrbConfig;
use crate::config::settings::draft::Draft;
use crate::config::settings::given::Value;
use crate::config::settings::section::Section;
use crate::config::settings::sections::{SECTIONS, all};
use crate::config::settings::{in_file, nearest};
use std::collections::BTreeMap;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Returns the configuration with the settings of a configuration file's text applied.
pub(super) fn applied(config: &OrbConfig, text: &str, folder: &Path) -> Result<OrbConfig, String> {
    let table = DeTable::parse(text).map_err(|error| error.to_string())?;
    let mut reader = Reader {
        text,
        sections: Vec::new(),
        values: BTreeMap::new(),
        lines: BTreeMap::new(),
    };
    reader.read("", table.get_ref())?;
    let mut draft = Draft::of(config);
    for section in &reader.sections {
        if let Some(open) = section.open {
            open(&mut draft);
        }
    }
    for (section, setting) in all() {
        let key = section.key(setting);
        if let Some(value) = reader.values.get(&key) {
            let applied = setting.apply(&mut draft, &key, value, folder);
            applied.map_err(|error| reader.located(&error))?;
        }
    }
    draft.finish().map_err(|error| reader.located(&error))
}

/// Reader of a configuration file, which collects its sections and values.
struct Reader<'f> {
    text: &'f str,
    /// Sections of the configuration that have a table in the file.
    sections: Vec<&'static Section>,
    /// Values in the configuration file by full key (table and key).
    values: BTreeMap<String, Value>,
    /// Line numbers by full key, including the keys within tables and lists that are values, such as
    /// `initial_references.NameService` and `library[0].path`.
    lines: BTreeMap<String, usize>,
}

impl Reader<'_> {
    /// Reads a table; `prefix` has the names of the enclosing tables, each followed by a dot.
    ///
    /// # Errors
    /// An unknown key.
    fn read(&mut self, prefix: &str, table: &DeTable<'_>) -> Result<(), String> {
        for (name, value) in table {
            let name_text = name.get_ref();
            let key = format!("{prefix}{name_text}");
            let line = self.line(name);
            // A quoted key may have a dot, and be empty.
            if name_text.is_empty() || name_text.contains('.') {
                return Err(format!("line {line}: unknown key `{key}`"));
            }
            if let Some(section) = SECTIONS.iter().find(|one| one.name == key) {
                let DeValue::Table(table) = value.get_ref() else {
                    return Err(format!("line {line}: `{key}` is a table, [{key}]"));
                };
                self.sections.push(section);
                self.read(&format!("{key}."), table)?;
            } else if known(&key) {
                self.locate(&key, line, value);
                self.values.insert(key, read(value.get_ref()));
            } else {
                return Err(format!(
                    "line {line}: unknown key `{key}`{}",
                    suggestion(&key)
                ));
            }
        }
        Ok(())
    }

    /// Records the line number of a value, and those of the entries of a table or a list.
    fn locate(&mut self, key: &str, line: usize, value: &Spanned<DeValue<'_>>) {
        self.lines.insert(key.to_owned(), line);
        match value.get_ref() {
            DeValue::Table(entries) => {
                for (name, value) in entries {
                    let key = format!("{key}.{}", name.get_ref());
                    self.locate(&key, self.line(name), value);
                }
            }
            DeValue::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    self.locate(&format!("{key}[{index}]"), self.line(value), value);
                }
            }
            _ => {}
        }
    }

    /// Returns an error's text, preceded by the line number of the key that it names, or of the first key of
    /// that table.
    fn located(&self, error: &ConfigError) -> String {
        let ConfigError::BadValue { key, .. } = error else {
            return error.to_string();
        };
        let of_table = format!("{key}.");
        let within = self
            .lines
            .iter()
            .filter(|(one, _)| one.starts_with(&of_table));
        let first = || within.map(|(_, line)| *line).min();
        match self.lines.get(key).copied().or_else(first) {
            Some(line) => format!("line {line}: {error}"),
            None => error.to_string(),
        }
    }

    fn line<T>(&self, at: &Spanned<T>) -> usize {
        let before = self.text.get(..at.span().start).unwrap_or_default();
        before.matches('\n').count() + 1
    }
}

fn known(key: &str) -> bool {
    all().any(|(section, setting)| section.key(setting) == key)
}

/// Suggests the key that was probably meant: a key of that name in another table, the key with the effect of an option
/// of another ORB, or the most similar one of the table.
fn suggestion(key: &str) -> String {
    let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
    let did_you_mean = |meant: String| format!("; did you mean `{meant}`?");
    if let Some((section, setting)) = all().find(|(_, setting)| setting.key == name) {
        return did_you_mean(section.key(setting));
    }
    if let Some((orb, instead)) = in_file(key) {
        return format!(", which is of {orb}: {instead}");
    }
    let prefix = if table.is_empty() {
        String::new()
    } else {
        format!("{table}.")
    };
    let keys = all().map(|(section, setting)| section.key(setting));
    let keys = keys.chain(SECTIONS.iter().map(|section| section.name.to_owned()));
    let names = keys.filter_map(|key| {
        let name = key.strip_prefix(&prefix)?;
        (!name.is_empty() && !name.contains('.')).then(|| name.to_owned())
    });
    nearest(name, names).map_or_else(String::new, |name| did_you_mean(format!("{prefix}{name}")))
}

fn read(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            let digits = i128::from_str_radix(number.as_str(), number.radix());
            digits.map_or_else(|_| Value::Other(number.to_string()), Value::Number)
        }
        DeValue::Boolean(switch) => Value::Switch(*switch),
        DeValue::Array(values) => {
            Value::List(values.iter().map(|value| read(value.get_ref())).collect())
        }
        DeValue::Table(table) => {
            let entries = table.iter();
            let entries =
                entries.map(|(key, value)| (key.get_ref().to_string(), read(value.get_ref())));
            Value::Table(entries.collect())
        }
        DeValue::Float(number) => Value::Other(number.to_string()),
        DeValue::Datetime(date) => Value::Other(date.to_string()),
    }
}
